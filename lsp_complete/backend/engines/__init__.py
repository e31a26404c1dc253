"""Adapters over well-kept inference engines, one module each."""
