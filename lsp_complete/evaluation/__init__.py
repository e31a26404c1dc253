"""Is it better? Measurements of suggestions without an editor. Knows neither LSP nor HTTP."""
