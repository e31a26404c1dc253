"""A suggestion from the keystroke to what becomes of it. Knows neither LSP nor HTTP."""
