"""A replay from end to end, on the real language server within this process."""

import random
from pathlib import Path

import pytest

from lsp_complete.evaluation.replay import report, sources
from lsp_complete.evaluation.replay.log import Log, Outcome
from lsp_complete.evaluation.replay.profiles import PROFILES
from lsp_complete.evaluation.replay.run import Plan, replay
from lsp_complete.evaluation.trees import TreeError
from lsp_complete.protocol.events import Accepted, Hex, How, Part, Record, Rung, Shown

FUNCTION = '''
def total_{0}(orders: list[int], limit: int = {0}) -> int:
    """The sum of the orders, é at most."""
    found = 0
    for order in orders:
        if order > limit:
            found += min(order, limit)
    return found


class Basket{0}:
    items = {{"one": 1, "two": [2, 3]}}

    def add(self, name: str, price: int) -> None:
        self.items[name] = price
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for number in range(3):
        text = '"""Orders."""\n' + "".join(FUNCTION.format(number * 10 + part) for part in range(4))
        (tmp_path / f"orders_{number}.py").write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize("name", PROFILES)
def test_each_editor_is_served(tree: Path, name: str) -> None:
    heard: list[tuple[int, int]] = []
    log = replay(Plan(tree, num_keys=250, profile=PROFILES[name]), lambda *keys: heard.append(keys))
    assert heard[-1][1] == 250
    assert log.num_keys >= 100
    assert log.num_requests > 0
    assert log.generated_tokens > 0
    assert report.headline(report.report(log)).keys() >= {"local_share", "flicker", "wrong_joins", "felt_p99_ms"}


def test_what_is_written_is_what_was_meant(tree: Path) -> None:
    """The user compares the buffer with his intent at each key, and raises where they part."""
    tasks = sources.tasks(tree, random.Random(7), 10_000)
    log = replay(Plan(tree, num_keys=10_000))
    written = sum(len(change.text) for task in tasks for change in task.changes)
    assert 0 < log.num_keys < 10_000
    assert log.drawn
    assert log.num_keys + log.num_saved > written / 2


def shown(request: str, *, is_new: bool = True) -> Record:
    return Record(Hex("ab"), Shown(Hex(request), Rung.NETWORK, 5, is_new=is_new))


def accepted(request: str) -> Record:
    return Record(Hex("ab"), Accepted(Hex(request), Part.WHOLE, How.INFERRED, 5))


def test_an_acceptance_counts_for_the_suggestion_that_it_goes_on_from() -> None:
    log = Log(records=[shown("a1"), shown("a2", is_new=False), accepted("a1")], outcomes={"a2": Outcome.WHOLE})
    assert report.acceptances(log) == ({"a1"}, {"a1"})


def test_logs_add_up() -> None:
    one, other = Log(num_keys=1, outcomes={"a": Outcome.PART}), Log(num_keys=2, cold={"b"})
    one.add(other)
    assert (one.num_keys, one.outcomes, one.cold) == (3, {"a": Outcome.PART}, {"b"})


def test_a_tree_without_a_file_to_type_says_so(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    with pytest.raises(TreeError, match="nothing to type"):
        replay(Plan(tmp_path, num_keys=10))
