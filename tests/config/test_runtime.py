"""How the local service is found: whose file is believed, and when."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from filelock import Timeout

from lsp_complete.config import runtime as runtime_module
from lsp_complete.config.paths import runtime_folder
from lsp_complete.config.runtime import (
    Runtime,
    clear_away,
    is_locked,
    read_runtime,
    remove_runtime,
    service_lock,
    write_runtime,
)

RUNTIME = Runtime("http://127.0.0.1:1", "a-credential", 1, "0.1.0")
posix = pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX's")


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.fixture
def running(folder):
    """A service: it holds the lock and has written its file."""
    with service_lock(folder):
        write_runtime(folder, RUNTIME)
        yield folder


def runtime_file(folder):
    (path,) = folder.glob("*.json")
    return path


def test_what_a_living_service_wrote_is_read(running):
    assert read_runtime(running) == RUNTIME


def test_without_a_service_there_is_nothing(folder):
    assert read_runtime(folder) is None
    assert not is_locked(folder)


def test_what_a_dead_service_left_is_not_believed(folder):
    with service_lock(folder):
        write_runtime(folder, RUNTIME)
    assert read_runtime(folder) is None


def test_what_a_dead_service_left_is_cleared_away_and_what_a_living_one_wrote_is_not(folder):
    with service_lock(folder):
        write_runtime(folder, RUNTIME)
        assert not clear_away(folder)
        assert read_runtime(folder) == RUNTIME
    assert clear_away(folder)
    with service_lock(folder):
        assert read_runtime(folder) is None


def test_reading_leaves_the_lock_free(folder):
    write_runtime(folder, RUNTIME)
    read_runtime(folder)
    with service_lock(folder):
        assert is_locked(folder)


def test_only_one_holds_the_lock(running):
    with pytest.raises(Timeout), service_lock(running):
        pass


@posix
def test_the_file_is_private_whatever_the_umask(running):
    before = os.umask(0)
    try:
        write_runtime(running, RUNTIME)
    finally:
        os.umask(before)
    assert runtime_file(running).stat().st_mode & 0o777 == 0o600


@posix
def test_the_file_is_private_though_one_of_its_name_was_there(running):
    """Where others could have put it, open for them to read."""
    target = runtime_file(running)
    temporary = target.with_name(f"{target.name}.{os.getpid()}")
    temporary.write_text("")
    temporary.chmod(0o666)
    write_runtime(running, RUNTIME)
    assert runtime_file(running).stat().st_mode & 0o777 == 0o600
    assert read_runtime(running) == RUNTIME


@posix
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_file_that_others_can_read_is_not_believed(running, mode):
    runtime_file(running).chmod(mode)
    assert read_runtime(running) is None


@posix
def test_a_file_of_somebody_else_is_not_believed(running, monkeypatch):
    """Seen from the other side, since a test may not be allowed to give files away."""
    monkeypatch.setattr(os, "getuid", lambda: os.stat(running).st_uid + 1)
    assert read_runtime(running) is None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"url": 1}', "[" * 50_000, '{"url": "u", "pid": "x"}'])
def test_a_file_that_makes_no_sense_is_nothing(running, content):
    runtime_file(running).write_text(content)
    assert read_runtime(running) is None


def test_what_a_later_version_adds_is_ignored(running):
    path = runtime_file(running)
    path.write_text(json.dumps({**json.loads(path.read_text()), "of_the_future": 1}))
    assert read_runtime(running) == RUNTIME


def test_a_service_of_another_version_is_another_service(running, monkeypatch):
    monkeypatch.setattr(runtime_module, "_FILE", "service-9.json")
    monkeypatch.setattr(runtime_module, "_LOCK", "service-9.lock")
    assert read_runtime(running) is None
    assert not is_locked(running)


def test_removing_twice_is_no_error(running):
    remove_runtime(running)
    remove_runtime(running)
    assert read_runtime(running) is None


@posix
@pytest.mark.parametrize("name", ["LSP_COMPLETE_RUNTIME", "XDG_RUNTIME_DIR"])
def test_the_folder_is_private(tmp_path, monkeypatch, name):
    for known in ("LSP_COMPLETE_RUNTIME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(known, raising=False)
    monkeypatch.setenv(name, str(tmp_path / "below"))
    assert runtime_folder() == tmp_path / "below" / "lsp-complete"
    assert runtime_folder().stat().st_mode & 0o777 == 0o700


@posix
def test_without_a_known_folder_it_lies_in_the_users_own(tmp_path, monkeypatch):
    for known in ("LSP_COMPLETE_RUNTIME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(known, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path in runtime_folder().parents


def test_who_only_tests_the_lock_is_not_taken_for_a_service(folder):
    with ThreadPoolExecutor(4) as threads:
        assert not any(threads.map(lambda _: is_locked(folder), range(200)))
