"""Which sessions are alive, so that a service shared by editors stops when the last of them is gone.

Pure functions of a given time (seconds of any one clock).
"""

# A session that says good-bye is often followed by the same editor starting again.
LINGER_S = 2.0


class Sessions:
    def __init__(self, idle_s: float, now: float) -> None:
        self._idle_s = idle_s
        self._last_seen: dict[str, float] = {}
        self._stop_at = now + idle_s

    def seen(self, session_id: str, now: float) -> None:
        self._last_seen = {name: when for name, when in self._last_seen.items() if now - when < self._idle_s}
        self._last_seen[session_id] = now
        self._stop_at = max(self._stop_at, now + self._idle_s)

    def end(self, session_id: str, now: float) -> None:
        self._last_seen.pop(session_id, None)
        latest = max(self._last_seen.values(), default=None)
        self._stop_at = max(now + LINGER_S, latest + self._idle_s if latest is not None else 0.0)

    def idle(self, now: float) -> bool:
        """No session has been seen for `idle_s`, or the last one has said good-bye."""
        return now >= self._stop_at
