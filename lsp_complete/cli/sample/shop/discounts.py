"""What a sale takes off a price."""


def apply_discount(total_cents: int, *, percent_off: int, least_cents: int = 0) -> int:
    """The total with the discount taken off; nothing below `least_cents` is sold."""
    return max(least_cents, total_cents * (100 - percent_off) // 100)
