"""End of a configuration with adaptive repeats. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from iotide_server.statistics.adaptive import median_interval, next_look, resembles_before
from iotide_wire.units import format_percent


class EndOfRepeats(StrEnum):
    """Why a cell gets no more repeats.

    NARROW: the interval is as narrow as wanted. MOST: the plan allows no more runs. BUDGET: the time is used up.
    FAILED: most of its runs are not valid. GONE: a node or target was retired or unmounted. CANCELLED: a user did it.
    """

    NARROW = "narrow"
    MOST = "most"
    BUDGET = "budget"
    FAILED = "failed"
    GONE = "gone"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class AdaptiveRule:
    until_ratio: float
    most: int  # runs of a cell, valid or not


@dataclass(frozen=True, slots=True)
class CellRuns:
    """Runs of a cell after a round, all ended."""

    cell_id: int
    run_count: int
    looked_at: int  # valid runs at its last look
    values: Sequence[float]  # of the valid runs, in the order of their start


@dataclass(frozen=True, slots=True)
class Step:
    """More runs of a cell, or its end."""

    looked_at: int  # as before if this was no look
    half_width_ratio: float | None
    resembles_before: bool
    more: int
    ended_because: EndOfRepeats | None


def step_after(cell: CellRuns, rule: AdaptiveRule, *, is_out_of_time: bool = False) -> Step:
    """Look at the interval if the cell has enough valid runs for its next look, or may get none.

    Otherwise further runs replace those that failed or were rejected, unless these are the most.
    """
    valid = len(cell.values)
    missing = (next_look(cell.looked_at, rule.most) or rule.most) - valid
    left = 0 if is_out_of_time else rule.most - cell.run_count
    if missing > 0 and left > 0:
        if cell.run_count > 2 * valid:
            return _ended(cell, EndOfRepeats.FAILED)
        return Step(cell.looked_at, _half_width(cell.values), resembles_before(cell.values), min(missing, left), None)
    half_width = _half_width(cell.values)
    if half_width is not None and half_width <= rule.until_ratio:
        return _ended(cell, EndOfRepeats.NARROW)
    if is_out_of_time:
        return _ended(cell, EndOfRepeats.BUDGET)
    look = next_look(valid, rule.most)
    if left <= 0 or look is None:
        return _ended(cell, EndOfRepeats.MOST if cell.run_count <= 2 * valid else EndOfRepeats.FAILED)
    return Step(valid, half_width, resembles_before(cell.values), min(look - valid, left), None)


def _ended(cell: CellRuns, because: EndOfRepeats) -> Step:
    return Step(len(cell.values), _half_width(cell.values), resembles_before(cell.values), 0, because)


def _half_width(values: Sequence[float]) -> float | None:
    interval = median_interval(values)
    return interval.half_width_ratio if interval is not None and isfinite(interval.half_width_ratio) else None


def words_of(because: EndOfRepeats | None, runs: int, half_width_ratio: float | None, *, resembles: bool) -> str:
    """Return e.g. `stopped after 12 runs: ±2.4 %`."""
    width = "no interval" if half_width_ratio is None else f"±{format_percent(half_width_ratio)}"
    counted = f"{runs} run" if runs == 1 else f"{runs} runs"
    match because:
        case None:
            words = f"{width} after {counted}" if runs else "not enough runs yet"
        case EndOfRepeats.NARROW:
            words = f"stopped after {counted}: {width}"
        case EndOfRepeats.MOST:
            words = f"{counted}, still {width}"
        case EndOfRepeats.BUDGET:
            words = f"budget used up after {counted}: {width}"
        case EndOfRepeats.FAILED:
            words = f"stopped with {runs} valid: most runs failed or were rejected"
        case EndOfRepeats.GONE:
            words = f"stopped after {counted}: its node or target is gone"
        case EndOfRepeats.CANCELLED:
            words = f"cancelled after {counted}: {width}"
    return f"{words}; runs resemble the ones before, so the interval is too narrow" if resembles else words


def progress_words(ends: Mapping[EndOfRepeats, int], open_cells: int, until_ratio: float) -> str:
    """Return e.g. `28 of 32 configurations reached ±3 %, 3 are still wider after all runs, 1 is open`."""
    total = open_cells + sum(ends.values())
    named = "configuration" if total == 1 else "configurations"
    parts = [f"{ends[EndOfRepeats.NARROW]} of {total} {named} reached ±{format_percent(until_ratio)}"]
    for count, words in (
        (ends[EndOfRepeats.MOST], "still wider after all runs"),
        (ends[EndOfRepeats.BUDGET], "still wider at the end of the budget"),
        (ends[EndOfRepeats.FAILED], "stopped because most runs failed or were rejected"),
        (ends[EndOfRepeats.GONE], "stopped because a node or target is gone"),
        (ends[EndOfRepeats.CANCELLED], "cancelled"),
        (open_cells, "open"),
    ):
        if count:
            parts.append(f"{count} {'is' if count == 1 else 'are'} {words}")
    return ", ".join(parts)
