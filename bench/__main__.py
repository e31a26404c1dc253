"""`python -m bench NAME [--json] …`: finds the benchmark of that name and runs it."""

import importlib
import pkgutil
import sys

import bench


def main() -> None:
    names = sorted(module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_"))
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        sys.exit(f"python -m bench NAME [--json], with NAME one of: {', '.join(names)}")
    importlib.import_module(f"bench.{sys.argv[1]}").run(sys.argv[2:])


main()
