"""Letters of every length in every encoding, for tests of positions."""

from hypothesis import strategies as st

ASCII = "ab (\t."
TWO_BYTES = "éñЖ"
COMBINING = "\u0301\u0308"
THREE_BYTES = "漢€\ufeff"
CJK_EXTENSION_B = "𠀀𠮷𪛖"
EMOJI = "😀🏳"
# Text, though other programs take them for the end of a line.
NO_LINE_ENDS = "\f\v\x1c\x85\u2028\u2029"

LETTERS = ASCII + TWO_BYTES + COMBINING + THREE_BYTES + CJK_EXTENSION_B + EMOJI + NO_LINE_ENDS
lines = st.text(LETTERS, max_size=20)
texts = st.lists(st.sampled_from([*LETTERS, "\n", "\r\n", "\r"]), max_size=40).map("".join)
encodings = st.sampled_from(["utf-8", "utf-16", "utf-32"])

CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
