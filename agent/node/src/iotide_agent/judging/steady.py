"""STEADY: whether the rate of a data phase stayed the same while it was measured."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, linear_regression
from typing import Final

from iotide_agent.judging.phases import LOAD, STORAGE, ParallelSteps
from iotide_wire.measured import Answer, Check, FlagCode
from iotide_wire.units import format_percent, format_rate, format_seconds, format_shift

WINDOWS: Final = 5
WINDOW_SECONDS: Final = 5
"""The kernel's writeback period: shorter windows would show when dirty pages happened to be written."""
RANGE_LIMIT: Final = 0.20
SLOPE_LIMIT: Final = 0.10


def judge_steady(phase: ParallelSteps) -> list[Answer]:
    """Marks a phase whose five windows range over more than 20 % of their mean, or rise or fall by more than 10 %.

    The limits are those of SNIA's Solid State Storage Performance Test Specification, which measures on until five
    rounds in a row are so alike and reports their mean. A tool's figure is of its whole phase, so the windows here
    divide all of it; of steps side by side, the seconds in which all of them ran, since that one is done before another
    is told by first_done, last_done and STRAGGLER. Below 25 whole seconds there are no five windows, so nothing is
    judged; nor is a load that is uneven by its nature.

    What is compared is the rate at the disk or server where its bytes are about those of the phase, since a page cache
    takes them in bursts and a final fsync moves none that the load could see; else the load's own calls.
    """
    shared = replace(phase, rows=phase.shared_rows)
    rows = len(shared.rows)
    if not all(outcome.step.is_even for outcome in phase.outcomes):
        return []
    if rows < WINDOWS * WINDOW_SECONDS:
        return [phase.not_judged(Check.STEADINESS, f"{rows} s, {WINDOWS * WINDOW_SECONDS} needed")]
    rates = shared.values(*(STORAGE if phase.explains(phase.values(*STORAGE)) else LOAD))
    if rates is None or sum(rates) <= 0:
        return [phase.not_judged(Check.STEADINESS, "no counter saw bytes of the load")]
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
