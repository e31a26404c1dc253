"""The language server: LSP on one side, documents and offsets on the other. The only package that knows LSP."""
