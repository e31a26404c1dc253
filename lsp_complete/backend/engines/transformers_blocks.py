"""What the paged cache of transformers keeps of prompts: apart for each tenant, the oldest given up first, counted.

The library finds the blocks of a prompt by the hash of all tokens up to their ends. Three methods of its cache are
wrapped: the two that make hashes get another first token for each tenant, so that no key of one can be another's; and
the one that gives up all that no request uses gives up what was unused for longest instead. Nothing else is known here
of how blocks are laid out.
"""

import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

# Of the cache, so much is free after blocks were given up.
_FREE_SHARE = 0.5


def request_id(number: int, tenant: str) -> str:
    return f"{number}/{tenant}"


class KeptBlocks:
    """`found` is called, on the library's thread, with a request's id and how much of its prompt was there."""

    def __init__(self, cache: Any, found: Callable[[str, int], None]) -> None:
        self._cache, self._found = cache, found
        self._salts: dict[tuple[str, int], int] = {}
        self._search, self._mark = cache.search_prefix_match, cache.mark_complete_blocks
        cache.search_prefix_match, cache.mark_complete_blocks = self._search_salted, self._mark_salted
        cache.evict_cached_blocks = self._evict
        self.evictions, self.evicted_age_s = 0, 0.0
        for allocator in cache.cache_allocators.values():
            allocator.ledger.cached_blocks = _Dated()

    def num_tokens(self) -> int:
        ledgers = [(a.ledger, a.tokens_per_page) for a in self._cache.cache_allocators.values()]
        return sum(len(ledger.block_to_hash) * size for ledger, size in ledgers)

    def _search_salted(self, request_id: str, prompt: Sequence[int]) -> int:
        num_found: int = self._search(request_id, [self._salted(request_id, prompt[0]), *prompt[1:]])
        self._found(request_id, num_found)
        return num_found

    def _mark_salted(self, state: Any, complete_blocks: Any) -> None:
        first = state.initial_tokens[0]
        state.initial_tokens[0] = self._salted(state.request_id, first)
        try:
            self._mark(state, complete_blocks)
        finally:
            state.initial_tokens[0] = first

    def _salted(self, request_id: str, token: int) -> int:
        """A number that is no token, one for each tenant and token."""
        tenant = request_id.partition("/")[2]
        return self._salts.setdefault((tenant, token), -2 - len(self._salts))

    def _evict(self) -> bool:
        num = int(self._cache.num_blocks * (_FREE_SHARE - self._cache.compute_free_capacity()))
        gave_up = [self._evict_oldest(allocator, num) for allocator in self._cache.cache_allocators.values()]
        return any(gave_up)

    def _evict_oldest(self, allocator: Any, num: int) -> bool:
        """Blocks lie in the order in which they were last let go."""
        ledger = allocator.ledger
        kept = ledger.cached_blocks
        oldest = list(islice(kept, max(0, num)))
        if not oldest:
            return False
        self.evictions += 1
        self.evicted_age_s += time.monotonic() - kept.pop(oldest[0])
        for block in oldest[1:]:
            kept.pop(block)
        ledger.cached_blocks = dict.fromkeys(oldest)
        self._cache.pool.free_blocks(allocator.index, ledger.evict_cached_blocks())
        ledger.cached_blocks = kept
        return True


class _Dated(dict[int, Any]):
    """Blocks, and since when they have been unused, which the library does not keep."""

    def __setitem__(self, block: int, _: None) -> None:
        super().__setitem__(block, time.monotonic())
