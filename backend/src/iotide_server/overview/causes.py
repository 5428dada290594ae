"""Short cause of a change: the event nearest to it."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

MOST_CHARACTERS: Final = 60

_NAMED_FIRST: Final = ("kernel.release", "mount.options")
_BUILD: Final = re.compile(r"^\d+(?:\.\d+)*-\d+")
"""Version and build of a kernel, without the distribution's suffix."""


class KnownEvent(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def since(self) -> datetime: ...
    @property
    def at(self) -> datetime: ...
    @property
    def text(self) -> str: ...


def nearest_cause(events: Sequence[KnownEvent], previous_at: datetime, at: datetime) -> str | None:
    """Return the cause of a change between two points, such as `kernel 5.14.0-427`; None without an event.

    A user's event comes before a detected one at the same distance.
    """
    if not events:
        return None

    def distance(event: KnownEvent) -> tuple[timedelta, bool, timedelta]:
        apart = max(previous_at - event.at, event.since - at, timedelta(0))
        return apart, event.kind != "manual", abs(event.at - at)

    nearest = min(events, key=distance)
    return _cut(nearest.text if nearest.kind == "manual" else shortened(nearest.text))


def shortened(differences: str) -> str:
    """Return one difference of an environment, such as `kernel 5.14.0-427` or `mount rsize=262144`."""
    known = [part.partition(": ") for part in differences.split("; ") if " -> " in part]
    if not known:
        return differences
    name, _, values = min(known, key=lambda one: _NAMED_FIRST.index(one[0]) if one[0] in _NAMED_FIRST else 9)
    before, _, after = values.partition(" -> ")
    if name == "kernel.release":
        return f"kernel {_build(before, after)}"
    if name == "mount.options":
        return f"mount {_other_options(before, after)}"
    return f"{name.removesuffix('.release').removesuffix('.version').replace('.', ' ').replace('_', ' ')} {after}"


def _build(before: str, after: str) -> str:
    short = _BUILD.match(after)
    if short is None or before.startswith(short[0]):
        return after
    return short[0]


def _other_options(before: str, after: str) -> str:
    had, has = before.split(","), after.split(",")
    added = [option for option in has if option not in had]
    return " ".join(added) or f"without {' '.join(option for option in had if option not in has)}"


def _cut(words: str) -> str:
    return words if len(words) <= MOST_CHARACTERS else f"{words[: MOST_CHARACTERS - 1].rstrip()}…"
