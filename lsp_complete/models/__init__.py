"""Which models there are, and how their files come onto this machine. Knows no engine."""
