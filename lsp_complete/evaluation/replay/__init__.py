"""Typing real code back through the language server, by a simulated user, and what that felt like."""
