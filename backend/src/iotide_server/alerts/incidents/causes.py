"""The event that probably caused a change, and its text in few words; pure."""

import re
from collections.abc import Sequence
from typing import Final

from iotide_server.trends.models import ChangePoint, Event

_MOST_DIFFERENCES: Final = 2
_MOST_CHARACTERS: Final = 80
_DIFFERENCE: Final = re.compile(r"^(?P<name>[^:]+): (?P<before>.*?) -> (?P<after>.*)$")
_OPTION: Final = re.compile(r"[,\s]+")


def nearest_event(change: ChangePoint, events: Sequence[Event]) -> Event | None:
    """Return an event between the two points of the change, else the one nearest to them."""
    return min(events, key=lambda event: (_distance(change, event), -event.at.timestamp(), -event.id), default=None)


def short_event(text: str) -> str:
    """Return the values that differ: `target_scratch.mount_options: rsize=1048576 -> rsize=262144`."""
    parts = text.split("; ")
    shown = [_short_difference(part) for part in parts[:_MOST_DIFFERENCES]]
    more = [f"and {len(parts) - _MOST_DIFFERENCES} more"] if len(parts) > _MOST_DIFFERENCES else []
    words = "; ".join([*shown, *more])
    return words if len(words) <= _MOST_CHARACTERS else f"{words[:_MOST_CHARACTERS].rstrip()} ..."


def _distance(change: ChangePoint, event: Event) -> float:
    """Return seconds between the event and the gap of the change; 0 within it."""
    early = (change.previous_at - event.at).total_seconds()
    late = (event.since - change.at).total_seconds()
    return max(0.0, early, late)


def _short_difference(part: str) -> str:
    found = _DIFFERENCE.match(part)
    if found is None:
        return part
    before, after = _OPTION.split(found["before"]), _OPTION.split(found["after"])
    if len(before) == len(after) == 1:
        shown = _without_common_end(before[0], after[0])
    else:
        shown = (_only_in(before, after), _only_in(after, before))
    return f"{found['name']}: {shown[0]} -> {shown[1]}"


def _only_in(one: Sequence[str], other: Sequence[str]) -> str:
    return ",".join(option for option in one if option not in other) or "absent"


def _without_common_end(before: str, after: str) -> tuple[str, str]:
    """Cut the parts that both versions end in, such as `.el9_3.x86_64`."""
    one, other = before.split("."), after.split(".")
    while len(one) > 1 and len(other) > 1 and one[-1] == other[-1] and not one[-1].isdigit():
        one.pop()
        other.pop()
    return ".".join(one), ".".join(other)
