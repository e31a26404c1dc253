from dataclasses import replace

import pytest

from lsp_complete.backend.response_cache import Answer, ResponseCache, key_of
from lsp_complete.protocol.completion import Finish, Mode, Snippet
from tests.fakes import request

ANSWER = Answer("x", Finish.STOP)
KEY = key_of(request(), "model", "tenant")


def test_an_answer_is_known_until_its_time_is_over():
    cache = ResponseCache(30)
    cache.put(KEY, ANSWER, 100)
    assert cache.get(KEY, 129) == ANSWER
    assert cache.get(KEY, 130) is None


@pytest.mark.parametrize("finish", [Finish.DEADLINE, Finish.FILTERED])
def test_what_was_cut_short_is_not_kept(finish):
    cache = ResponseCache(30)
    cache.put(KEY, Answer("x", finish), 0)
    assert cache.get(KEY, 1) is None


def test_it_stays_small_and_can_be_off():
    cache = ResponseCache(30)
    for number in range(2000):
        cache.put(number.to_bytes(4, "big"), ANSWER, 0)
    assert len(cache._answers) == 512
    off = ResponseCache(0)
    off.put(KEY, ANSWER, 0)
    assert off.get(KEY, 0) is None


def test_whatever_changes_the_answer_changes_the_key():
    asked = request()
    others = [
        key_of(asked, "other", "tenant"),
        key_of(asked, "model", "other"),
        key_of(asked, "model", "tenant", ("\n",)),
        *(
            key_of(replace(asked, **changed), "model", "tenant")
            for changed in (
                {"prefix": "ab", "suffix": ""},
                {"prefix": "", "suffix": "ab"},
                {"path": "a"},
                {"mode": Mode.LINE},
                {"max_tokens": 1},
                {"snippets": (Snippet("a", "b"),)},
            )
        ),
    ]
    assert len({KEY, *others}) == len(others) + 1


def test_who_asks_and_how_late_it_is_does_not():
    other = replace(request(), request_id="r2", session_id="s2", deadline_ms=5)
    assert key_of(other, "model", "tenant") == KEY
