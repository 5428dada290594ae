"""Which stored changes the changes of a new analysis are; pure."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from iotide_server.statistics.course import SAME_RUNS, LevelChange


@dataclass(frozen=True, slots=True)
class Matched:
    """The changes of an analysis beside the stored ones."""

    known: tuple[tuple[LevelChange, int], ...]  # each change that was stored, with the index of its row
    new: tuple[LevelChange, ...]  # those that were not
    gone: tuple[int, ...]  # indices of the rows that the analysis did not find


def match_changes(changes: Sequence[LevelChange], stored: Sequence[datetime], times: Sequence[datetime]) -> Matched:
    """Match each change with the nearest stored one within six points that no nearer change is.

    A stored change is where its first point would stand now among the sorted `times`, also if that point is gone.
    """
    places = [bisect_left(times, at) for at in stored]
    distances = sorted(
        (abs(change.index - place), number, row)
        for number, change in enumerate(changes)
        for row, place in enumerate(places)
        if abs(change.index - place) <= SAME_RUNS
    )
    rows: dict[int, int] = {}
    for _, number, row in distances:
        if number not in rows and row not in rows.values():
            rows[number] = row
    return Matched(
        known=tuple((change, rows[number]) for number, change in enumerate(changes) if number in rows),
        new=tuple(change for number, change in enumerate(changes) if number not in rows),
        gone=tuple(row for row in range(len(stored)) if row not in rows.values()),
    )
