"""Inline code completion: a language server, a completion service, and what lies between."""

__version__ = "0.1.0"
