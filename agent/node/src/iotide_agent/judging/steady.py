"""STEADY: the rate of a data phase changed while it was measured."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, linear_regression
from typing import Final

from iotide_agent.judging.phases import LOAD, STORAGE, ParallelSteps, Row, operations_of
from iotide_wire.measured import Answer, Check, FlagCode
from iotide_wire.units import format_percent, format_rate, format_seconds, format_shift

WINDOWS: Final = 5
WINDOW_SECONDS: Final = 5
"""The kernel's writeback period. Shorter windows would show when dirty pages were written."""
RANGE_LIMIT: Final = 0.20
SLOPE_LIMIT: Final = 0.10


def judge_steady(phase: ParallelSteps) -> list[Answer]:
    """Mark a phase whose five windows range over more than 20 % of their mean, or rise or fall by more than 10 %.

    The limits are from SNIA's Solid State Storage Performance Test Specification. The windows divide the seconds in
    which all steps ran. Phases below 25 seconds and uneven loads are not judged. In a sequence of operations, those of
    25 seconds are.

    The rate is that of the disk or server if its bytes are about those of the phase: a page cache takes bytes in
    bursts, and the load does not see a final fsync. Otherwise it is that of the load's own calls.
    """
    if not all(outcome.step.is_even for outcome in phase.outcomes):
        long = operations_of(phase, WINDOWS * WINDOW_SECONDS)
        return [answer for operation in long for answer in _judge(operation, operation.rows)]
    return _judge(phase, phase.shared_rows)


def _judge(phase: ParallelSteps, shared_rows: tuple[Row, ...]) -> list[Answer]:
    shared, rows = replace(phase, rows=shared_rows), len(shared_rows)
    if rows < WINDOWS * WINDOW_SECONDS:
        return [phase.not_judged(Check.STEADINESS, f"{rows} s, {WINDOWS * WINDOW_SECONDS} needed")]
    rates = shared.values(*(STORAGE if phase.explains(phase.values(*STORAGE)) else LOAD))
    if rates is None or sum(rates) <= 0:
        return [phase.not_judged(Check.STEADINESS, "no counter recorded bytes of the load")]
    means = _windows(rates)
    mean = fmean(means)
    spread = (max(means) - min(means)) / mean
    change = linear_regression(range(WINDOWS), means).slope * (WINDOWS - 1) / mean
    if spread <= RANGE_LIMIT and abs(change) <= SLOPE_LIMIT:
        return []
    shown = ", ".join(map(format_rate, means))
    measured = f"windows of {format_seconds(rows / WINDOWS)} at {shown}: "
    measured += f"range {format_percent(spread)} of the mean, slope {format_shift(1 + change)}"
    limit = f"range {format_percent(RANGE_LIMIT)}, slope {format_percent(SLOPE_LIMIT)} (SNIA)"
    return [phase.marked(FlagCode.STEADY, measured, limit)]


def _windows(rates: Sequence[float]) -> list[float]:
    bounds = [round(len(rates) * number / WINDOWS) for number in range(WINDOWS + 1)]
    return [fmean(rates[begin:end]) for begin, end in pairwise(bounds)]
