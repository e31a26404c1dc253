"""The completion service: admission, FIM template, engine, stops. Knows no editor."""
