"""`python -m bench NAME [--json] …`: finds the benchmark of that name and runs it."""

import ast
import importlib
import sys
from pathlib import Path

_USAGE = "usage: python -m bench NAME [--json] …; more: python -m bench NAME --help"


def main() -> None:
    name, *arguments = sys.argv[1:] or [""]
    files = {file.stem: file for file in sorted(Path(__file__).parent.glob("[!_]*.py"))}
    if name in files:
        importlib.import_module(f"bench.{name}").run(arguments)
    elif name in ("-h", "--help"):
        print(_USAGE, "", *(f"  {name:10} {_question(file)}" for name, file in files.items()), sep="\n")
    else:
        print(_USAGE, f"NAME is one of: {', '.join(files)}", sep="\n", file=sys.stderr)
        sys.exit(2)


def _question(file: Path) -> str:
    """What a benchmark answers, without importing it."""
    return (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("?")[0] + "?"


main()
