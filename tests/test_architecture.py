"""ARCHITECTURE.md's table of packages against the imports in the code."""

import ast
import re
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "lsp_complete"
MAX_LINES = 400


def table():
    """Package -> (own packages it may import, other libraries it may import)."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|([^|]*)\|$", (ROOT / "ARCHITECTURE.md").read_text(), re.M)
    names = [name for name, _, _ in rows]
    return {
        name: (set(names) if own.strip() == "all" else set(own.split()), set(other.split()))
        for name, own, other in rows
    }


TABLE = table()


def modules(package):
    return [path for path in sorted((PACKAGE / package).rglob("*.py")) if "sample" not in path.parts]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module


def own_imports(package):
    found = {
        name.split(".")[1] for path in modules(package) for name in imported(path) if name.startswith("lsp_complete.")
    }
    return found - {package}


def other_imports(package):
    tops = {name.split(".")[0] for path in modules(package) for name in imported(path)}
    return tops - set(sys.stdlib_module_names) - {"lsp_complete"}


def test_every_package_has_its_line():
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert folders == set(TABLE)


@pytest.mark.parametrize("package", TABLE)
def test_a_package_imports_only_what_its_line_lists(package):
    own, other = TABLE[package]
    assert own_imports(package) <= own
    assert other_imports(package) <= other


@pytest.mark.parametrize("package", [name for name in TABLE if name != "cli"])
def test_a_line_lists_only_what_its_package_imports(package):
    own, other = TABLE[package]
    assert own <= own_imports(package)
    assert other <= other_imports(package)


def test_packages_do_not_import_each_other_in_a_circle():
    TopologicalSorter({package: own_imports(package) for package in TABLE}).prepare()


def test_a_module_fits_the_eye():
    too_long = {
        str(p.relative_to(ROOT)): n for p in PACKAGE.rglob("*.py") if (n := len(p.read_text().splitlines())) > MAX_LINES
    }
    assert too_long == {}


def test_llama_cpp_is_imported_in_one_place():
    importers = {p.name for package in TABLE for p in modules(package) if "xllamacpp" in imported(p)}
    assert importers == {"llamacpp.py"}


def test_torch_is_imported_in_the_modules_of_one_engine():
    heavy = {"torch", "transformers", "tokenizers"}
    importers = {p.stem for n in TABLE for p in modules(n) if heavy & {name.split(".")[0] for name in imported(p)}}
    assert importers <= {name for name in importers if name.startswith("transformers")}


def test_the_language_server_starts_without_what_only_the_service_needs():
    needed = {"cli/lsp.py", "cli/main.py"} | {
        f"{p.parent.name}/{p.name}" for pkg in ("server", "client", "completion", "text") for p in modules(pkg)
    }
    heavy = {"starlette", "granian", "prometheus_client", "xllamacpp", "huggingface_hub", "torch", "transformers"}
    for name in needed:
        assert not heavy & {module.split(".")[0] for module in imported(PACKAGE / name)}
