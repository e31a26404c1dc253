"""What became of a suggestion, told from the messages of each editor alone."""

from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.outcomes import Outcomes
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.reuse import suggestion_at
from lsp_complete.completion.trigger import place_of
from lsp_complete.protocol.events import Accepted, Hex, How, Part, Rejected, Rejection, Rung, Shown, TypedThrough
from lsp_complete.text.document import Document
from tests.completion.played_editor import (
    PROFILES,
    URI,
    Asked,
    Changed,
    Closed,
    Message,
    Said,
    Saved,
    Waited,
    play,
)
from tests.completion.played_user import session
from tests.completion.test_properties import BRACES, PYTHON

START = "total = \n"
ASKED = (1.0, Asked(8, "price + tax", "aa"))
MANY_KEYS = 70
# Half a thousand suggestions an editor, a second each.
NUM_FILES = 20
LEAST = 0.98


def outcome(trace, text=START):
    """Outcomes in short: kind, what kind, how much."""
    told: list[tuple[object, ...]] = []
    for event in play(text, [*trace, (trace[-1][0] + 2.0, Waited())]):
        match event:
            case Accepted(_, part, how, num):
                told.append((part, how, num))
            case TypedThrough(_, num):
                told.append(("typed", num))
            case Rejected(_, reason, num):
                told.append((reason, num))
    return told


def typed(texts, start_s=2.0, step_s=0.2):
    return [(start_s + number * step_s, Changed(text)) for number, text in enumerate(texts)]


def keys_before(text=START):
    """Keys typed in the first line, one a message, so that the editor is known to send each."""
    texts = ["a" * num + text for num in range(1, MANY_KEYS)]
    deleted = ["a" * num + text for num in range(MANY_KEYS - 2, -1, -1)]
    return [(0.2 * number, Changed(one)) for number, one in enumerate([*texts, *deleted])]


# One trace a client, as its messages come.

WHOLE = Changed("total = price + tax\n")


def test_vs_code_runs_the_command_after_the_change():
    trace = [ASKED, (2.0, WHOLE), (2.01, Said("aa", How.COMMAND))]
    assert outcome(trace) == [(Part.WHOLE, How.INFERRED, 11)]


def test_vs_code_asks_at_each_key_and_accepts_the_oldest_of_its_answers():
    trace = [
        ASKED,
        (1.2, Changed("total = p\n")),
        (1.2, Asked(9, "rice + tax", "bb")),
        (1.4, Changed("total = pr\n")),
        (1.4, Asked(10, "ice + tax", "cc")),
        (2.5, WHOLE),
        (2.51, Said("aa", How.COMMAND)),
    ]
    assert outcome(trace) == [(Part.WHOLE, How.INFERRED, 9)]


def test_vs_code_says_nothing_of_words_but_of_the_last():
    texts = ["total = price\n", "total = price +\n", "total = price + tax\n"]
    trace = [ASKED, *typed(texts, step_s=0.5), (3.01, Said("aa", How.COMMAND))]
    assert outcome(trace) == [
        (Part.WORD, How.INFERRED, 5),
        (Part.WORD, How.INFERRED, 7),
        (Part.WHOLE, How.INFERRED, 11),
    ]


@pytest.mark.parametrize("chosen", ["price", "pricetax"])
def test_vs_code_tells_of_the_pop_up_in_a_question_and_what_is_taken_from_it_is_typed(chosen):
    """Though the question is overtaken before it is answered."""
    trace: list[tuple[float, Message]] = [
        *((at_s + 1.0, message) for at_s, message in [(0.0, ASKED[1]), *typed(["total = p\n", "total = pr\n"], 0.5)]),
        (1.8, Asked(10, chosen=(8, chosen))),
        (3.0, Changed(f"total = {chosen}\n")),
        (3.1, Asked(8 + len(chosen))),
        (4.0, Changed(f"total = {chosen}!\n")),
    ]
    assert outcome(trace) == [(Rejection.OTHER_TEXT, 5)]


def test_vs_code_says_nothing_of_a_word_that_ends_one_begun_by_hand_and_it_is_accepted_all_the_same():
    trace: list[tuple[float, Message]] = [
        (1.0, Asked(8, "price) + 1", "aa", 1)),
        (1.5, Changed("total = p)\n")),
        (1.6, Asked(9, chosen=(8, "pride"))),
        (3.0, Changed("total = price)\n")),
        (4.0, Changed("total = price!)\n")),
    ]
    assert outcome(trace, "total = )\n") == [(Part.WORD, How.INFERRED, 5)]  # with the bracket that stands there


def test_what_is_taken_from_a_pop_up_before_a_bracket_that_the_suggestion_has_too_is_typed():
    trace: list[tuple[float, Message]] = [
        (1.0, Asked(8, "price) + 1", "aa", 2, 5, chosen=(8, "price"))),
        (3.0, Changed("total = price)\n")),
        (4.0, Changed("total = price!)\n")),
    ]
    assert outcome(trace, "total = p)\n") == [(Rejection.OTHER_TEXT, 6)]


def test_emacs_lists_a_word_from_a_pop_up_among_the_keys_of_a_message_and_it_is_typed():
    keys = ("p", "r", "price", " ")
    trace = [ASKED, (2.5, Changed("total = price \n", keys)), (4.0, Changed("total = price !\n"))]
    assert outcome(trace) == [(Rejection.OTHER_TEXT, 6)]


def test_neovim_gathers_keys_and_they_are_not_taken_for_words():
    """As 0.12.4 sends them."""
    trace = [
        ASKED,
        (1.1, Changed("total = p\n")),
        (1.25, Changed("total = pric\n", ("r", "i", "c"))),
        (1.4, Changed("total = price +\n", ("e", " ", "+"))),
        (1.55, Changed("total = price + ta\n", (" ", "t", "a"))),
        (1.7, Changed("total = price + tax\n")),
    ]
    assert outcome(trace) == [("typed", 11)]


def test_neovim_takes_the_indentation_away_and_asks_there():
    """As 0.12.4 sends what Return and Ctrl-U do."""
    trace = [
        (1.0, Asked(10, "return x", "aa")),
        (1.1, Changed("if x:\n\n", ("", "", "", ""))),
        (1.3, Asked(6)),
        (2.0, Changed("if x:\ny\n")),
    ]
    assert outcome(trace, "if x:\n    \n") == [(Rejection.OTHER_TEXT, 0)]


def test_coc_gathers_keys_into_one_text_and_they_are_not_taken_for_words():
    begun, word, other = (Changed(f"total = {text}\n") for text in ("p", "price", "price!"))
    assert outcome([ASKED, (2.0, begun), (3.0, word), (4.0, other)]) == [(Rejection.OTHER_TEXT, 5)]
    assert outcome([ASKED, (3.0, word), (4.0, other)]) == [(Part.WORD, How.INFERRED, 5)]


def test_an_editor_that_confirms_parts_is_not_believed_to_accept_one_without_saying_so():
    """And it gathers up to a pause."""
    first = [ASKED, (2.0, Changed("total = price\n")), (2.01, Said("aa", How.NOTICE)), (5.0, Changed(START))]
    second = [(9.0, Asked(8, "fee + tax", "bb")), (12.0, Changed("total = fee\n")), (19.0, Changed("total = fees\n"))]
    assert outcome([*first, *second])[-1] == (Rejection.OTHER_TEXT, 3)


def test_the_same_text_is_the_same_suggestion_however_it_replaces_what_the_editor_has_closed():
    trace: list[tuple[float, Message]] = [
        (1.0, Asked(2, "a, b)", "aa", 1)),
        (2.0, Changed("f(a)\n")),
        (2.1, Asked(3, ", b", "bb")),
        (3.0, Changed("f(a, b)\n")),
    ]
    shown = [event for event in play("f()\n", trace) if isinstance(event, Shown)]
    assert [event.is_new for event in shown] == [True, False]


# What holds in all of them.


def test_an_editor_that_confirms_is_not_believed_to_accept_without_saying_so():
    """And the same text is then typed, in one message after a pause."""
    first = [ASKED, (2.0, WHOLE), (2.01, Said("aa", How.COMMAND))]
    second = [(5.0, Changed(START)), (9.0, Asked(8, "price + tax", "bb"))]
    for at_s in (12.0, 9.1):  # typed up to a pause; pasted
        assert outcome([*first, *second, (at_s, WHOLE)])[-1] == ("typed", 11)


def test_words_then_backspace_then_a_word_again_are_not_counted_twice():
    texts = ["total = price\n", "total = price +\n", "total = price\n", "total = price +\n"]
    trace = [ASKED, *typed(texts, step_s=0.5), (9.0, Changed("total = price + 1\n"))]
    assert outcome(trace) == [(Part.WORD, How.INFERRED, 5), (Part.WORD, How.INFERRED, 7)]


def test_a_line_of_several_is_told_apart_from_a_word():
    trace = [(1.0, Asked(0, "a = 1\nb = 2\n", "aa")), (2.0, Changed("a = 1\n"))]
    assert outcome(trace, "") == [(Part.LINE, How.INFERRED, 6)]


def test_return_with_the_indentation_of_the_editor_is_one_key():
    trace = [
        *keys_before("if x:\n"),
        (60.0, Asked(5, "\n        return x", "aa")),
        (61.0, Changed("if x:\n        \n")),
        (62.0, Changed("if x:\n        y\n")),
    ]
    assert outcome(trace, "if x:\n") == [(Rejection.OTHER_TEXT, 9)]


def test_brackets_that_the_editor_closes_are_typed():
    trace = [(1.0, Asked(0, "sum(a)", "aa")), *typed(["s", "su", "sum", "sum()", "sum(a)"])]
    assert outcome(trace, "") == [("typed", 6)]


def test_what_is_typed_right_behind_an_acceptance_belongs_to_somebody_else():
    trace = [ASKED, (2.0, Changed("total = price + tax * 2\n"))]
    assert outcome(trace) == [(Part.WHOLE, How.INFERRED, 11)]


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        ([Changed("total = q\n")], Rejection.OTHER_TEXT),
        ([Changed("")], Rejection.DELETED),
        ([Asked(8, "something_else()", "bb"), Changed("total = something_else()\n")], Rejection.REPLACED),
        ([Asked(9)], Rejection.MOVED),
        ([Closed()], Rejection.CLOSED),
    ],
)
def test_a_rejection_has_its_reason(then, reason):
    trace = [ASKED, *((2.0 + number, message) for number, message in enumerate(then))]
    told = [one for one in outcome(trace) if isinstance(one[0], Rejection)]
    assert told[:1] == [(reason, 0)]


def test_the_same_suggestion_shown_again_goes_on():
    trace: list[tuple[float, Message]] = [ASKED, (2.0, Asked(8, "price + tax", "bb")), (3.0, WHOLE)]
    assert outcome(trace) == [(Part.WHOLE, How.INFERRED, 11)]
    shown = [event for event in play(START, trace) if isinstance(event, Shown)]
    assert [event.is_new for event in shown] == [True, False]


def test_an_edit_elsewhere_moves_the_suggestion():
    trace = [ASKED, (2.0, Changed("import tax\n" + START)), (3.0, Changed("import tax\ntotal = price + tax\n"))]
    assert outcome(trace) == [(Part.WHOLE, How.INFERRED, 11)]
    trace = [ASKED, (2.0, Changed(START + "y\nx\n")), (3.0, Changed("total = price + tax\ny\nx\n"))]
    assert outcome(trace, START + "y\n") == [(Part.WHOLE, How.INFERRED, 11)]


def test_an_acceptance_that_is_undone_at_once_was_none():
    accepted = (Part.WHOLE, How.INFERRED, 11)
    assert outcome([ASKED, (2.0, WHOLE), (5.0, Changed(START))]) == [accepted, (Rejection.UNDONE, 0)]
    assert outcome([ASKED, (2.0, WHOLE), (50.0, Changed(START))]) == [accepted]


def test_an_answer_for_a_text_that_has_changed_is_not_shown():
    outcomes, document = Outcomes(), Document(URI, START)
    outcomes.changed(document, Document(URI, "total = x\n"), 1.0)
    suggestion = suggestion_at(document, 8, Insertion("price"))
    assert outcomes.shown(document, suggestion, Shown(Hex("aa"), Rung.NETWORK, 5), 1.1) == []


def test_a_suggestion_that_nobody_knows_is_passed_over():
    assert Outcomes().confirmed(Hex("ff"), How.COMMAND, 1.0) == []
    assert outcome([ASKED, (2.0, Said("ff", How.COMMAND)), (3.0, WHOLE)]) == [(Part.WHOLE, How.INFERRED, 11)]


def test_what_is_sent_away_by_a_key_is_not_wanted_there():
    outcomes, document = Outcomes(), Document(URI, START)
    outcomes.shown(document, suggestion_at(document, 8, Insertion("price")), Shown(Hex("aa"), Rung.NETWORK, 5), 1.0)
    assert outcomes.dismissed(Hex("ff"), 2.0) == []
    told = [*outcomes.dismissed(Hex("aa"), 2.0), *outcomes.tick(4.0)]
    assert [event.reason for event in told if isinstance(event, Rejected)] == [Rejection.DISMISSED]
    assert outcomes.rejected_at is not None


def test_what_the_user_made_of_the_last_ones_is_known():
    outcomes, document = Outcomes(), Document(URI, START)
    for number in range(2):
        suggestion = suggestion_at(document, 8, Insertion("price"))
        outcomes.shown(document, suggestion, Shown(Hex(f"{number}"), Rung.NETWORK, 5), number * 10.0)
        other = Document(URI, document.text.replace("\n", "x\n", 1))
        outcomes.changed(document, other, number * 10.0 + 1)
        outcomes.changed(other, document, number * 10.0 + 2)
        outcomes.tick(number * 10.0 + 5)
    assert (outcomes.num_rejected, outcomes.has_accepted) == (2, False)
    assert outcomes.rejected_at == place_of(Cursor(document, 8))
    outcomes.tick(60.0)
    assert outcomes.rejected_at is None


def test_who_looks_elsewhere_and_comes_back_has_not_said_no():
    outcomes, document = Outcomes(), Document(URI, START + "\n\n")
    outcomes.shown(document, suggestion_at(document, 8, Insertion("price")), Shown(Hex("aa"), Rung.NETWORK, 5), 0.0)
    outcomes.asked(document, len(document.text), 1.0)
    assert [type(event) for event in outcomes.tick(3.0)] == [Rejected]
    assert outcomes.rejected_at is None


# Against the log of a user who has been played.


def classes(events):
    """Request -> what became of it, as the log has it."""
    found = defaultdict(set)
    for event in events:
        match event:
            case Accepted(request, part):
                found[request].add("whole" if part is Part.WHOLE else "part")
            case TypedThrough(request):
                found[request].add("typed")
            case Rejected(request, reason) if reason is not Rejection.UNDONE:
                found[request].add("rejected")
    order = ("whole", "part", "typed", "rejected")
    return {request: next(kind for kind in order if kind in kinds) for request, kinds in found.items()}


def scores(told, log, kinds):
    """Precision and recall."""
    is_right = Counter((told.get(request, "") in kinds, truth in kinds) for request, truth in log.items())
    both = is_right[True, True]
    return both / (both + is_right[True, False]), both / (both + is_right[False, True])


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_a_session_is_told_as_the_user_logs_it(profile):
    events, user = session(profile, [PYTHON + BRACES] * NUM_FILES, seed=0)
    told, log = classes(events), user.log
    assert len(log) > 280
    parts = [{"part"}] if "word" in profile.accepts else []
    for kinds in ({"whole"}, {"whole", "part"}, {"typed"}, {"rejected"}, {"rejected", "typed"}, *parts):
        assert min(scores(told, log, kinds)) >= LEAST, kinds
    _told_once(events)


def _told_once(events):
    """Each suggestion ends once, and what is accepted of it only grows."""
    accepted: dict[Hex, list[int]] = defaultdict(list)
    ends: Counter[Hex] = Counter()
    for event in events:
        match event:
            case Accepted(request, part, _, num):
                accepted[request].append(num)
                ends[request] += part is Part.WHOLE
            case TypedThrough(request) | Rejected(request):
                ends[request] += not (isinstance(event, Rejected) and event.reason is Rejection.UNDONE)
    assert max(ends.values()) == 1
    assert all(sorted(set(counts)) == counts for counts in accepted.values())


TEXT = st.text(st.sampled_from("ab(\n\r é😀"), max_size=8)
MESSAGES = st.one_of(
    st.builds(Changed, TEXT, st.lists(TEXT, max_size=3).map(tuple)),
    st.builds(Asked, st.integers(0, 9), TEXT, st.sampled_from(["aa", "bb", "cc"]), st.integers(0, 2)),
    st.builds(Said, st.sampled_from(["aa", "bb"]), st.sampled_from(How)),
    st.builds(Saved),
    st.builds(Closed),
    st.builds(Waited),
)


@given(TEXT, st.lists(st.tuples(st.floats(0, 5), MESSAGES), max_size=12))
def test_nothing_that_an_editor_sends_raises(text, steps):
    now_s, trace = 0.0, []
    for step_s, message in steps:
        now_s += step_s
        trace.append((now_s, message))
    play(text, trace)
