"""A against B: by what ratio the runs of one differ from those of the other, and how sure that is; pure.

In plain Python, since the API compares too and need not load numpy and scipy for some ten runs; tests hold it to them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, chain, combinations, pairwise
from math import comb, exp, isfinite, log, sqrt
from statistics import NormalDist, median
from typing import Final

from iotide_server.statistics.summary import ENOUGH_RUNS, FEW_RUNS
from iotide_wire.units import format_distance, format_percent, format_shift

GAP_SPREADS = 5
"""Compares the gap with the wider mode's range.

Two of four equal runs lie five standard deviations from the other two in 8 % of cases, and five ranges in 3 %.
"""
FEWEST_OF_A_MODE = 2
LEAST_GAP_RATIO = 0.05  # of the median; nearer modes are of no account


@dataclass(frozen=True, slots=True)
class Modes:
    """The runs of one cell, apart."""

    # low, high: medians of the modes, in the unit of the values; with them the number of their runs
    low: float
    low_runs: int
    high: float
    high_runs: int


def two_modes(values: Sequence[float]) -> Modes | None:
    """Return the modes on both sides of the widest gap, if it is five times the wider of them; None: one mode.

    One run alone is an outlier and no mode, and below four runs nothing is said.
    """
    if len(values) < ENOUGH_RUNS:
        return None
    runs = sorted(values)
    gaps = [after - before for before, after in pairwise(runs)]
    split = max(range(FEWEST_OF_A_MODE, len(runs) - FEWEST_OF_A_MODE + 1), key=lambda at: gaps[at - 1])
    low, high = runs[:split], runs[split:]
    gap, spread = gaps[split - 1], max(low[-1] - low[0], high[-1] - high[0])
    if gap <= GAP_SPREADS * spread or gap < LEAST_GAP_RATIO * abs(median(runs)):
        return None
    return Modes(median(low), len(low), median(high), len(high))


CONFIDENCE: Final = 0.95
PRACTICAL_RATIO: Final = 0.05  # a smaller difference is none that is acted upon, however sure it is
MOST_EXACT_RUNS: Final = 60
"""Of both together; with more of them the normal approximation differs by nothing that is shown."""
_MOST_ORDERS: Final = 10_000  # so many orders of runs with ties are counted one by one


class Verdict(StrEnum):
    """What may be said of two sets of runs."""

    NO_RATIO = "no_ratio"
    ONE_RUN = "one_run"
    FEW_RUNS = "few_runs"
    TWO_MODES = "two_modes"
    NO_DIFFERENCE_SHOWN = "no_difference_shown"
    BELOW_PRACTICAL = "below_practical"
    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of the ratio B / A."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """B in terms of A."""

    verdict: Verdict
    run_count: int  # of the smaller side; it decides what may be shown
    # of the medians; None with one run on a side, two modes, or a value that is not above 0
    median_ratio: float | None = None
    # the Hodges-Lehmann ratio, the median of all b / a; interval and p_value belong to it. None below four runs and
    # with two modes
    ratio: float | None = None
    interval: Interval | None = None
    p_value: float | None = None  # of Mann and Whitney, exact where there are few runs
    # modes_a, modes_b: where that side has two
    modes_a: Modes | None = None
    modes_b: Modes | None = None

    @property
    def words(self) -> str:
        """The verdict as a sentence; never that both are equal."""
        return _words(self)


def compare(
    a: Sequence[float], b: Sequence[float], modes: tuple[Modes | None, Modes | None] | None = None
) -> Comparison:
    """Compare one finite value per independent run; `modes` are those of A and B, where they are known."""
    for side in (a, b):
        if not side or not all(map(isfinite, side)):
            raise ValueError(f"a comparison needs finite values, not {list(side)!r}")
    runs = min(len(a), len(b))
    if min(*a, *b) <= 0:
        return Comparison(Verdict.NO_RATIO, runs)
    if runs < FEW_RUNS:
        return Comparison(Verdict.ONE_RUN, runs)
    if runs < ENOUGH_RUNS:
        return Comparison(Verdict.FEW_RUNS, runs, median_ratio=median(b) / median(a))
    modes = modes or (two_modes(a), two_modes(b))
    if any(modes):
        return Comparison(Verdict.TWO_MODES, runs, modes_a=modes[0], modes_b=modes[1])
    ratio, interval = hodges_lehmann(a, b)
    return Comparison(
        _verdict(ratio, interval),
        runs,
        median_ratio=median(b) / median(a),
        ratio=ratio,
        interval=interval,
        p_value=exact_p(a, b),
    )


def hodges_lehmann(a: Sequence[float], b: Sequence[float]) -> tuple[float, Interval]:
    """The median of all b / a, and the exact interval of that ratio.

    Hodges and Lehmann 1963, Ann. Math. Stat. 34, of the logarithms; the interval is that of Moses 1953, as in
    Hollander, Wolfe and Chicken 2014, 4.3: between the k-th smallest and the k-th largest of the ratios, k - 1 being
    the largest count of Mann and Whitney up to which there are at most 2.5 % of all orders.
    """
    ratios = sorted(log(of_b) - log(of_a) for of_a in a for of_b in b)
    rank = _critical_rank(len(a), len(b))
    return exp(median(ratios)), Interval(exp(ratios[rank - 1]), exp(ratios[-rank]))


def smallest_p(runs: int) -> float | None:
    """Return the smallest possible p for this number of runs a side; None below four runs."""
    return None if runs < ENOUGH_RUNS else 2 / comb(2 * runs, runs)


def exact_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided p of Mann and Whitney 1947: all orders are counted where that can be done, also with ties.

    Of more runs it is the normal approximation with the correction for ties and for continuity.
    """
    ranks = midranks([*a, *b])
    rank_sum = sum(ranks[: len(a)])
    u = rank_sum - len(a) * (len(a) + 1) / 2
    has_ties = len({*a, *b}) < len(a) + len(b)
    if not has_ties and len(a) + len(b) <= MOST_EXACT_RUNS:
        tail = sum(_orders(len(a), len(b))[: int(min(u, len(a) * len(b) - u)) + 1])
        return min(1.0, 2 * tail / comb(len(a) + len(b), len(a)))
    centre = len(a) * (len(a) + len(b) + 1) / 2
    if comb(len(a) + len(b), len(a)) <= _MOST_ORDERS:
        sums = [sum(chosen) for chosen in combinations(ranks, len(a))]
        return sum(abs(other - centre) >= abs(rank_sum - centre) for other in sums) / len(sums)
    return normal_p(rank_sum, len(a), [*a, *b])


def normal_p(rank_sum: float, runs: int, pooled: Sequence[float]) -> float:
    """Two-sided p of so many runs of the pooled ones having that sum of ranks, by the normal approximation."""
    total, others = len(pooled), len(pooled) - runs
    ties = sum(count**3 - count for count in Counter(pooled).values()) / (total * (total - 1))
    sigma = sqrt(runs * others / 12 * (total + 1 - ties))
    if not sigma:
        return 1.0
    distance = abs(rank_sum - runs * (total + 1) / 2)
    return min(1.0, 2 * NormalDist().cdf(-max(0.0, distance - 0.5) / sigma))


def discoveries(p_values: Sequence[float], most_false: float = 0.05) -> list[bool]:
    """Which of many comparisons may be called different, at most so large a share of them falsely.

    Benjamini and Hochberg 1995, J. R. Stat. Soc. B 57: those up to the largest p that is at most its rank's share.
    """
    ranked = sorted(p_values)
    within = [p for rank, p in enumerate(ranked, start=1) if p <= most_false * rank / len(ranked)]
    return [bool(within) and p <= within[-1] for p in p_values]


def geometric_mean(ratios: Sequence[float]) -> float:
    """The one mean under which ratios and their inverses agree (Fleming and Wallace 1986, CACM 29)."""
    return exp(sum(map(log, ratios)) / len(ratios))


@lru_cache(maxsize=MOST_EXACT_RUNS)
def _critical_rank(a: int, b: int) -> int:
    tail = (1 - CONFIDENCE) / 2
    if a + b > MOST_EXACT_RUNS:
        centre, sigma = a * b / 2, sqrt(a * b * (a + b + 1) / 12)
        return max(1, int(centre + NormalDist().inv_cdf(tail) * sigma))
    most = tail * comb(a + b, a)
    return max(1, sum(below <= most for below in accumulate(_orders(a, b))))


@lru_cache(maxsize=MOST_EXACT_RUNS)
def _orders(a: int, b: int) -> list[int]:
    """In how many orders of a + b runs each count of Mann and Whitney comes up: a Gaussian binomial's coefficients."""
    counts = [1] + [0] * (a * b)
    for part in range(1, a + 1):
        for number in range(a * b, b + part - 1, -1):
            counts[number] -= counts[number - b - part]
        for number in range(part, a * b + 1):
            counts[number] += counts[number - part]
    return counts


def midranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1; equal ones share the mean of theirs."""
    counts = Counter(values)
    below = dict(zip(sorted(counts), chain([0], accumulate(counts[value] for value in sorted(counts))), strict=False))
    return [below[value] + (counts[value] + 1) / 2 for value in values]


def _verdict(ratio: float, interval: Interval) -> Verdict:
    if interval.low <= 1 <= interval.high:
        return Verdict.NO_DIFFERENCE_SHOWN
    if abs(ratio - 1) < PRACTICAL_RATIO:
        return Verdict.BELOW_PRACTICAL
    return Verdict.HIGHER if ratio > 1 else Verdict.LOWER


_WITHOUT_NUMBERS: Final = {
    Verdict.NO_RATIO: "no ratio: a value is not above 0",
    Verdict.ONE_RUN: "1 run: nothing can be said of a difference",
    Verdict.TWO_MODES: "two modes (cache?): no single ratio stands for them",
}


def _words(found: Comparison) -> str:
    if found.verdict in _WITHOUT_NUMBERS:
        return _WITHOUT_NUMBERS[found.verdict]
    if found.interval is None:
        missing = ENOUGH_RUNS - found.run_count
        needed = "1 more is needed" if missing == 1 else f"{missing} more are needed"
        return f"{found.run_count} runs: too few for an interval; {needed}"
    low, high = found.interval.low, found.interval.high
    if found.verdict is Verdict.NO_DIFFERENCE_SHOWN:
        return f"no difference shown (could be {_range(format_shift, low, high)})"
    if found.verdict is Verdict.BELOW_PRACTICAL:
        below = f"below the practical threshold of {format_percent(PRACTICAL_RATIO)}"
        return f"different by {_range(format_shift, low, high)}, {below}"
    near, far = sorted((low, high), key=lambda end: abs(end - 1))
    return f"B {_range(format_distance, near, far)} {found.verdict}"


def _range(shown: Callable[[float], str], first: float, last: float) -> str:
    return f"{shown(first).removesuffix(' %')} to {shown(last)}"
