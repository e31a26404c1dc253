"""The prompt: right order, exact budget, and user text that stays text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.backend.fim import FAMILIES, Template, detect_family
from lsp_complete.protocol.completion import Snippet
from lsp_complete.protocol.errors import EngineFailed, InvalidRequest
from tests.fakes import QWEN, CharacterTokenizer, request


def tokenizer_of(family):
    return CharacterTokenizer(
        tuple(
            filter(None, (family.bos, family.prefix, family.suffix, family.middle, family.file_marker, *family.stops))
        )
    )


def rendered(family, asked, max_tokens=10_000):
    tokenizer = tokenizer_of(family)
    return tokenizer.decode(Template(family, tokenizer).render(asked, max_tokens).tokens)


def test_spm_puts_the_suffix_first_and_the_prefix_last():
    assert rendered(QWEN, request("PRE", "SUF")) == "<|fim_prefix|><|fim_suffix|>SUF<|fim_middle|>PRE"


def test_psm_is_used_where_the_family_knows_no_other_and_bos_comes_once():
    prompt = rendered(FAMILIES["deepseek-coder"], request("PRE", "SUF"))
    assert prompt == "<｜begin▁of▁sentence｜><｜fim▁begin｜>PRE<｜fim▁hole｜>SUF<｜fim▁end｜>"


def test_snippets_come_before_the_file_each_under_its_path():
    asked = request("PRE", "SUF", path="a.py", snippets=(Snippet("b.py", "x = 1\n"), Snippet("c.py", "y = 2")))
    assert rendered(QWEN, asked).startswith(
        "<|file_sep|>b.py\nx = 1\n<|file_sep|>c.py\ny = 2\n<|file_sep|>a.py\n<|fim_"
    )


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_markers_in_user_text_stay_text(family):
    tokenizer = tokenizer_of(family)
    literal = f'MID = "{family.middle}"  # <|endoftext|>\n'
    asked = request(literal + "x = ", literal, path=f"{family.middle}.py", snippets=(Snippet(family.prefix, literal),))
    tokens = Template(family, tokenizer).render(asked, 10_000).tokens
    for marker in (family.prefix, family.suffix, family.middle):
        assert tokens.count(tokenizer.marker(marker)) == 1
    assert "MID = " in tokenizer.decode(tokens)


def test_no_carriage_return_reaches_the_prompt():
    asked = request("a\r\nb\r", "\r\nc", snippets=(Snippet("b.py", "x\r\n"),), path="a\rb.py")
    assert "\r" not in rendered(QWEN, asked)


def test_the_last_blank_of_the_prefix_is_left_for_the_model():
    tokenizer = tokenizer_of(QWEN)
    prompt = Template(QWEN, tokenizer).render(request("def f():\n    "), 100)
    assert prompt.healed == " "
    assert tokenizer.decode(prompt.tokens).endswith("def f():\n   ")


def test_a_tab_is_left_for_the_model_only_in_a_file_of_tabs():
    template = Template(QWEN, tokenizer_of(QWEN))
    assert template.render(request("if x {\n\t"), 100).healed == ""
    assert template.render(request("if x {\n\ty()\n\t"), 100).healed == "\t"


def test_snippets_are_dropped_whole_from_the_last():
    asked = request("PRE", "SUF", path="a", snippets=(Snippet("b", "x" * 20), Snippet("c", "y" * 20)))
    template, tokenizer = Template(QWEN, tokenizer_of(QWEN)), tokenizer_of(QWEN)
    prompt = template.render(asked, 3 + len("PRESUF") + 2 * len("#b\n\n") + 2 * 20 + len("#a\n") - 1)
    assert prompt.num_dropped_snippets == 1
    assert "x" * 20 in tokenizer.decode(prompt.tokens)
    assert "y" not in tokenizer.decode(prompt.tokens)


def test_prefix_and_suffix_are_trimmed_on_line_borders_away_from_the_cursor():
    prefix = "".join(f"line {i}\n" for i in range(100))
    prompt = rendered(QWEN, request(prefix + "x = ", "\n" + prefix), 200)
    suffix, _, before = prompt.removeprefix("<|fim_prefix|><|fim_suffix|>").partition("<|fim_middle|>")
    assert before.startswith("line ")
    assert before.endswith("line 99\nx =")
    assert suffix.startswith("\nline 0\n")
    assert suffix.endswith("\n")


@given(st.text(max_size=300), st.text(max_size=300), st.integers(4, 250))
def test_the_budget_is_never_exceeded_and_the_text_at_the_cursor_survives(prefix, suffix, max_tokens):
    tokenizer = tokenizer_of(QWEN)
    tokens = Template(QWEN, tokenizer).render(request(prefix, suffix), max_tokens).tokens
    assert len(tokens) <= max_tokens
    assert [tokens.count(tokenizer.marker(m)) for m in (QWEN.prefix, QWEN.suffix, QWEN.middle)] == [1, 1, 1]


def test_a_budget_without_room_is_refused():
    with pytest.raises(InvalidRequest):
        Template(QWEN, tokenizer_of(QWEN)).render(request(), 3)


def test_a_model_of_another_family_is_refused_with_the_marker_named():
    with pytest.raises(EngineFailed, match="fim_prefix"):
        Template(QWEN, CharacterTokenizer(markers=("<fim_prefix>",)))


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_the_family_is_found_by_its_markers(family):
    assert detect_family(tokenizer_of(family)) is family


def test_a_model_of_no_known_family_is_refused():
    with pytest.raises(EngineFailed):
        detect_family(CharacterTokenizer(markers=()))


def test_a_draft_begins_with_the_blank_that_the_model_has_to_write_and_is_no_longer_than_the_answer():
    tokenizer = tokenizer_of(QWEN)
    prompt = Template(QWEN, tokenizer).render(request("return ", draft="a +\r\n b", max_tokens=5), 100)
    assert tokenizer.decode(list(prompt.draft)) == " a +\n"
    assert Template(QWEN, tokenizer).render(request("return "), 100).draft == []
