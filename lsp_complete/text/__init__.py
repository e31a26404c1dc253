"""A document, its lines and its language. Offsets only: positions in code units belong to the editor's side."""
