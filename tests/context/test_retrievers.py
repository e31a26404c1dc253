"""What is found for a cursor, which stands in the text as `█`, in a small repository."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.context.imports import bindings, resolved
from lsp_complete.context.index import Index
from lsp_complete.context.mixer import RETRIEVERS
from lsp_complete.context.policy import Policy
from lsp_complete.context.retrievers.definitions import definitions
from lsp_complete.context.retrievers.members import members
from lsp_complete.context.retrievers.modules import modules
from lsp_complete.context.retrievers.similar import similar
from lsp_complete.context.scope import place_at, types_of
from lsp_complete.context.snippets import Question, Snippet
from lsp_complete.context.workspace import names_near
from lsp_complete.text.document import Document
from lsp_complete.text.languages import language_of
from lsp_complete.text.symbols import symbols
from tests.context.trees import write_tree

PYTHON = {
    "shop/__init__.py": "from shop.money import Money\n",
    "shop/money.py": (
        "class Base:\n    def rounded(self, places: int) -> 'Base': ...\n\n\n"
        "class Money(Base):\n    def __init__(self, amount, currency): ...\n\n"
        "    def add_tax(self, rate): ...\n\n\n"
        "def parse_money(text: str) -> Money: ...\n"
    ),
    "shop/rates.py": "def rate_of(country, year): ...\n\n\ndef old_rates(): ...\n",
    "shop/report.py": (
        "def print_report(orders):\n    for order in orders:\n        ledger = open_ledger(order.customer)\n"
        "        ledger.post_entry(order.total)\n"
    ),
}
TYPESCRIPT = {
    "src/money.ts": "export class Money {\n  addTax(rate: number): Money { return this }\n}\n",
    "src/index.ts": "export * from './money.js'\n",
    "src/format.ts": "export const formatMoney = (money: Money, locale: string): string => ''\n",
}
Ask = Callable[..., list[Snippet]]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    root = write_tree(tmp_path / "w", {**PYTHON, **TYPESCRIPT})
    index = Index.open(root, tmp_path / "indexes", Policy([root], enterprise_file=tmp_path / "none.toml"))
    index.build()
    yield index
    index.close()


def question(index: Index, path: str, marked: str) -> Question:
    text, offset = marked.replace("█", ""), marked.index("█")
    parsed = symbols(text, language_of(path))
    imported = resolved(parsed.imports, path, index)
    return Question(Document(path, text, path), offset, path, names_near(text, offset), parsed, imported)


def found(retriever: Ask, index: Index, path: str, marked: str) -> str:
    return "\n".join(one.text for one in retriever(question(index, path, marked), index))


def test_an_imported_name_comes_with_its_header_and_how_its_class_is_made(index: Index) -> None:
    shown = found(definitions, index, "shop/a.py", "from shop.money import Money\n\ntotal = █\n")
    assert "class Money(Base)" in shown
    assert "def __init__(self, amount, currency)" in shown


def test_a_name_that_comes_through_a_barrel_is_followed_to_its_definition(index: Index) -> None:
    assert "class Money" in found(definitions, index, "shop/a.py", "from shop import Money\n\ntotal = █\n")
    assert "class Money" in found(
        definitions, index, "src/a.ts", "import { Money } from './index.js'\n\nlet total = █\n"
    )


def test_what_is_imported_and_never_called_comes_before_what_is_called(index: Index) -> None:
    text = "from shop.money import parse_money\nfrom shop.rates import rate_of\n\nx = parse_money('1')\ny = █\n"
    paths = [one.path for one in definitions(question(index, "shop/a.py", text), index)]
    assert paths == ["shop/rates.py", "shop/money.py"]


def test_the_call_whose_arguments_are_typed_comes_first(index: Index) -> None:
    text = "from shop.money import parse_money\nfrom shop.rates import rate_of\n\nx = rate_of(█)\n"
    assert definitions(question(index, "shop/a.py", text), index)[0].path == "shop/rates.py"


def test_the_call_whose_arguments_are_typed_has_its_doc_line_as_a_comment_of_its_language(tmp_path: Path) -> None:
    tree = {
        "a.py": 'def load(path):\n    """Reads it."""\n',
        "b.ts": "/** Reads it. */\nexport function load(path) {}\n",
    }
    root = write_tree(tmp_path / "w", tree)
    index = Index.open(root, tmp_path / "indexes", Policy([root], enterprise_file=tmp_path / "none.toml"))
    index.build()
    assert found(definitions, index, "c.py", "from a import load\n\nload(█\n") == "def load(path)  # Reads it."
    shown = found(definitions, index, "c.ts", "import { load } from './b'\n\nload(█\n")
    assert shown == "function load(path)  // Reads it."
    index.close()


def test_behind_a_module_stand_its_functions(index: Index) -> None:
    for head in ("from shop import rates\n", "import shop.rates as rates\n", "from . import rates\n"):
        assert "def rate_of(country, year)" in found(members, index, "shop/a.py", head + "\nx = rates.█\n")


@pytest.mark.parametrize(
    "before",
    ["x = Money(1, 'EUR')\n", "def f(x: Money):\n    ", "x = parse_money('1')\n", "x: 'Money | None' = None\n"],
)
def test_behind_a_variable_stand_the_members_of_its_class_and_of_its_bases(index: Index, before: str) -> None:
    head = "from shop.money import Money, parse_money\n\n"
    shown = found(members, index, "shop/a.py", f"{head}{before}x.█\n")
    assert "def add_tax(self, rate)" in shown
    assert "def rounded(self, places: int)" in shown


def test_behind_self_stands_what_the_bases_have(index: Index) -> None:
    text = "from shop.money import Money\n\nclass Price(Money):\n    def f(self):\n        self.█\n"
    assert "def add_tax(self, rate)" in found(members, index, "shop/a.py", text)


def test_a_field_of_the_object_itself_has_the_type_that_it_was_given(index: Index) -> None:
    text = "import { Money } from './money'\nclass A {\n  private m: Money\n  f() { this.m.█ }\n}\n"
    assert "addTax(rate: number)" in found(members, index, "src/a.ts", text)


def test_members_made_of_the_words_at_hand_come_first(index: Index) -> None:
    text = "from shop import rates\n\nold = rates.█\n"
    assert found(members, index, "shop/a.py", text).splitlines()[0] == "def old_rates()"


def test_imported_files_offer_what_is_not_named_yet(index: Index) -> None:
    assert "def old_rates()" in found(modules, index, "shop/a.py", "from shop.rates import rate_of\n\n█\n")


def test_lines_that_look_alike_are_few_and_hold_what_comes_next(index: Index) -> None:
    text = "def export(orders):\n    for order in orders:\n        ledger = open_ledger(order.customer)\n        █\n"
    first = similar(question(index, "shop/a.py", text), index)[0]
    assert first.path == "shop/report.py"
    assert "ledger.post_entry(order.total)" in first.text
    assert len(first.text.splitlines()) <= 10


def test_the_word_that_is_being_typed_changes_no_answer(index: Index) -> None:
    head = "from shop import rates\n\nold = rates."
    answers = {found(members, index, "shop/a.py", f"{head}{typed}█\n") for typed in ("", "r", "ra", "rat", "rate")}
    assert len(answers) == 1


def test_aliases_are_bound_to_what_they_stand_for(index: Index) -> None:
    text = "from shop.rates import (\n    rate_of as rate,\n    old_rates,\n)\nimport shop.money as m\n"
    asked = question(index, "shop/a.py", text + "█")
    assert bindings(text, asked.imported) == {
        "rate": ("shop/rates.py", "rate_of"),
        "old_rates": ("shop/rates.py", "old_rates"),
        "m": ("shop/money.py", ""),
    }
    text = "import * as Cash from './money.js'\n"
    assert bindings(text, question(index, "src/a.ts", text + "█").imported) == {"Cash": ("src/money.ts", "")}


@pytest.mark.parametrize(
    ("marked", "receiver", "callees"),
    [
        ("x.█", "x", ()),
        ("a = self.client.se█", "self.client", ()),
        ("std::vector::█", "std.vector", ()),
        ("p->█", "p", ()),
        ("f(a, g(b), █", "", ("f",)),
        ("outer(inner(x, █", "", ("inner", "outer")),
        ("xs[0].█", "xs", ()),
        ("█", "", ()),
    ],
)
def test_what_stands_at_the_cursor(marked: str, receiver: str, callees: tuple[str, ...]) -> None:
    place = place_at(marked.replace("█", ""), marked.index("█"))
    assert (place.receiver, place.callees) == (receiver, callees)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("x: Optional[Money] = None\n", ["Money"]),
        ("x = await shop.Money(1)\n", ["shop", "Money"]),
        ("const x = new Money()\n", ["Money"]),
        ("Money x = parse();\n", ["parse"]),
        ("void f(Money x)\n", ["Money"]),
        ("x := Money{}\n", ["Money"]),
    ],
)
def test_words_for_the_type_of_a_variable(text: str, types: list[str]) -> None:
    assert types_of("x", text, len(text)) == types


@given(st.text(alphabet="ab.:=()[]{}<>\n self->*#'\"\\ü𝒳", max_size=200), st.integers(0, 200))
def test_no_text_is_too_odd_to_look_at(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    place = place_at(text, offset)
    types_of(place.receiver or "a", text, offset)


def test_nothing_is_found_in_a_file_of_nothing(index: Index) -> None:
    for retriever in RETRIEVERS.values():
        assert retriever(question(index, "shop/a.py", "█"), index) == []
