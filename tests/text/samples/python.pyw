"""Shapes — drawn as ▲ and 😀."""

import math
import os.path as osp
from collections.abc import Iterable, Sequence as Seq

from . import colours
from .base import *

MAX_SIDES: int = 64
origin = (0, 0)


class Shape(colours.Coloured, Drawable, metaclass=Registry):
    """A closed figure.

    It has sides.
    """

    sides: int = 0
    UNIT = "cm"

    def __init__(self, name: str) -> None:
        self.name = name
        self._sizes: list[Size] = []
        self.name = name.strip()

    # The area, in square units.
    @property
    def area(self) -> float:
        return math.hypot(*self.sizes()) * scale


async def draw(
    shapes: Iterable[Shape],
    *,
    limit: int | None = None,
) -> "Canvas":
    'Draws all 😀 shapes.'
    canvas = Canvas(limit=MAX_SIDES)

    def place(shape: Shape):
        canvas.add(shape)

    for shape in shapes:
        place(shape)
    return canvas


type Pair[T] = tuple[T, T]
