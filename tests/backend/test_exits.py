"""What is kept back. Every case is fed whole, by characters and in pieces: the text is the same."""

import pytest

from lsp_complete.backend.exits import BlankExit, CredentialExit, Exits, VerbatimExit
from lsp_complete.backend.stops import feed_all, rest_of_all
from lsp_complete.backend.winnowing import Blocklist, write_blocklist

GITHUB = "ghp_" + "a1B2" * 9
CODE = "def mean(values):\n    total = 0\n" + "".join(f"    total += values[{i}] * weight_{i}\n" for i in range(12))


def check(make, text, expected, is_stopped):
    for size in (1, 2, 3, 7, len(text)):
        exits = make()
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        passed = "".join(feed_all(exits, piece) for piece in pieces) + rest_of_all(exits)
        assert (passed, any(e.stopped for e in exits)) == (expected, is_stopped)


@pytest.mark.parametrize(
    "credential",
    [
        GITHUB,
        "AKIA" + "IOSFODNN7ABCDEFG",
        "xoxb-123456789012-abcdef",
        "AIza" + "B" * 35,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc_def",
    ],
)
def test_a_credential_never_leaves(credential):
    check(lambda: [CredentialExit("")], f"a = 1\nkey = '{credential}'\nb = 2", "a = 1\nkey = ", True)


def test_a_private_key_ends_before_its_first_letter_of_key():
    exits = [CredentialExit("")]
    text = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow"
    passed = "".join(feed_all(exits, char) for char in text) + rest_of_all(exits)
    assert exits[0].stopped
    assert "KEY" not in passed


def test_what_the_user_has_typed_of_a_credential_counts():
    check(lambda: [CredentialExit(f"key = '{GITHUB[:10]}")], GITHUB[10:] + "'", "", True)


def test_one_that_the_user_has_typed_whole_stops_nothing():
    check(lambda: [CredentialExit(f"key = '{GITHUB}' ")], "# secret", "# secret", False)


@pytest.mark.parametrize("text", ["sk-learn and ghp_short", "token = os.environ['AWS_SECRET']", "a\n\n  b", ""])
def test_ordinary_code_passes(text):
    check(lambda: [BlankExit(), CredentialExit("")], text or " ", text, False)


def test_blanks_alone_are_nothing():
    check(lambda: [BlankExit()], "\n   \n", "", False)
    check(lambda: [BlankExit()], "\n   x", "\n   x", False)


@pytest.fixture(scope="module")
def blocklist(tmp_path_factory):
    path = tmp_path_factory.mktemp("list") / "public.bin"
    assert write_blocklist(path, [CODE, "other " * 60]) > 5
    return Blocklist(path)


def test_listed_code_is_kept_back_wherever_it_begins_and_however_it_is_indented(blocklist):
    lines = CODE.split("\n")
    for text in ("\n".join(lines[2:10]), "\n".join(line.strip() for line in lines[5:]), "x = 1\n" + CODE):
        check(lambda text=text: [VerbatimExit("", blocklist)], text, "", True)


def test_other_code_and_short_stretches_pass(blocklist):
    for text in (CODE.replace("values", "numbers"), "\n".join(CODE.split("\n")[3:5])):
        check(lambda text=text: [VerbatimExit("", blocklist)], text, text, False)


def test_the_users_own_code_before_the_cursor_stops_nothing_by_itself(blocklist):
    check(lambda: [VerbatimExit(CODE, blocklist)], "return total", "return total", False)


def test_without_being_switched_on_there_are_no_exits():
    assert Exits().of("") == ()


def test_a_file_that_is_no_list_is_refused_by_name(tmp_path):
    path = tmp_path / "no.bin"
    for data in (b"", b"x" * 64):
        path.write_bytes(data)
        with pytest.raises(OSError, match=r"no\.bin"):
            Blocklist(path)
