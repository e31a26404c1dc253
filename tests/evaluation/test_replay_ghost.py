"""What of ghost text is still drawn once the buffer has changed."""

import pytest

from lsp_complete.evaluation.replay.ghost import Ghost, standing


@pytest.mark.parametrize(
    ("shown", "text", "visible"),
    [("(a)", "f(", "a)"), ("(a)", "f()", "a)"), ("(a)", "f[", None), ("()", "f()", None), ("{\n}b", "f{\n}", None)],
)
def test_what_is_missing_is_drawn_and_nothing_where_the_text_has_it_all(
    shown: str, text: str, visible: str | None
) -> None:
    ghost = standing(Ghost("aa", shown, 1, len(text), {}, 0.0), text, 2)
    assert (ghost.visible if ghost else None) == visible
