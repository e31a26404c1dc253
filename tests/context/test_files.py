import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.context.files import FileText, Skipped, decode, read_file


def check(path: Path, content: bytes, expected: str | Skipped) -> None:
    path.write_bytes(content)
    found = read_file(str(path))
    assert (found.text if isinstance(found, FileText) else found) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_text_is_read_in_any_usual_encoding_and_without_its_mark(tmp_path: Path, encoding: str) -> None:
    text = "# façade\r\nclass Marked:\n    pass\n"
    check(tmp_path / "a.py", text.encode(encoding), text)


def test_big_endian_marks_are_known() -> None:
    assert decode(b"\xfe\xff\x00a\x00\n") == "a\n"
    assert decode(b"\x00\x00\xfe\xff\x00\x00\x00a") == "a"


@given(st.binary(max_size=300).filter(lambda data: b"\0" not in data and data[:2] not in (b"\xff\xfe", b"\xfe\xff")))
def test_undecodable_bytes_never_change_the_number_of_lines(data: bytes) -> None:
    text = decode(data)
    assert text is not None
    assert (text.count("\n"), text.count("\r")) == (data.count(b"\n"), data.count(b"\r"))


def test_giant_minified_and_binary_files_are_skipped_with_a_reason(tmp_path: Path) -> None:
    check(tmp_path / "one_line.js", b"var a=1;" * 15_000, Skipped.LONG_LINE)
    check(tmp_path / "without_blanks.txt", b"x" * 900_000, Skipped.LONG_LINE)
    check(tmp_path / "minified.js", (b"f(1);" * 100 + b"\n") * 60, Skipped.MINIFIED)
    check(tmp_path / "film.py", b"\0\0\0\x18ftypmp42", Skipped.BINARY)
    check(tmp_path / "big.txt", b"line\n" * 300_000, Skipped.TOO_LARGE)
    check(tmp_path / "fine.py", b"x = 1\n" * 1000, "x = 1\n" * 1000)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert read_file(str(tmp_path / "pipe.py")) is Skipped.NOT_A_FILE


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "b.py").symlink_to("a.py")
    with pytest.raises(OSError):
        read_file(str(tmp_path / "b.py"))


def test_a_file_that_grows_is_read_up_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(b"a\n" * 60)
    real = os.fstat

    def fstat_then_grow(descriptor: int) -> os.stat_result:
        info = real(descriptor)
        with path.open("ab") as file:
            file.write(b"b\n" * 60)
        return info

    monkeypatch.setattr(os, "fstat", fstat_then_grow)
    assert read_file(str(path), max_bytes=200) is Skipped.TOO_LARGE
