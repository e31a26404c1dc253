from lsp_complete.backend.sessions import LINGER_S, Sessions


def test_a_service_that_nobody_uses_is_idle_after_a_while():
    sessions = Sessions(idle_s=100, now=0)
    assert not sessions.idle(99)
    assert sessions.idle(100)


def test_use_puts_the_end_off():
    sessions = Sessions(idle_s=100, now=0)
    sessions.seen("a", 50)
    assert not sessions.idle(149)
    assert sessions.idle(150)


def test_sessions_that_were_idle_for_too_long_are_forgotten():
    sessions = Sessions(idle_s=100, now=0)
    for number in range(1000):
        sessions.seen(str(number), number)
    assert len(sessions._last_seen) == 100


def test_the_last_good_bye_ends_it_soon():
    sessions = Sessions(idle_s=100, now=0)
    sessions.seen("a", 50)
    sessions.end("a", 60)
    assert not sessions.idle(60 + LINGER_S - 0.1)
    assert sessions.idle(60 + LINGER_S)


def test_a_good_bye_leaves_the_other_sessions_alone():
    sessions = Sessions(idle_s=100, now=0)
    sessions.seen("a", 50)
    sessions.seen("b", 55)
    sessions.end("a", 60)
    assert not sessions.idle(154)
    assert sessions.idle(155)
