"""What the shop sells."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Product:
    name: str
    price_cents: int
    weight_grams: int = 0


PRODUCTS = [
    Product("pencil", 120, 8),
    Product("notebook", 450, 210),
    Product("eraser", 95, 15),
]


def find_product(name: str) -> Product:
    for product in PRODUCTS:
        if product.name == name:
            return product
    raise KeyError(name)
