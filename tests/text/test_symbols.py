import dataclasses
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_complete.text import syntax
from lsp_complete.text.languages import PLAIN, Language, languages
from lsp_complete.text.symbols import (
    MAX_SIGNATURE_CHARACTERS,
    Definition,
    Import,
    SymbolKind,
    Symbols,
    identifiers,
    subwords,
    symbols,
)

SAMPLES = Path(__file__).parent / "samples"
FOLDERS = Path(__file__).parents[2] / "grammars"
LANGUAGES = {language.key: language for language in languages() if (FOLDERS / language.key / "symbols.scm").is_file()}
PYTHON = LANGUAGES["python"]
each_language = pytest.mark.parametrize("key", LANGUAGES)


def sample(key: str) -> str:
    (path,) = (path for path in SAMPLES.glob(f"{key}.*") if path.suffix != ".toml")
    return path.read_text(encoding="utf-8")


def expected(key: str) -> dict[str, Any]:
    return tomllib.loads((SAMPLES / f"{key}.toml").read_text(encoding="utf-8"))


def full_name(definition: Definition) -> str:
    return f"{definition.parent}.{definition.name}".lstrip(".")


def described(definition: Definition) -> str:
    bases = f": {', '.join(definition.bases)}" if definition.bases else ""
    return f"{definition.kind} {full_name(definition)}{bases}"


def imported(import_: Import) -> str:
    return f"{import_.module}: {', '.join(import_.names)}" if import_.names else import_.module


@each_language
def test_a_sample_has_the_symbols_that_stand_beside_it(key: str) -> None:
    found, wanted = symbols(sample(key), LANGUAGES[key]), expected(key)
    assert [described(definition) for definition in found.definitions] == wanted["definitions"]
    assert list(dict.fromkeys(reference.name for reference in found.references)) == wanted["references"]
    assert [imported(import_) for import_ in found.imports] == wanted["imports"]


@each_language
def test_a_sample_has_the_signatures_and_docs_that_stand_beside_it(key: str) -> None:
    found, wanted = symbols(sample(key), LANGUAGES[key]).definitions, expected(key)
    first = {full_name(definition): definition for definition in reversed(found)}
    assert {name: definition.signature for name, definition in first.items()} == wanted["signatures"]
    assert {name: definition.doc for name, definition in first.items() if definition.doc} == wanted["docs"]


@each_language
def test_each_paragraph_of_a_query_compiles_to_a_pattern_with_a_known_role(key: str) -> None:
    grammar = syntax._grammar(LANGUAGES[key], True)
    assert grammar is not None
    _, *paragraphs = (FOLDERS / key / "symbols.scm").read_text(encoding="utf-8").split("\n\n")
    assert len(grammar.patterns) == len(paragraphs)
    roles = {"scope", "reference", "import", *(f"definition.{kind}" for kind in SymbolKind)}
    assert {pattern.role for pattern in grammar.patterns} <= roles


@each_language
def test_without_references_all_else_is_the_same(key: str) -> None:
    found, bare = (symbols(sample(key), LANGUAGES[key], references=wanted) for wanted in (True, False))
    assert bare == dataclasses.replace(found, references=())


def test_the_query_of_tsx_is_that_of_typescript_and_more() -> None:
    typescript, tsx = ((FOLDERS / key / "symbols.scm").read_text(encoding="utf-8") for key in ("typescript", "tsx"))
    assert set(typescript.strip().split("\n\n")[1:]) < set(tsx.strip().split("\n\n"))


def check_offsets(text: str, found: Symbols) -> None:
    for definition in found.definitions:
        assert definition.name
        assert definition.name in text[definition.start : definition.end]
        assert len(definition.signature) <= MAX_SIGNATURE_CHARACTERS
        assert "\n" not in definition.signature
    for reference in found.references:
        assert text.startswith(reference.name, reference.start)
    for part in (found.definitions, found.references, found.imports):
        starts = [symbol.start for symbol in part]
        assert starts == sorted(starts)
        assert all(0 <= start <= len(text) for start in starts)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(sorted(LANGUAGES)), st.data())
def test_no_edit_of_a_sample_raises_or_shifts_a_name(key: str, data: st.DataObject) -> None:
    text = sample(key)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    inserted = data.draw(st.one_of(st.just(""), st.sampled_from("([{<\"'`\n#@"), st.text(max_size=20)))
    edited = data.draw(st.sampled_from([text[:start] + inserted + text[end:], text[:end] + inserted]))
    check_offsets(edited, symbols(edited, LANGUAGES[key]))


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters(exclude_characters="\r\n"), max_size=30))
def test_characters_of_any_width_shift_offsets_by_their_number(comment: str) -> None:
    text, prefix = "def area(shape): return shape.size()\n", f"# {comment}\n\n"
    plain, shifted = symbols(text, PYTHON), symbols(prefix + text, PYTHON)
    assert [reference.start for reference in shifted.references] == [
        reference.start + len(prefix) for reference in plain.references
    ]
    (definition,) = shifted.definitions
    assert (prefix + text)[definition.start : definition.end] == text.strip()


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(sorted(LANGUAGES)), st.text(max_size=200))
def test_any_text_has_symbols(key: str, text: str) -> None:
    check_offsets(text, symbols(text, LANGUAGES[key]))


@pytest.mark.parametrize("text", ["", "\ufeffdef f(): pass", "\0", "\ud800 = 1", "𝒙 = '😀'", "def f(): pass\r\n" * 3])
def test_odd_characters_do_not_matter(text: str) -> None:
    check_offsets(text, symbols(text, PYTHON))


def test_names_beyond_ascii_are_found() -> None:
    found = symbols("class Größe:\n    '''Die Größe.'''\n    def ändern(self): self.prüfen()\n", PYTHON)
    assert [full_name(definition) for definition in found.definitions] == ["Größe", "Größe.ändern"]
    assert found.definitions[0].doc == "Die Größe."
    assert [reference.name for reference in found.references] == ["prüfen"]


def test_a_long_header_is_cut_and_begins_on_the_line_of_its_name() -> None:
    text = f"@Annotated({'1, ' * 200})\nclass Shape extends Figure {{}}"
    (definition,) = symbols(text, LANGUAGES["java"]).definitions
    assert definition.signature == "class Shape extends Figure"
    header = f"def draw({'shape, ' * 100})"
    (definition,) = symbols(f"{header}: pass", PYTHON).definitions
    assert definition.signature == header[:MAX_SIGNATURE_CHARACTERS]


def test_comments_inside_a_header_are_left_out() -> None:
    (definition,) = symbols("def draw(\n    shape,\n    # how fast\n    speed,\n): pass", PYTHON).definitions
    assert definition.signature == "def draw(shape, speed)"


@pytest.mark.parametrize(
    ("above", "doc"),
    [
        ("# Draws.\n# Slowly.\n", "Draws."),
        ("# -- Draws. --\n", "Draws."),
        ("#\n#   Draws.\n", "Draws."),
        ("# Draws.\n@cached\n@timed\n", "Draws."),
        ("# Draws.\r\n", "Draws."),
        ("# Draws.\n\n", ""),
        ("x = 1  # Draws.\n", ""),
        ("#!/usr/bin/env python\n", ""),
        ("", ""),
    ],
)
def test_the_comment_directly_above_is_the_doc(above: str, doc: str) -> None:
    definitions = symbols(f"{above}def draw(): pass\n", PYTHON).definitions
    assert [definition.doc for definition in definitions if definition.name == "draw"] == [doc]


def test_a_language_without_grammar_has_no_symbols() -> None:
    assert symbols("def f(): pass", PLAIN) == Symbols()


@pytest.mark.parametrize(
    "language",
    [
        dataclasses.replace(PYTHON, grammar_package="tree-sitter-unheard"),
        dataclasses.replace(PYTHON, grammar_function="unheard"),
        dataclasses.replace(PYTHON, key="unheard"),
    ],
)
def test_a_missing_wheel_function_or_query_means_no_symbols(language: Language) -> None:
    assert symbols("def f(): pass", language) == Symbols()


def test_of_a_query_that_the_grammar_has_outgrown_the_rest_still_works() -> None:
    outgrown = dataclasses.replace(LANGUAGES["javascript"], key="typescript")
    found = symbols("function area(shape) { return measure(shape) }", outgrown)
    assert [reference.name for reference in found.references] == ["measure"]


def test_a_text_that_is_too_long_has_no_symbols() -> None:
    line = "def f(): pass\n"
    text = line * (syntax.MAX_PARSE_CHARACTERS // len(line) + 1)
    assert symbols(text, PYTHON) == Symbols()


def test_a_table_of_data_has_no_symbols() -> None:
    assert symbols("a = 1\n" * (syntax.MAX_MATCHES + 1), PYTHON) == Symbols()


def test_a_parse_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    text = sample("kotlin") * 20
    assert symbols(text, LANGUAGES["kotlin"]).definitions
    monkeypatch.setattr(syntax, "MAX_PARSE_S", -1.0)
    assert symbols(text, LANGUAGES["kotlin"]) == Symbols()


@each_language
def test_ten_thousand_nested_brackets_neither_hang_nor_crash(key: str) -> None:
    for text in ("(" * 10_000 + ")" * 10_000, "([{" * 3_334, "a<" * 10_000):
        check_offsets(text, symbols(text, LANGUAGES[key]))


@each_language
@pytest.mark.parametrize("unit", ["->", "a=>", "-><", "*%", "-?", "::^", "*-", "(a) ->\n"])
def test_a_text_with_a_run_of_the_same_few_characters_is_not_parsed(key: str, unit: str) -> None:
    assert syntax.matches(sample(key) + unit * 1000, LANGUAGES[key]) == syntax.Matches()
    assert syntax.matches(sample(key) + unit * 20, LANGUAGES[key]) != syntax.Matches()


def test_definitions_that_nest_without_end_have_short_parents() -> None:
    found = symbols("function f() {" * 2_000, LANGUAGES["javascript"])
    assert max((len(definition.parent) for definition in found.definitions), default=0) < 100


def test_threads_do_not_disturb_each_other() -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda key: symbols(sample(key), LANGUAGES[key]), sorted(LANGUAGES) * 4))
    assert results == [symbols(sample(key), LANGUAGES[key]) for key in sorted(LANGUAGES)] * 4


def test_identifiers_are_words_of_any_language() -> None:
    assert identifiers("größe = get_2nd(x1, $y) # 3rd A.b") == ["größe", "get_2nd", "x1", "y", "rd", "A", "b"]


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("getHTTPResponse2", "get http response 2"),
        ("snake_case_name", "snake case name"),
        ("MAX_SIDES", "max sides"),
        ("__init__", "init"),
        ("HTTP", "http"),
        ("utf8Decoder", "utf 8 decoder"),
        ("A", "a"),
        ("ÄnderungsTag", "änderungs tag"),
        ("größeÄndern", "größeändern"),
        ("_", ""),
        ("", ""),
    ],
)
def test_a_name_is_split_into_words(identifier: str, words: str) -> None:
    assert subwords(identifier) == words.split()
