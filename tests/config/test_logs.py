"""The log holds our own words only, and is not worth dying for."""

import asyncio
import gc
import logging

import pytest

from lsp_complete.config.logs import configure_logging

SECRET = "secret_word"


@pytest.fixture
def log(tmp_path):
    """Logs to a file, as a process does; gives a function that reads it. The test runner's handlers come back."""
    root, own = logging.getLogger(), logging.getLogger("lsp_complete")
    before = root.handlers[:], root.level, own.level, logging.raiseExceptions
    root.handlers[:] = []
    configure_logging("test", "debug", tmp_path / "logs")
    yield (tmp_path / "logs" / "test.log").read_text
    for handler in root.handlers:
        handler.close()
    root.handlers[:], level, own_level, logging.raiseExceptions = before
    root.setLevel(level)
    own.setLevel(own_level)


def test_our_own_records_are_whole(log):
    logging.getLogger("lsp_complete.server").debug("took %d ms", 12)
    assert "DEBUG lsp_complete.server: took 12 ms" in log()


def test_of_others_only_warnings_come_and_only_their_template(log):
    other = logging.getLogger("pygls.protocol")
    other.info("Sending data: %s", SECRET)
    other.warning("Unknown message %r", SECRET)
    assert "Unknown message %r" in log()
    assert "Sending" not in log()
    assert SECRET not in log()


@pytest.mark.parametrize("name", ["pygls", "lsp_complete.server"])
def test_a_traceback_has_places_and_no_messages(name, log):
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger(name).exception("it failed")
    assert "ValueError at\n" in log()
    assert "test_logs.py" in log()
    assert SECRET not in log()


def test_a_chain_of_exceptions_has_no_messages_either(log):
    try:
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            raise RuntimeError(SECRET) from error
    except RuntimeError:
        logging.getLogger("lsp_complete").exception("it failed")
    assert SECRET not in log()


def test_a_record_that_is_no_text_is_its_type(log):
    logging.getLogger("other").warning({"code": SECRET})
    assert "dict" in log()
    assert SECRET not in log()


async def test_an_exception_that_nobody_awaited_is_not_quoted(log):
    async def fails():
        raise ValueError(SECRET)

    task = asyncio.ensure_future(fails())
    await asyncio.wait([task])
    del task
    gc.collect()
    assert "exception was never retrieved" in log()
    assert SECRET not in log()


def test_the_level_is_that_of_our_own_records(tmp_path, log):
    logging.getLogger("lsp_complete").setLevel("WARNING")
    logging.getLogger("lsp_complete").info("too much")
    assert "too much" not in log()


def test_a_folder_that_cannot_be_written_costs_the_file_only(tmp_path, log, capsys):
    (tmp_path / "a_file").write_text("")
    logging.getLogger().handlers[0].close()
    configure_logging("test", "info", tmp_path / "a_file" / "logs")
    logging.getLogger("lsp_complete").info("still here")
    assert "no log file" in capsys.readouterr().err


def test_letters_of_all_kinds_and_halves_of_them_are_no_error(log):
    logging.getLogger("lsp_complete").info("é漢😀 %s", "\ud83d")
    logging.getLogger("lsp_complete").info("after")
    assert "after" in log()
