"""Comparison of two sets of runs, alone or with the other numbers of an answer.

Plain Python: the API compares without loading numpy and scipy; tests compare it with scipy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, partial
from itertools import accumulate
from math import comb, exp, isfinite, log, sqrt
from statistics import NormalDist, fmean, median, variance
from typing import Final

from iotide_server.statistics.boards import CONFIDENCE, PRACTICAL_RATIO, Basis, Contrast, Tested, tested
from iotide_server.statistics.days import FEWEST_DAYS, DayError
from iotide_server.statistics.makes import FEWEST_MAKES
from iotide_server.statistics.modes import Modes, two_modes
from iotide_server.statistics.pairs import FEWEST_RANKED, signed_rank_interval
from iotide_server.statistics.shrinkage import Scatter
from iotide_server.statistics.summary import ENOUGH_RUNS, FEW_RUNS
from iotide_wire.units import format_distance, format_percent, format_shift

MOST_EXACT_RUNS: Final = 60
"""On both sides together; beyond, the normal approximation shows the same digits."""


_FEWEST: Final = {Basis.DAYS: FEWEST_DAYS, Basis.MAKES: FEWEST_MAKES}


class Verdict(StrEnum):
    UNLIKE = "unlike"  # one side has a flag that makes it measure something else
    NO_RATIO = "no_ratio"
    ONE_RUN = "one_run"
    FEW_RUNS = "few_runs"
    TWO_MODES = "two_modes"
    NOT_JUDGED = "not_judged"
    NO_DIFFERENCE_SHOWN = "no_difference_shown"
    EQUAL = "equal"
    BELOW_PRACTICAL = "below_practical"
    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class Interval:
    """95 % interval of B / A."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Sides:
    """Values of independent runs of A and B.

    With PAIRS, neighbours at the same index; with MAKES, means of makes; with DAYS, medians of days.
    """

    a: Sequence[float]
    b: Sequence[float]
    basis: Basis = Basis.RUNS
    day_error: DayError | None = None  # with HISTORY and WORKLOAD
    looks: int = 1
    is_judged: bool = True  # false: it stays out of the family and has no verdict
    modes: tuple[Modes | None, Modes | None] | None = None  # None: find them


@dataclass(frozen=True, slots=True)
class Comparison:
    verdict: Verdict
    run_count: int  # of the smaller side
    basis: Basis = Basis.RUNS
    day_error: DayError | None = None
    looks: int = 1
    # of medians; None with one run on a side, two modes, or values of 0 or less
    median_ratio: float | None = None
    # ratio with its interval; None below four runs and with two modes
    ratio: float | None = None
    interval: Interval | None = None
    # p_value: of the t-test, adjusted for looks; None as `ratio`, and for what is not judged
    p_value: float | None = None
    is_discovery: bool | None = None  # None: not judged
    # set if that side has two
    modes_a: Modes | None = None
    modes_b: Modes | None = None

    @property
    def words(self) -> str:
        """Return the verdict as a sentence."""
        return _words(self)

    @property
    def basis_words(self) -> str:
        """Return which scatter the interval is taken from; empty without one."""
        return "" if self.interval is None else _basis_words(self)


def compare(a: Sequence[float], b: Sequence[float]) -> Comparison:
    """Compare the sides by the scatter of their runs, as a family of one."""
    return compare_board([Sides(a, b)])[0]


def compare_board(board: Sequence[Sides]) -> list[Comparison]:
    """Compare all numbers of an answer; false discoveries are controlled among those that are judged.

    Raises:
        ValueError: a value is not finite.
    """
    plain = [_without_test(one) for one in board]
    evidence = {place: _evidence(board[place]) for place, known in enumerate(plain) if known is None}
    family = [place for place in evidence if _is_judged(board[place])]
    found = dict(zip(family, tested([evidence[place] for place in family]), strict=True))
    for place in evidence.keys() - found.keys():
        (found[place],) = tested([evidence[place]])
    return [
        _compared(one, evidence[place], found[place]) if known is None else known
        for place, (one, known) in enumerate(zip(board, plain, strict=True))
    ]


def _is_judged(one: Sides) -> bool:
    return one.is_judged and one.basis is not Basis.ONE_DAY


def _without_test(one: Sides) -> Comparison | None:
    """Return the answer for what cannot be tested; None if it can."""
    for side in (one.a, one.b):
        if not side or not all(map(isfinite, side)):
            raise ValueError(f"a comparison needs finite values, not {list(side)!r}")
    count = min(len(one.a), len(one.b))
    of_one = partial(
        Comparison, run_count=count, basis=one.basis, looks=one.looks, is_discovery=False if _is_judged(one) else None
    )
    if min(*one.a, *one.b) <= 0:
        return of_one(Verdict.NO_RATIO)
    if count < FEW_RUNS:
        return of_one(Verdict.ONE_RUN)
    if count < _FEWEST.get(one.basis, ENOUGH_RUNS):
        return of_one(Verdict.FEW_RUNS, median_ratio=_median_ratio(one))
    modes = one.modes or (two_modes(one.a), two_modes(one.b))
    return of_one(Verdict.TWO_MODES, modes_a=modes[0], modes_b=modes[1]) if any(modes) else None


def _median_ratio(one: Sides) -> float:
    return median(one.b) / median(one.a)


def _evidence(one: Sides) -> Contrast:
    if one.day_error is not None:
        scatter = Scatter(one.day_error.variance, one.day_error.freedom)
        return Contrast(log(_median_ratio(one)), scatter, 1.0, one.basis, one.looks)
    if one.basis is Basis.PAIRS:
        differences = _differences(one)
        scatter = Scatter(variance(differences), len(differences) - 1)
        return Contrast(fmean(differences), scatter, 1 / len(differences), one.basis, one.looks)
    a, b = ([log(value) for value in side] for side in (one.a, one.b))
    freedom = len(a) + len(b) - 2
    pooled = ((len(a) - 1) * variance(a) + (len(b) - 1) * variance(b)) / freedom
    return Contrast(fmean(b) - fmean(a), Scatter(pooled, freedom), 1 / len(a) + 1 / len(b), one.basis, one.looks)


def _differences(one: Sides) -> list[float]:
    return [log(of_b) - log(of_a) for of_a, of_b in zip(one.a, one.b, strict=True)]


def _compared(one: Sides, evidence: Contrast, found: Tested) -> Comparison:
    ratio, interval = _interval(one, evidence, found)
    is_judged = _is_judged(one)
    return Comparison(
        _verdict(ratio, interval, found) if is_judged else Verdict.NOT_JUDGED,
        min(len(one.a), len(one.b)),
        one.basis,
        one.day_error,
        one.looks,
        median_ratio=_median_ratio(one),
        ratio=ratio,
        interval=interval,
        p_value=found.p_value if is_judged else None,
        is_discovery=found.is_discovery if is_judged else None,
    )


def _interval(one: Sides, evidence: Contrast, found: Tested) -> tuple[float, Interval]:
    """Use the exact interval of ranks where there is one, else that of the t-test."""
    if one.basis is Basis.PAIRS and len(one.a) >= FEWEST_RANKED:
        ratio, low, high = signed_rank_interval(_differences(one))
        return ratio, Interval(low, high)
    has_ranks = one.day_error is None and one.basis is not Basis.PAIRS and min(len(one.a), len(one.b)) >= ENOUGH_RUNS
    if has_ranks:
        return hodges_lehmann(one.a, one.b)
    middle, half = evidence.difference, found.half_width
    return exp(middle), Interval(exp(middle - half), exp(middle + half))


def hodges_lehmann(a: Sequence[float], b: Sequence[float]) -> tuple[float, Interval]:
    """Return the median of all b / a and its exact 95 % interval.

    Hodges and Lehmann 1963, Ann. Math. Stat. 34, on logarithms. Interval of Moses 1953 (Hollander, Wolfe and Chicken
    2014, 4.3): from the k-th smallest to the k-th largest ratio, where k - 1 is the largest Mann-Whitney count that
    at most 2.5 % of all orders do not exceed.
    """
    ratios = sorted(log(of_b) - log(of_a) for of_a in a for of_b in b)
    rank = _critical_rank(len(a), len(b))
    return exp(median(ratios)), Interval(exp(ratios[rank - 1]), exp(ratios[-rank]))


def geometric_mean(ratios: Sequence[float]) -> float:
    """Return the only mean that suits ratios and their inverses (Fleming and Wallace 1986, CACM 29)."""
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
    """Return the number of orders for each Mann-Whitney count: coefficients of a Gaussian binomial."""
    counts = [1] + [0] * (a * b)
    for part in range(1, a + 1):
        for number in range(a * b, b + part - 1, -1):
            counts[number] -= counts[number - b - part]
        for number in range(part, a * b + 1):
            counts[number] += counts[number - part]
    return counts


def _verdict(ratio: float, interval: Interval, found: Tested) -> Verdict:
    is_within = interval.high <= 1 + PRACTICAL_RATIO and interval.low >= 1 / (1 + PRACTICAL_RATIO)
    if found.is_equal and (is_within or not found.is_discovery):
        return Verdict.EQUAL
    if not found.is_discovery:
        return Verdict.NO_DIFFERENCE_SHOWN
    if abs(ratio - 1) < PRACTICAL_RATIO:
        return Verdict.BELOW_PRACTICAL
    return Verdict.HIGHER if ratio > 1 else Verdict.LOWER


_WITHOUT_NUMBERS: Final = {
    Verdict.UNLIKE: "unlike",
    Verdict.NO_RATIO: "no ratio: a value is 0 or negative",
    Verdict.ONE_RUN: "1 run: too few to compare",
    Verdict.TWO_MODES: "two modes (cache?): no single ratio applies",
}


def _words(found: Comparison) -> str:
    if found.verdict in _WITHOUT_NUMBERS:
        return _WITHOUT_NUMBERS[found.verdict]
    if found.interval is None or found.ratio is None:
        missing = ENOUGH_RUNS - found.run_count
        return f"{found.run_count} runs: too few for an interval; {missing} more needed"
    return _numbers(found.verdict, found.ratio, found.interval)


def _numbers(verdict: Verdict, ratio: float, interval: Interval) -> str:
    shifts = _range(format_shift, interval.low, interval.high)
    practical = format_percent(PRACTICAL_RATIO)
    near, far = sorted((interval.low, interval.high), key=lambda end: abs(end - 1))
    has_both = interval.low <= 1 <= interval.high
    distances = format_distance(ratio) if has_both else _range(format_distance, near, far)
    return {
        Verdict.NOT_JUDGED: shifts,
        Verdict.NO_DIFFERENCE_SHOWN: f"not significant: {shifts}",
        # Without the interval: of 95 %, it may be wider than 5 %; two tests at 5 % belong to one of 90 %.
        Verdict.EQUAL: f"equal within {practical} ({format_shift(ratio)})",
        Verdict.BELOW_PRACTICAL: f"{shifts}, below the practical threshold of {practical}",
    }.get(verdict, f"B {distances} {verdict}" + (f" (95 % interval {shifts})" if has_both else ""))


def _basis_words(found: Comparison) -> str:
    if found.day_error is not None:
        points, series = found.day_error.point_count, found.day_error.series_count
        of_series = (
            f"its last {points} campaigns" if found.basis is Basis.HISTORY else f"{series} series of this workload"
        )
        return f"error from the day-to-day scatter of {of_series}"
    return _OF_BASIS[found.basis].format(count=found.run_count)


_OF_BASIS: Final = {
    Basis.RUNS: "error from the scatter of runs on one day",
    Basis.PAIRS: "error from {count} pairs of neighbouring runs",
    Basis.MAKES: "error from the means of {count} makes",
    Basis.ONE_MAKE: "error from the scatter of runs on one make each: the make may be the cause",
    Basis.DAYS: "error from the medians of {count} days",
    Basis.ONE_DAY: "measured on one day each: the day may be the cause",
}


def _range(shown: Callable[[float], str], first: float, last: float) -> str:
    return f"{shown(first).removesuffix(' %')} to {shown(last)}"
