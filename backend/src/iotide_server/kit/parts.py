"""Handles what is too much to be held at once, part by part."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def in_parts(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` items, the last one of those that are left; items are taken when their part is asked for.

    Python 3.12 has it as `itertools.batched`.
    """
    iterator = iter(items)
    while part := list(islice(iterator, size)):
        yield part
