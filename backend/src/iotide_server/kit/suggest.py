"""Suggestions for unknown names."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

K = TypeVar("K")
T = TypeVar("T")

_MOST_SHOWN = 12


def choose_from(given: str, known: Collection[str]) -> str:
    """Return a remedy: the closest known name, or a list."""
    close = get_close_matches(given, known, n=1)
    if close:
        return f"did you mean {close[0]}?"
    if not known:
        return "there are none yet"
    return f"choose one of {first_of(sorted(known), _MOST_SHOWN)}"


def first_of(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def in_order(found: Mapping[K, T], wanted: Iterable[K], field: str, missing: Callable[[K, str], Exception]) -> list[T]:
    """Return the found values in the order of `wanted`.

    For a missing key, raise `missing(key, position)`, such as `nodes[1]`.
    """
    in_their_order = []
    for index, key in enumerate(wanted):
        if key not in found:
            raise missing(key, f"{field}[{index}]")
        in_their_order.append(found[key])
    return in_their_order
