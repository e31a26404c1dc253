"""No credential leaves the machine with a question, wherever it stands and however the window cuts it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.completion.outgoing import outgoing
from lsp_complete.config.settings import Settings
from lsp_complete.context.exclusions import Exclusions
from lsp_complete.context.mixer import Mix
from lsp_complete.context.policy import Policy
from lsp_complete.context.snippets import Snippet
from lsp_complete.prompt.assemble import Prompt
from lsp_complete.prompt.packer import Window
from lsp_complete.prompt.snippets import Packed
from lsp_complete.text.document import Document, normalize_eol

NO_ENTERPRISE = Path("/nonexistent/policy.toml")
POLICY = Policy(enterprise_file=NO_ENTERPRISE)
# Put together here so that no scanner takes this file for a leak.
KEY_LINE = "MIIEow" + "IBAAKCAQEAz7Yw9c2LkQp4dGv1" * 2 + "x4Rt"
KEY_BLOCK = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + f"{KEY_LINE}\n" * 200 + "-----END RSA PRIVATE KEY-----\n"
SECRETS = [
    'API_KEY = "' + "9f8a7b6c" + '5d4e3f2a"\n',
    "url = 'postgres://admin:" + "s3cr3tpw@db/app'\n",
    "AKIA" + "IOSFODNN7RQ2MPLE\n",
    KEY_BLOCK,
]
CORES = ["9f8a7b6c5d4e3f2a", "s3cr3tpw", "IOSFODNN7RQ2MPLE", "IBAAKCAQEAz7Yw9c2LkQp4dGv1"]
CODE = "def total(lines):\n    return sum(line.price for line in lines)\n\n\n"


def window(text: str, offset: int, **settings: int) -> Window:
    document = Document("file:///w/a.py", text, "a.py", "python")
    return outgoing(document, offset, Mix(), Settings(**settings), POLICY).prompt.window


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_a_credential_beside_the_cursor_is_covered_and_nothing_moves(secret: str, eol: str) -> None:
    for text in (CODE + secret, secret + CODE):
        text = text.replace("\n", eol)
        document = Document("file:///w/a.py", text, "a.py", "python")
        offset = len(CODE.replace("\n", eol)) if text.startswith("def") else len(secret.replace("\n", eol))
        out = outgoing(document, offset, Mix(), Settings(prompt_tokens=8192), POLICY)
        sent = out.prompt.window.prefix + out.prompt.window.suffix
        assert not any(core in sent for core in CORES)
        assert [len(line) for line in sent.split("\n")] == [len(line) for line in normalize_eol(text).split("\n")]
        assert out.num_redacted == 1


@given(st.data())
def test_no_window_shows_any_part_of_a_credential(data: st.DataObject) -> None:
    """Also of a key whose first line lies outside of the window, and of what the cursor stands in."""
    parts = data.draw(st.lists(st.sampled_from([*SECRETS, CODE, CODE * 9]), min_size=1, max_size=6))
    text = "".join(parts)
    offset = data.draw(st.integers(0, len(text)))
    found = window(text, offset, prompt_tokens=data.draw(st.sampled_from([128, 256, 1024])))
    sent = found.prefix + found.suffix
    assert not any(core[at : at + 6] in sent for core in CORES for at in range(len(core) - 5))


def test_the_line_that_is_being_typed_is_no_exception() -> None:
    text = 'password = "' + "Tr0ub4" + 'dor&3x"'
    found = window(text, len(text) - 4)
    assert found.prefix + found.suffix == 'password = "' + "*" * 12 + '"'


def test_code_that_only_names_the_first_line_of_a_key_goes_on() -> None:
    text = 'def is_key(text):\n    return "-----BEGIN PRIVATE ' + 'KEY-----" in text\n\n\ndef next_one(a_key): ...\n'
    assert "_one(a_key): ...\n" in window(text, len(text)).prefix


def test_a_snippet_of_the_last_prompt_is_forgotten_once_its_file_may_no_longer_leave(tmp_path: Path) -> None:
    snippet = Snippet("gen/x.py", "def x(): ...", "similar", "", "gen/x.py#", str(tmp_path / "gen/x.py"))
    before = Prompt(Window("", "\n"), (Packed(snippet, 1.0),))
    document = Document("file:///w/a.py", "x = \n", "a.py", "python")
    for globs, expected in (((), (snippet,)), (("gen/",), ())):
        policy = Policy([tmp_path], Exclusions(globs), enterprise_file=NO_ENTERPRISE)
        packed = outgoing(document, 4, Mix(), Settings(), policy, before).prompt.packed
        assert tuple(one.snippet for one in packed) == expected


def test_a_snippet_that_did_not_pass_the_gate_is_not_kept() -> None:
    snippet = Snippet("x.py", "def x(): ...", "similar", "", "x.py#")
    before = Prompt(Window("", "\n"), (Packed(snippet, 1.0),))
    document = Document("file:///w/a.py", "x = \n", "a.py", "python")
    assert outgoing(document, 4, Mix(), Settings(), POLICY, before).prompt.packed == ()
