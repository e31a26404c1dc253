import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lsp_complete.cli import evaluate as command
from lsp_complete.context.index import Index
from lsp_complete.context.policy import Policy
from lsp_complete.evaluation.baselines import Bm25, jaccard
from lsp_complete.evaluation.holes import Hole, Kind, find_holes
from lsp_complete.evaluation.report import BUDGETS, Contestant, Report, as_json
from lsp_complete.evaluation.retrieval import evaluate
from lsp_complete.text.document import Document
from lsp_complete.text.symbols import Definition, SymbolKind
from tests.context.trees import write_tree

TREE = {
    "shop/money.py": (
        "def parse_money(text, currency):\n    return text\n\n\nclass Ledger:\n    def post_entry(self, x): ...\n"
    ),
    "shop/cart.py": (
        "from shop.money import parse_money, Ledger\n\n\n"
        "def total(lines):\n    ledger = Ledger()\n    ledger.post_entry(lines)\n    return parse_money(lines, 'EUR')\n"
    ),
    "shop/local.py": "def local_helper(): ...\n\n\nx = local_helper()\ny = len(x)\nz = x.append(1)\n",
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    root = write_tree(tmp_path / "w", TREE)
    index = Index.open(root, tmp_path / "indexes", Policy([root], enterprise_file=tmp_path / "none.toml"))
    index.build()
    yield index
    index.close()


def holes(index: Index) -> list[Hole]:
    return find_holes(index, list(TREE), 10, seed=1)


def test_holes_name_what_another_file_defines_and_nothing_else(index: Index) -> None:
    assert {(one.name, one.kind) for one in holes(index)} == {
        ("parse_money", Kind.IMPORTED),
        ("Ledger", Kind.IMPORTED),
        ("post_entry", Kind.UNSEEN),
    }


def test_a_hole_is_the_end_of_a_line_from_a_token_border(index: Index) -> None:
    for hole in holes(index):
        text = hole.document.text[: hole.offset] + hole.hidden + hole.document.text[hole.offset :]
        assert text == TREE[hole.document.path]
        assert hole.name in hole.hidden
        assert hole.document.before_on_line(hole.offset).strip()
        assert hole.document.after_on_line(hole.offset) == ""


def test_the_same_seed_gives_the_same_holes(index: Index) -> None:
    assert holes(index) == holes(index)


def hole_of(name: str, kind: SymbolKind, signature: str) -> Hole:
    definition = Definition(name, kind, 0, 1, signature, "", "")
    return Hole(Document("", ""), 0, name, name, Kind.UNSEEN, (definition,))


@pytest.mark.parametrize(
    ("name", "kind", "signature", "text", "is_told"),
    [
        ("load", SymbolKind.FUNCTION, "async def load(path, mode)", "async def load(\n    path,\n    mode,\n):", True),
        ("load", SymbolKind.FUNCTION, "def load(path)", "x = load(a)", True),
        ("load", SymbolKind.FUNCTION, "def load(path)", "from a import load", False),
        ("load", SymbolKind.FUNCTION, "def load(path)", "reload(a)", False),
        ("load", SymbolKind.FUNCTION, "function load<T>(path)", "x = load<Money>(a)", True),
        ("Money", SymbolKind.CLASS, "class Money", "class Money:", True),
        ("Money", SymbolKind.CLASS, "class Money", "x: Money", False),
        ("Money", SymbolKind.CLASS, "class Money", "class MoneyBag:", False),
        ("LIMIT", SymbolKind.CONSTANT, "LIMIT = 10", "LIMIT = 10", True),
        ("LIMIT", SymbolKind.CONSTANT, "LIMIT = 10", "if n > LIMIT:", False),
    ],
)
def test_a_header_or_a_use_with_arguments_tells(
    name: str, kind: SymbolKind, signature: str, text: str, is_told: bool
) -> None:
    assert hole_of(name, kind, signature).is_told_by(text) is is_told


def test_bm25_finds_the_window_with_the_rare_words_and_none_of_the_own_file() -> None:
    texts = {f"{n}.py": f"common = {n}\n" * 12 for n in range(5)} | {"rare.py": "common = 1\n" * 10 + "zebra = 2\n"}
    document = Document("", "common\nzebra", "0.py")
    best = Bm25(texts).windows(document, len(document.text))
    assert "zebra" in best[0].text
    assert "0.py" not in {window.path for window in best}


def test_jaccard_slides_to_the_lines_that_are_alike() -> None:
    texts = {"a/long.py": "other\n" * 100 + "alpha\n" + "other\n" * 50 + "beta\n" + "other\n" * 100, "a/own.py": ""}
    document = Document("", "alpha\nbeta\n", "a/own.py")
    (window,) = jaccard(texts, document, len(document.text))
    assert {"alpha", "beta"} <= set(window.text.split())
    assert len(window.text.splitlines()) == 60


def test_without_context_nothing_is_told_and_with_ours_it_is(index: Index) -> None:
    report = evaluate(index, 10, seed=1)
    assert report.share(Contestant.NONE) == 0
    assert report.share(Contestant.OURS) == 1
    assert report.stable_share(0.5) == 1


def test_shares_are_of_both_kinds_and_factors_against_the_better_baseline() -> None:
    report = Report()
    report.num.update({Kind.IMPORTED: 3, Kind.UNSEEN: 1})
    report.hits[Contestant.OURS, Kind.IMPORTED, BUDGETS[-1]] = 3
    report.hits[Contestant.BM25, Kind.UNSEEN, BUDGETS[-1]] = 1
    assert report.share(Contestant.OURS) == 0.75
    assert report.factor() == 3
    assert as_json({"t": report})["trees"]["t"]["bm25"] == 0.25


def test_the_command_measures_any_folder(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "repo", TREE)
    result = CliRunner().invoke(command.app, ["retrieval", str(root), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout.splitlines()[-1])["trees"]["repo"]["num"] == {"imported": 2, "unseen": 1}


def test_a_name_that_is_neither_folder_nor_tree_is_told_on_stderr() -> None:
    result = CliRunner().invoke(command.app, ["retrieval", "nowhere"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "neither a folder" in result.stderr
