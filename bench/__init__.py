"""Benchmarks: `python -m bench NAME` prints a table for people, with `--json` also one JSON line, last."""
