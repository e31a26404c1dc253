import pytest

from lsp_complete.backend.rate_limits import RateLimits
from lsp_complete.protocol.errors import RateLimited


def test_a_burst_passes_and_then_the_rate_holds():
    limits = RateLimits(2)
    for _ in range(10):
        limits.take("a", 0)
    with pytest.raises(RateLimited) as refused:
        limits.take("a", 0)
    assert refused.value.retry_after_s == 0.5
    limits.take("a", 0.5)


def test_one_tenant_takes_nothing_from_another():
    limits = RateLimits(0.1)
    limits.take("a", 0)
    limits.take("b", 0)
    with pytest.raises(RateLimited):
        limits.take("a", 1)


def test_without_a_rate_there_is_no_limit():
    limits = RateLimits(0)
    for _ in range(1000):
        limits.take("a", 0)
