"""Files that belong together by their paths, in any language."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lsp_complete.context.edits import Hunk
from lsp_complete.context.index import Index
from lsp_complete.context.policy import Policy
from lsp_complete.context.retrievers.edits import edits
from lsp_complete.context.retrievers.siblings import name_of_tested, paths_of_tested, paths_of_tests, siblings, swapped
from lsp_complete.context.snippets import Question
from lsp_complete.text.document import Document
from lsp_complete.text.languages import language_of
from lsp_complete.text.symbols import symbols
from tests.context.trees import write_tree

NO_ENTERPRISE = Path("/nonexistent/policy.toml")
Make = Callable[[dict[str, str]], Index]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes the index of some files."""
    made: list[Index] = []

    def one(files: dict[str, str]) -> Index:
        root = write_tree(tmp_path / "w", files)
        made.append(Index.open(root, tmp_path / "indexes", Policy([root], enterprise_file=NO_ENTERPRISE)))
        made[-1].build()
        return made[-1]

    yield one
    for index in made:
        index.close()


def question(path: str, text: str = "", **told: object) -> Question:
    names = tuple(dict.fromkeys(re.findall(r"\w{3,}", text)))
    document = Document("", text, path)
    return Question(document, len(text), path, names, symbols(text, language_of(path)), **told)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("test_index", "index"),
        ("index_test", "index"),
        ("index.test", "index"),
        ("cart.component.spec", "cart.component"),
        ("order_spec", "order"),
        ("CartTest", "Cart"),
        ("CartTests", "Cart"),
        ("TestCart", "Cart"),
        ("contest", ""),
        ("latest", ""),
        ("testing", ""),
        ("Testament", ""),
        ("spec", ""),
    ],
)
def test_a_test_is_known_by_its_name(stem: str, name: str) -> None:
    assert name_of_tested(stem) == name


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("shop/cart.py", "shop/test_cart.py"),
        ("shop/cart.py", "shop/tests/test_cart.py"),
        ("shop/cart.py", "tests/test_cart.py"),
        ("src/shop/cart.py", "tests/test_cart.py"),
        ("src/shop/cart.py", "tests/shop/test_cart.py"),
        ("web/src/cart.ts", "web/src/cart.test.ts"),
        ("web/src/cart.ts", "web/src/__tests__/cart.test.ts"),
        ("cart/cart.go", "cart/cart_test.go"),
        ("lib/cart.rb", "spec/cart_spec.rb"),
        ("app/models/cart.rb", "spec/models/cart_spec.rb"),
        ("src/main/java/shop/Cart.java", "src/test/java/shop/CartTest.java"),
        ("Shop/Cart.cs", "tests/Shop/CartTests.cs"),
        ("src/Cart.php", "tests/CartTest.php"),
    ],
)
def test_the_test_of_a_file_is_among_the_paths(source: str, test: str) -> None:
    assert test in paths_of_tests(source)


@pytest.mark.parametrize(
    ("test", "source"),
    [
        ("shop/test_cart.py", "shop/cart.py"),
        ("shop/tests/test_cart.py", "shop/cart.py"),
        ("tests/shop/test_cart.py", "shop/cart.py"),
        ("tests/shop/test_cart.py", "src/shop/cart.py"),
        ("web/src/__tests__/cart.test.ts", "web/src/cart.ts"),
        ("cart/cart_test.go", "cart/cart.go"),
        ("spec/models/cart_spec.rb", "app/models/cart.rb"),
        ("src/test/java/shop/CartTest.java", "src/main/java/shop/Cart.java"),
    ],
)
def test_the_file_of_a_test_is_among_the_paths(test: str, source: str) -> None:
    assert source in paths_of_tested(test)


def test_a_header_has_its_source_in_the_folder_of_sources() -> None:
    assert "lib/src/cart.cpp" in set(swapped("lib/include/cart.h"))
    assert "lib/include/cart.hpp" in set(swapped("lib/src/cart.cc"))


def test_a_test_is_told_what_it_tests_and_a_file_how_its_test_uses_it(make: Make) -> None:
    test = "import pytest\n" * 20 + "def test_adding():\n    assert add_line(tea, 2) == 200\n"
    index = make({"cart.py": "def add_line(product, count): ...\ndef _hidden(): ...\n", "tests/test_cart.py": test})
    (headers,) = siblings(question("tests/test_cart.py", "def test_more():\n"), index)
    assert (headers.path, headers.text) == ("cart.py", "def add_line(product, count)")
    (lines,) = siblings(question("cart.py", "def add_line(product, count):\n"), index)
    assert lines.path == "tests/test_cart.py"
    assert "add_line(tea, 2) == 200" in lines.text


def test_a_test_finds_the_file_that_it_imports_wherever_it_lies(make: Make) -> None:
    index = make({"deep/inside/cart.py": "def add_line(product): ...\n"})
    text = "from deep.inside.cart import add_line\n"
    asked = question("tests/test_cart.py", text)
    imported = tuple((one, "deep/inside/cart.py") for one in asked.symbols.imports)
    found = siblings(question("tests/test_cart.py", text, imported=imported), index)
    assert [one.path for one in found] == ["deep/inside/cart.py"]


def test_files_of_one_name_belong_together_the_nearest_first(make: Make) -> None:
    names = ["cart.component.ts", "cart.component.html", "cart.component.spec.ts", "cart.service.ts", "cartoon.ts"]
    index = make({f"app/{name}": "let total_cents = 1;\n" for name in names})
    found = siblings(question("app/cart.component.ts", "total_cents"), index)
    assert {one.path for one in found} == {
        "app/cart.component.html",
        "app/cart.component.spec.ts",
        "app/cart.service.ts",
    }
    assert found[-1].path == "app/cart.service.ts"


def test_files_changed_in_turns_belong_together(make: Make) -> None:
    index = make({"a.py": "", "b.py": "total_cents = 1\n"})
    (found,) = siblings(question("a.py", "total_cents", together=("b.py",)), index)
    assert found.path == "b.py"


def test_a_file_without_relatives_and_a_question_from_another_root_have_no_siblings(make: Make) -> None:
    index = make({"a.py": "x = 1\n", "b.py": "x = 1\n"})
    assert siblings(question("a.py", "xxx"), index) == []
    assert siblings(question("", "xxx"), index) == []


def test_a_hunk_counts_while_its_text_stands_in_the_file(make: Make) -> None:
    index = make({"a.py": "", "b.py": "def add_line(product): ...\n"})
    hunk = Hunk("b.py", "def add_line(product, count): ...", ", count", 1)
    asked = question("a.py", "add_line", edits=(hunk,))
    assert edits(asked, index) == []
    index.update_document("b.py", "def add_line(product, count): ...\n")
    (found,) = edits(asked, index)
    assert (found.path, found.text, found.key) == ("b.py", hunk.text, "b.py#edit1")
    index.close_document("b.py")
    assert edits(asked, index) == []
