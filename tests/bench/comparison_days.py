"""Intervals of sides that were measured on different days, and pairs of neighbouring runs, on generated values.

A part of `./dev bench comparison`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import log
from statistics import fmean, median
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from iotide_server.statistics.boards import Basis
from iotide_server.statistics.comparison import Sides, compare_board
from iotide_server.statistics.days import day_error, pooled_scatter, scatter_of
from iotide_server.statistics.pairs import TimedRun, neighbours

Values = NDArray[np.float64]

COMPARED: Final = 3000
PAIRED: Final = 1500
RATIO: Final = 0.8
SERIES: Final = 4
_STARTED: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Days:
    """Kind of comparison of two days.

    Attributes:
        day: standard deviation of logarithms between days.
        run: the same between runs of a day.
        points: earlier days of the series; with WORKLOAD, of each of four series; with DAYS, days of each side.
    """

    day: float
    run: float = 0.03
    repeats: int = 4
    basis: Basis = Basis.HISTORY
    points: int = 20


_SPREADS: Final = (0.01, 0.03, 0.05, 0.10)
OF_DAYS: Final = (
    *(Days(day, run, repeats) for day in _SPREADS for run, repeats in ((0.03, 4), (0.01, 10))),
    Days(0.05, repeats=30),
    *(Days(day, points=6) for day in _SPREADS),
    *(Days(day, basis=Basis.WORKLOAD, points=4) for day in _SPREADS),
    *(Days(day, basis=Basis.DAYS, points=days) for day in _SPREADS for days in (3, 4)),
)


def day_figures(random: np.random.Generator) -> tuple[float, float]:
    """Print a table; return the smallest and largest share of 95 % intervals that hold the true ratio."""
    headings = ("error from", "points", "day", "run", "repeats", "coverage", "by runs", "-20 % found")
    table = Table(*headings, title="Two days")
    found = []
    for days in OF_DAYS:
        coverage, by_runs, named = day_rates(days, random, COMPARED)
        kind = days.basis, f"{days.points}", f"{days.day:.0%}", f"{days.run:.0%}", f"{days.repeats}"
        table.add_row(*kind, f"{coverage:.3f}", f"{by_runs:.3f}", f"{named:.3f}")
        found.append(coverage)
    Console().print(table)
    return min(found), max(found)


def day_rates(days: Days, random: np.random.Generator, count: int) -> tuple[float, float, float]:
    """Return the shares of intervals with the true ratio, by days and by runs, and that of differences found.

    Sides with two modes have no interval.
    """
    held: list[bool] = []
    by_runs: list[bool] = []
    named = 0
    for by_days, of_runs in drawn_days(days, random, count):
        (answer,), (plain,) = compare_board([by_days]), compare_board([of_runs])
        for intervals, found in ((held, answer.interval), (by_runs, plain.interval)):
            if found is not None:
                intervals.append(found.low <= RATIO <= found.high)
        named += answer.is_discovery is True
    return fmean(held), fmean(by_runs), named / count


def drawn_days(days: Days, random: np.random.Generator, count: int) -> Iterator[tuple[Sides, Sides]]:
    """Draw two sides, compared by the scatter of days and by that of all runs."""
    for _ in range(count):
        if days.basis is Basis.DAYS:
            a, b = (_runs(days, random, days.points) for _ in "ab")
            b *= RATIO
            of_a, of_b = (np.median(side, axis=1).tolist() for side in (a, b))
            yield Sides(of_a, of_b, Basis.DAYS), Sides(a.ravel().tolist(), b.ravel().tolist())
            continue
        a, b = _runs(days, random, 2)
        b *= RATIO
        series = [_medians(days, random) for _ in range(SERIES if days.basis is Basis.WORKLOAD else 1)]
        scatter = scatter_of(series[0]) if days.basis is Basis.HISTORY else pooled_scatter(series)
        if scatter is None:
            raise ValueError(f"too few points: {days}")
        sides = a.tolist(), b.tolist()
        yield Sides(*sides, days.basis, day_error(scatter, scatter)), Sides(*sides)


def _runs(days: Days, random: np.random.Generator, count: int) -> Values:
    """Draw the runs of some days, a row each."""
    levels = random.normal(0, days.day, (count, 1))
    return 100 * np.exp(levels + random.normal(0, days.run, (count, days.repeats)))


def _medians(days: Days, random: np.random.Generator) -> list[float]:
    return [median(runs.tolist()) for runs in _runs(days, random, days.points)]


@dataclass(frozen=True, slots=True)
class Paired:
    """Kind of two cells whose runs take turns, A B B A.

    Attributes:
        drift: ratio of a run to the one before it, minus 1.
        walk: standard deviation of a random step of the level between two runs.
        spread: standard deviation of logarithms between runs.
    """

    repeats: int = 10
    drift: float = 0.01
    walk: float = 0.0
    spread: float = 0.02
    ratio: float = 1.05


OF_TEN: Final = Paired()
PAIRS: Final = (
    OF_TEN,
    *(
        Paired(repeats, drift)
        for repeats in (4, 6, 10)
        for drift in (0.0, 0.01, 0.02)
        if (repeats, drift) != (10, 0.01)
    ),
    Paired(spread=0.03),
    *(Paired(repeats, 0.0, walk=0.02) for repeats in (6, 10)),
)


def pair_figures(random: np.random.Generator) -> tuple[float, float]:
    """Print a table; return the share of differences found in ten pairs with drift, and the largest false share."""
    headings = ("repeats", "drift", "walk", "spread", "found", "by runs", "false", "by runs")
    table = Table(*headings, title="Pairs of neighbouring runs, +5 %")
    power, most_false = 0.0, 0.0
    for paired in PAIRS:
        found, by_runs = pair_rates(paired, random, PAIRED)
        false, false_by_runs = pair_rates(replace(paired, ratio=1.0), random, PAIRED)
        kind = f"{paired.repeats}", f"{paired.drift:.0%}", f"{paired.walk:.0%}", f"{paired.spread:.0%}"
        table.add_row(*kind, f"{found:.3f}", f"{by_runs:.3f}", f"{false:.3f}", f"{false_by_runs:.3f}")
        power = found if paired is OF_TEN else power
        most_false = max(most_false, false)
    Console().print(table)
    return power, most_false


def pair_rates(paired: Paired, random: np.random.Generator, count: int) -> tuple[float, float]:
    """Return how often a difference is shown, by pairs and by the scatter of the runs."""
    found = by_runs = 0
    for a, b in drawn_pairs(paired, random, count):
        sides = neighbours(a, b)
        if sides is None:
            raise ValueError(f"no pairs: {paired}")
        (answer,), (plain,) = compare_board([Sides(*sides, Basis.PAIRS)]), compare_board([Sides(*sides)])
        found += answer.is_discovery is True
        by_runs += plain.is_discovery is True
    return found / count, by_runs / count


def drawn_pairs(
    paired: Paired, random: np.random.Generator, count: int
) -> Iterator[tuple[dict[int, TimedRun], dict[int, TimedRun]]]:
    """Draw the runs of both cells by repeat, a minute each."""
    runs = 2 * paired.repeats
    for _ in range(count):
        levels = np.arange(runs) * log(1 + paired.drift) + np.cumsum(random.normal(0, paired.walk, runs))
        values = 100 * np.exp(levels + random.normal(0, paired.spread, runs))
        sides: tuple[dict[int, TimedRun], dict[int, TimedRun]] = ({}, {})
        for place, value in enumerate(values.tolist()):
            repeat, second = place // 2 + 1, place % 2
            is_b = second == repeat % 2  # A B, then B A
            started_at = _STARTED + timedelta(minutes=place)
            sides[is_b][repeat] = TimedRun(started_at, value * (paired.ratio if is_b else 1))
        yield sides
