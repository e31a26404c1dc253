"""The command line: one module per subcommand. Everything heavy is imported inside the functions."""
