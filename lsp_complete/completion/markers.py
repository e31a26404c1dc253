"""Control tokens of the models we know, as text.

The service already stops at its own model's. This is the last line of defence before a person sees them, so it takes
those of every family: an OpenAI-compatible server may run any model behind any template.
"""

import re

# By family, as in each model's tokenizer.
_FAMILIES: dict[str, tuple[str, ...]] = {
    "qwen": (
        "<|endoftext|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>", "<|repo_name|>",
        "<|file_sep|>", "<|im_start|>", "<|im_end|>", "<|cursor|>",
    ),
    "starcoder": (
        "<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<fim_pad>", "<fim-prefix>", "<fim-suffix>", "<fim-middle>",
        "<fim-pad>", "<repo_name>", "<reponame>", "<file_sep>", "<filename>", "<gh_stars>", "<issue_start>",
        "<issue_comment>", "<issue_closed>", "<jupyter_start>", "<jupyter_code>", "<jupyter_output>", "<empty_output>",
        "<commit_before>", "<commit_msg>", "<commit_after>",
    ),
    "deepseek": (
        "<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>", "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>",
        "<|EOT|>", "<|fim▁begin|>", "<|fim▁hole|>", "<|fim▁end|>",
    ),
    "codegemma": ("<|file_separator|>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>"),
    # `<s>` is left out: it is a legal template argument, and no model ends with it.
    "codellama": ("<PRE>", "<SUF>", "<MID>", "<EOT>", "</s>"),
}  # fmt: skip
MARKERS = tuple(sorted({marker for family in _FAMILIES.values() for marker in family}))
_MARKER = re.compile("|".join(map(re.escape, MARKERS)))
# Less of a marker is more often code: `a <`, `List<E`. But `<|` starts nothing in the languages we know.
_MIN_PARTIAL = 3
_PARTIALS = frozenset(marker[:length] for marker in MARKERS for length in range(_MIN_PARTIAL, len(marker)))
_PARTIALS |= {"<|", "<｜"}
_MAX_PARTIAL = max(map(len, MARKERS)) - 1


def before_marker(text: str) -> tuple[str, bool]:
    """The text before its first marker, or before the part of one that it ends in; and whether a whole one was found,
    so that nothing that follows matters."""
    if match := _MARKER.search(text):
        return text[: match.start()], True
    start = text.rfind("<", -_MAX_PARTIAL)
    return (text[:start], False) if start >= 0 and text[start:] in _PARTIALS else (text, False)
