"""What of a document fits into a prompt. Pure functions; the template is the service's business."""
