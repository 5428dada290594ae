"""A against B: by what ratio the runs of one differ from those of the other, and how sure that is; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb, exp, isfinite, log, sqrt
from statistics import median
from typing import Final

import numpy as np
from scipy.stats import PermutationMethod, false_discovery_control, mannwhitneyu, norm

from iotide_server.statistics.modes import Modes, two_modes
from iotide_server.statistics.summary import ENOUGH_RUNS, FEW_RUNS

CONFIDENCE: Final = 0.95
PRACTICAL_RATIO: Final = 0.05
"""A smaller difference is none that is acted upon, however sure it is."""
MOST_EXACT_RUNS: Final = 56
"""Of both together: the number of their orders still fits into a float without rounding."""
_PERMUTATIONS: Final = 10_000


class Verdict(StrEnum):
    """What may be said of two sets of runs."""

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
    """B in terms of A.

    Attributes:
        run_count: of the smaller side; it decides what may be shown.
        median_ratio: of the medians; None with one run on a side or two modes.
        ratio: the Hodges-Lehmann ratio, the median of all b / a; interval and p_value belong to it. None below four
            runs and with two modes.
        p_value: of Mann and Whitney, exact where there are few runs.
        modes_a, modes_b: where that side has two.
    """

    verdict: Verdict
    run_count: int
    median_ratio: float | None = None
    ratio: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    modes_a: Modes | None = None
    modes_b: Modes | None = None

    @property
    def words(self) -> str:
        """The verdict as a sentence; never that both are equal."""
        return _words(self)


def compare(a: Sequence[float], b: Sequence[float]) -> Comparison:
    """Compare one positive value per independent run.

    Raises:
        ValueError: a side has no runs, or a value is not positive and finite.
    """
    for side in (a, b):
        if not side or not all(isfinite(value) and value > 0 for value in side):
            raise ValueError(f"a comparison needs positive values, not {list(side)!r}")
    runs = min(len(a), len(b))
    if runs < FEW_RUNS:
        return Comparison(Verdict.ONE_RUN, runs)
    if runs < ENOUGH_RUNS:
        return Comparison(Verdict.FEW_RUNS, runs, median_ratio=median(b) / median(a))
    modes = two_modes(a), two_modes(b)
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
    ratios = np.sort(np.subtract.outer(np.log(b), np.log(a)).ravel())
    rank = _critical_rank(len(a), len(b))
    return exp(float(np.median(ratios))), Interval(exp(float(ratios[rank - 1])), exp(float(ratios[-rank])))


def exact_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided p of Mann and Whitney 1947: exact where that can be counted, also with ties, else asymptotic."""
    if len({*a, *b}) == len(a) + len(b) and len(a) + len(b) <= MOST_EXACT_RUNS:
        return float(mannwhitneyu(a, b, method="exact").pvalue)
    if comb(len(a) + len(b), len(a)) <= _PERMUTATIONS:
        return float(mannwhitneyu(a, b, method=PermutationMethod(n_resamples=_PERMUTATIONS)).pvalue)
    return float(mannwhitneyu(a, b, method="asymptotic").pvalue)


def discoveries(p_values: Sequence[float], most_false: float = 0.05) -> list[bool]:
    """Which of many comparisons may be called different, at most so large a share of them falsely.

    Benjamini and Hochberg 1995, J. R. Stat. Soc. B 57.
    """
    if not p_values:
        return []
    return [bool(adjusted <= most_false) for adjusted in false_discovery_control(p_values)]


def paired(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], float]:
    """The ratio b / a of each pair of neighbours in an order such as A B B A, and their median.

    Drift that both of a pair share cancels; what is told of the order is one ratio a pair.
    """
    ratios = [b / a for a, b in pairs]
    return ratios, median(ratios)


def geometric_mean(ratios: Sequence[float]) -> float:
    """The one mean under which ratios and their inverses agree (Fleming and Wallace 1986, CACM 29)."""
    return exp(sum(map(log, ratios)) / len(ratios))


def _critical_rank(a: int, b: int) -> int:
    tail = (1 - CONFIDENCE) / 2
    if a + b > MOST_EXACT_RUNS:
        centre, sigma = a * b / 2, sqrt(a * b * (a + b + 1) / 12)
        return max(1, int(centre + norm.ppf(tail) * sigma))
    counts = _orders(a, b)
    below = np.cumsum(counts) / comb(a + b, a)
    return max(1, int(np.searchsorted(below, tail, side="right")))


def _orders(a: int, b: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """In how many orders of a + b runs each count of Mann and Whitney comes up: a Gaussian binomial's coefficients."""
    counts = np.zeros(a * b + 1)
    counts[0] = 1
    for part in range(1, a + 1):
        shifted = counts.copy()
        shifted[b + part :] -= counts[: len(counts) - b - part] if b + part < len(counts) else 0
        for number in range(part, len(shifted)):
            shifted[number] += shifted[number - part]
        counts = shifted
    return counts


def _verdict(ratio: float, interval: Interval) -> Verdict:
    if interval.low <= 1 <= interval.high:
        return Verdict.NO_DIFFERENCE_SHOWN
    if abs(ratio - 1) < PRACTICAL_RATIO:
        return Verdict.BELOW_PRACTICAL
    return Verdict.HIGHER if ratio > 1 else Verdict.LOWER


def _words(found: Comparison) -> str:
    match found.verdict:
        case Verdict.ONE_RUN:
            return "1 run: nothing can be said of a difference"
        case Verdict.FEW_RUNS:
            return f"{found.run_count} runs: too few for an interval; {ENOUGH_RUNS - found.run_count} more are needed"
        case Verdict.TWO_MODES:
            return "two modes (cache?): no single ratio stands for them"
        case _:
            pass
    if found.interval is None:
        raise ValueError(f"{found.verdict} without an interval")
    low, high = (100 * (end - 1) for end in (found.interval.low, found.interval.high))
    if found.verdict is Verdict.NO_DIFFERENCE_SHOWN:
        return f"no difference shown (could be {low:+.1f}..{high:+.1f} %)"
    if found.verdict is Verdict.BELOW_PRACTICAL:
        return f"different by {low:+.1f}..{high:+.1f} %, below the practical threshold of {100 * PRACTICAL_RATIO:.0f} %"
    near, far = sorted((abs(low), abs(high)))
    return f"B {near:.1f} to {far:.1f} % {found.verdict}"
