"""Events are kept once, privately and within bounds, whatever happens to the process or to the file."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lsp_complete.telemetry.store import EventStore
from tests.telemetry.samples import records


@pytest.fixture
def file(tmp_path):
    return tmp_path / "state" / "events.sqlite"


@pytest.fixture
def store(file):
    with EventStore(file) as opened:
        yield opened


def now_records(num):
    return records(num, float(round(time.time())))


def test_what_is_added_comes_back_in_order_and_once(store):
    events = now_records(20)
    assert store.add(events) == 20
    assert store.add(events) == 0
    assert store.since(0) == events
    assert store.since(events[5].at_s + 0.5) == events[6:]


def test_the_queue_holds_what_is_to_be_sent_until_it_is(store):
    events = now_records(6)
    store.add(events[:4], is_queued=True)
    store.add(events[4:])
    assert store.queued(3) == events[:3]
    store.sent([record.id for record in events[:3]])
    assert store.queued(3) == events[3:4]
    store.discard_queue()
    assert store.queued(3) == []
    assert len(store.since(0)) == 6


def test_the_file_is_the_user_s_alone(store, file):
    store.add(now_records(1))
    assert file.parent.stat().st_mode & 0o777 == 0o700
    for path in file.parent.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


def test_reading_makes_no_file(store, file):
    assert store.since(0) == []
    store.discard_queue()
    assert not file.exists()


@pytest.mark.parametrize("content", [b"no database" * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_set_aside(store, file, content):
    file.parent.mkdir()
    file.write_bytes(content)
    assert store.add(now_records(3)) == 3
    assert file.with_name("events.sqlite.aside").read_bytes() == content


def test_a_file_of_another_version_is_set_aside(store, file):
    file.parent.mkdir()
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert store.add(now_records(3)) == 3


def test_damage_while_it_is_open_costs_what_was_in_it_and_no_more(store, file):
    store.add(now_records(2000))
    store.close()
    file.write_bytes(file.read_bytes()[:4096] + b"\xaa" * 100_000)
    with contextlib.suppress(sqlite3.DatabaseError):
        store.since(0)
    assert store.add(now_records(3)) == 3
    assert len(store.since(0)) == 3


def test_another_process_that_sets_the_file_aside_is_followed(store, file):
    store.add(now_records(2))
    with EventStore(file) as other:
        other.add(now_records(1))
        other._set_aside()
        other.add(now_records(1))
        store.add(now_records(1))
        assert len(other.since(0)) == 2


def test_it_stays_within_its_age_and_its_size(file):
    with EventStore(file, max_bytes=400_000, max_age_s=1000) as store:
        now_s = time.time()
        store.add(records(100, now_s - 5000))
        store.add(records(100, now_s - 500))
        store.prune(now_s)
        assert len(store.since(0)) == 100
        for _ in range(40):
            store.add(records(200, now_s))
            store.prune(now_s)
        assert file.stat().st_size < 600_000
        assert len(store.since(0)) > 500


def test_many_write_at_once_and_nothing_is_lost(file):
    def write(_):
        with EventStore(file) as store:
            return sum(store.add(now_records(10)) for _ in range(5))

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(write, range(4))) == 200
    with EventStore(file) as store:
        assert len(store.since(0)) == 200


_WRITER = """
import sys
from pathlib import Path
from lsp_complete.telemetry.store import EventStore
from tests.telemetry.samples import records
store = EventStore(Path(sys.argv[1]))
while True:
    batch = records(10, 9e9)
    store.add(batch, is_queued=True)
    store.add(batch, is_queued=True)
    print(*(record.id for record in batch), flush=True)
"""


def test_a_killed_process_loses_nothing_that_it_had_written(file):
    child = [sys.executable, "-c", _WRITER, str(file)]
    with subprocess.Popen(child, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": "."}) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        told += process.stdout.readlines()[:-1]
    with EventStore(file) as store:
        kept = [record.id for record in store.queued(1_000_000)]
    assert len(kept) == len(set(kept))
    assert {one for line in told for one in line.split()} <= set(kept)
