"""Repeats: whether promised power is real, and whether adaptive repeats keep their word.

Power: campaigns of normal logarithms with a known difference go through the server's own comparisons. The share that
shows the difference is compared with what iotide_wire.power promises, over a grid of scatters, repeats and
differences, for one number and for one of several. Adaptive repeats: repeats_adaptive.py. Each start draws a new seed;
the last line prints it, and --seed repeats it.
"""

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, product
from math import sqrt
from statistics import NormalDist, fmean
from typing import Final

import numpy as np
from repeats_adaptive import adaptive_figures
from rich.console import Console
from rich.table import Table

from iotide_server.statistics.comparison import Sides, Verdict, compare_board
from iotide_wire.power import power, smallest_difference

SCATTERS: Final = (0.01, 0.03, 0.06, 0.10, 0.20)
REPEATS: Final = (4, 5, 6, 8, 12, 16, 40)
PARTS: Final = (0.75, 1.0, 1.25)
"""Differences, as parts of the smallest one that is promised."""
BOARD_SCATTERS: Final = (0.03, 0.10)
BOARDS: Final = ((2, 4), (2, 8), (4, 4), (4, 12), (12, 4), (12, 6), (12, 12), (40, 4))
"""Numbers compared together, and repeats."""
CAMPAIGNS: Final = 2500
FEWEST_CAMPAIGNS: Final = 500
MOST_POINTS_APART: Final = 5.0
LEAST_COVERAGE: Final = 0.95
EXPECTED_RUNS: Final = 14.9
MOST_RUNS_APART: Final = 1.0
_NORMAL: Final = NormalDist()


@dataclass(frozen=True)
class Promise:
    """Comparison of two configurations with this true ratio."""

    scatter_ratio: float
    repeats: int
    numbers: int
    ratio: float

    @property
    def power(self) -> float:
        """Promised share of campaigns that show the difference."""
        return power(self.ratio, self.scatter_ratio, self.repeats, self.numbers)


def promises() -> Iterator[Promise]:
    """Yield falls and rises around the smallest difference that each number of repeats promises."""
    one = product(SCATTERS, ((1, runs) for runs in REPEATS))
    for scatter, (numbers, runs) in chain(one, product(BOARD_SCATTERS, BOARDS)):
        smallest = smallest_difference(scatter, runs, numbers) or 0.0
        yield from (Promise(scatter, runs, numbers, 1 - part * smallest) for part in PARTS)
        yield Promise(scatter, runs, numbers, 1 / (1 - smallest))


def points_apart(promise: Promise, seed: int, campaigns: int | None = None) -> float:
    """Return real minus promised power, in points.

    The difference of the means is spread evenly over its distribution, so that fewer campaigns suffice.
    """
    random = np.random.default_rng(seed)
    count = campaigns or max(FEWEST_CAMPAIGNS, CAMPAIGNS // promise.numbers)
    ranks = (np.arange(count) + random.random(count)) / count
    return 100 * (fmean(_is_shown(promise, random, _NORMAL.inv_cdf(rank)) for rank in ranks) - promise.power)


def _is_shown(promise: Promise, random: np.random.Generator, difference: float) -> bool:
    """Compare two campaigns; `difference` of the first number's means is in standard errors."""
    runs = random.standard_normal((promise.numbers, 2, promise.repeats))
    runs[0, 1] += runs[0, 0].mean() - runs[0, 1].mean() + difference * sqrt(2 / promise.repeats)
    values = np.exp(promise.scatter_ratio * runs)
    values[0, 1] *= promise.ratio
    verdict = compare_board([Sides(a, b) for a, b in values.tolist()])[0].verdict
    return verdict is (Verdict.LOWER if promise.ratio < 1 else Verdict.HIGHER)


def report(made: Sequence[Promise], apart: Sequence[float]) -> None:
    """Print the promised differences, and how far real power is from the promise around them."""
    of_place: defaultdict[tuple[int, int], defaultdict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for promise, points in zip(made, apart, strict=True):
        of_place[promise.numbers, promise.repeats][promise.scatter_ratio].append(points)
    table = Table(title="Smallest difference promised with 80 % power (real minus promised power near it, in points)")
    for heading in ("numbers", "repeats", *(f"scatter {scatter:.0%}" for scatter in SCATTERS)):
        table.add_column(heading, justify="right")
    for (together, runs), of_scatter in of_place.items():
        cells = [
            f"{smallest_difference(scatter, runs, together) or 0.0:.1%} ({min(own):+.1f} to {max(own):+.1f})"
            if (own := of_scatter[scatter])
            else ""
            for scatter in SCATTERS
        ]
        table.add_row(str(together), str(runs), *cells)
    Console(width=160).print(table)


def main() -> int:
    """Run the bench; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="./dev bench repeats", description=__doc__)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="drawn at random by default")
    asked = parser.parse_args()
    made = list(promises())
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        apart = list(pool.map(points_apart, made, range(asked.seed, asked.seed + len(made))))
    report(made, apart)
    coverage, mean_runs = adaptive_figures(np.random.default_rng(asked.seed))
    print(
        f"repeats: coverage_low={coverage:.3f} mean_runs_cv1={mean_runs:.1f}"
        f" power_low={min(apart):.1f} power_high={max(apart):.1f} seed={asked.seed}"
    )
    is_shown = (
        coverage >= LEAST_COVERAGE
        and abs(mean_runs - EXPECTED_RUNS) <= MOST_RUNS_APART
        and max(map(abs, apart)) <= MOST_POINTS_APART
    )
    return 0 if is_shown else 1


if __name__ == "__main__":
    sys.exit(main())
