"""A shopping cart."""

from dataclasses import dataclass, field

from shop.catalogue import Product
from shop.discounts import apply_discount


@dataclass
class Line:
    product: Product
    quantity: int = 1

    def total_cents(self) -> int:
        return self.product.price_cents * self.quantity


@dataclass
class Cart:
    lines: list[Line] = field(default_factory=list)

    def add(self, product: Product, quantity: int = 1) -> None:
        self.lines.append(Line(product, quantity))

    def total_cents(self) -> int:
        """Sum of the totals of all lines."""
        


def format_price(cents: int) -> str:
    return f"{cents / 100:.2f} EUR"
