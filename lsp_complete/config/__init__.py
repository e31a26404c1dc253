"""Settings and the places where files lie. Knows nothing else of the project."""
