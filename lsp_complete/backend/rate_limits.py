"""How often a tenant may ask. A bucket each, pure functions of a given time (seconds of any one clock)."""

from dataclasses import dataclass

from lsp_complete.protocol.errors import RateLimited

# So much of its rate a tenant may use at once: people type in bursts.
_BURST_S = 5.0


@dataclass(slots=True)
class _Bucket:
    left: float
    filled_at: float


class RateLimits:
    """`per_s` requests a second for each tenant; 0 for no limit."""

    def __init__(self, per_s: float) -> None:
        self._per_s = per_s
        self._most = max(1.0, per_s * _BURST_S)
        self._buckets: dict[str, _Bucket] = {}

    def take(self, tenant: str, now: float) -> None:
        """Raises RateLimited, with the time until the next request may come."""
        if not self._per_s:
            return
        bucket = self._buckets.setdefault(tenant, _Bucket(self._most, now))
        bucket.left = min(self._most, bucket.left + (now - bucket.filled_at) * self._per_s)
        bucket.filled_at = now
        if bucket.left < 1:
            raise RateLimited("the limit of this credential is reached", (1 - bucket.left) / self._per_s)
        bucket.left -= 1
