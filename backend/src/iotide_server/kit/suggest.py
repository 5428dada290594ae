"""Names that nobody knows: where they stand in a request, and what to write instead."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

K = TypeVar("K")
T = TypeVar("T")

_MOST_SHOWN = 12


def choose_from(given: str, known: Collection[str]) -> str:
    """What to write instead of `given`: the name that was probably meant, else the names there are."""
    close = get_close_matches(given, known, n=1)
    if close:
        return f"did you mean {close[0]}?"
    if not known:
        return "there are none yet"
    return f"choose one of {first_of(sorted(known), _MOST_SHOWN)}"


def first_of(names: Sequence[str], most: int) -> str:
    """Name the first of many, for instance `c01, c02 and 5 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def in_order(found: Mapping[K, T], wanted: Iterable[K], field: str, missing: Callable[[K, str], Exception]) -> list[T]:
    """Return what was found in the order in which it was asked for.

    What was not found raises what `missing` makes of it and of its place in `field`, such as `nodes[1]`.
    """
    in_their_order = []
    for index, key in enumerate(wanted):
        if key not in found:
            raise missing(key, f"{field}[{index}]")
        in_their_order.append(found[key])
    return in_their_order
