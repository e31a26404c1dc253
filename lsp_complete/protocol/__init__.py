"""The wire between the editor's side and the model's side. Shared by every process, knows none of them."""
