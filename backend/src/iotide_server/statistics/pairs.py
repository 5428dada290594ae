"""Pairs of neighbouring runs of two cells of one campaign.

Repeats run as A B B A, so slow drift of a machine is the same in both runs of a pair. Plain Python: the API compares
without loading numpy and scipy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import accumulate
from math import exp, sqrt
from statistics import NormalDist, median
from typing import Any, Final

from iotide_server.statistics.boards import CONFIDENCE
from iotide_server.statistics.summary import ENOUGH_RUNS

FEWEST_RANKED: Final = 6  # pairs with an exact interval
_MOST_EXACT: Final = 60


@dataclass(frozen=True, slots=True)
class TimedRun:
    started_at: datetime
    value: float


def neighbours(a: Mapping[Any, TimedRun], b: Mapping[Any, TimedRun]) -> tuple[list[float], list[float]] | None:
    """Return the values of both sides by repeat; None unless most repeats took turns and at least four have both.

    Args:
        a: runs of a cell by repeat, or by make and repeat.
        b: those of another cell of the same campaign.
    """
    repeats = sorted(a.keys() & b.keys())
    if len(repeats) < max(ENOUGH_RUNS, max(len(a), len(b)) / 2):
        return None
    spans = [(min(starts), max(starts)) for side in (a, b) if (starts := [side[one].started_at for one in repeats])]
    shared = min(last for _, last in spans) - max(first for first, _ in spans)
    if shared < min(last - first for first, last in spans) / 2:
        return None
    return [a[one].value for one in repeats], [b[one].value for one in repeats]


def signed_rank_interval(differences: Sequence[float]) -> tuple[float, float, float]:
    """Return the ratio of the median Walsh average with its exact 95 % interval, of at least six log differences.

    Tukey 1949 (Hollander, Wolfe and Chicken 2014, 3.3): from the k-th smallest to the k-th largest mean of two
    differences, where k - 1 is the largest signed-rank sum that at most 2.5 % of all signs do not exceed.
    """
    if len(differences) < FEWEST_RANKED:
        raise ValueError(f"an exact interval needs {FEWEST_RANKED} pairs, not {len(differences)}")
    means = sorted((one + other) / 2 for place, one in enumerate(differences) for other in differences[place:])
    rank = _critical_rank(len(differences))
    return exp(median(means)), exp(means[rank - 1]), exp(means[-rank])


@lru_cache(maxsize=_MOST_EXACT)
def _critical_rank(pairs: int) -> int:
    tail = (1 - CONFIDENCE) / 2
    if pairs > _MOST_EXACT:
        sums = pairs * (pairs + 1)
        return max(1, int(sums / 4 + NormalDist().inv_cdf(tail) * sqrt(sums * (2 * pairs + 1) / 24)))
    counts = [1] + [0] * (pairs * (pairs + 1) // 2)
    for rank in range(1, pairs + 1):
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    most = tail * 2.0**pairs
    return max(1, sum(below <= most for below in accumulate(counts)))
