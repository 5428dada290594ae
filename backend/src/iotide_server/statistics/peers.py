"""The odd one out among equals: nodes of a cluster, RAID sets of a server, OSTs of a file system; pure.

In plain Python, since the API compares peers and need not load numpy and scipy.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import Final

from iotide_server.statistics.comparison import MOST_EXACT_RUNS, exact_p, midranks, normal_p
from iotide_server.statistics.summary import MAD_TO_SIGMA

FEWEST_PEERS: Final = 3
FEWEST_RUNS: Final = 4
LEAST_RATIO: Final = 0.05  # of the median of the peers; nearer ones are equals
MOST_FALSE: Final = 0.05


@dataclass(frozen=True, slots=True)
class ComparedPeer:
    """One of a group beside all the others."""

    # run_count, median: of its own runs, in the unit of the values
    run_count: int
    median: float
    usual: float  # the median of the other peers' medians
    difference_ratio: float  # of its median to `usual`, less 1
    # that difference over 1.4826 x the median absolute deviation of the others' medians; None where they have none to
    # speak of (two others, or all alike)
    robust_z: float | None
    p_value: float  # of its runs being like those of all others, adjusted for the number of peers
    is_odd: bool  # it differs by 5 % at least, at a rate of false discoveries of 5 %


def odd_ones(runs: Mapping[str, Sequence[float]]) -> dict[str, ComparedPeer]:
    """Each peer against the others. Of fewer than three, or with fewer than four runs each, nothing is said.

    The adjustment is Benjamini's and Hochberg's (1995). A peer that others make odd is not odd itself: of those beyond
    the threshold only the ones on the far side of the group's median count.
    """
    enough = {name: list(values) for name, values in runs.items() if len(values) >= FEWEST_RUNS}
    if len(enough) < FEWEST_PEERS:
        return {}
    medians = {name: median(values) for name, values in enough.items()}
    levels = _Levels(medians.values())
    adjusted = adjusted_p_values(_against_others(enough))
    return {
        name: _peer(len(values), medians[name], levels, float(p))
        for (name, values), p in zip(enough.items(), adjusted, strict=True)
    }


def adjusted_p_values(p_values: Sequence[float]) -> list[float]:
    """The rate of false discoveries at which each would just be one: the least of p x count / rank from its rank on.

    Benjamini and Hochberg 1995, J. R. Stat. Soc. B 57.
    """
    ranked = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    scaled = (p_values[place] * len(ranked) / (len(ranked) - number) for number, place in enumerate(ranked))
    adjusted = dict(zip(ranked, accumulate(scaled, min), strict=True))
    return [min(1.0, adjusted[place]) for place in range(len(p_values))]


def _against_others(runs: Mapping[str, Sequence[float]]) -> list[float]:
    """Of each peer, the p of its runs being like those of all others (Mann and Whitney); all are ranked once."""
    pooled = [value for values in runs.values() for value in values]
    ends = list(accumulate(map(len, runs.values())))
    if len(pooled) <= MOST_EXACT_RUNS:
        bounds = zip([0, *ends], ends, strict=False)
        return [exact_p(pooled[start:end], pooled[:start] + pooled[end:]) for start, end in bounds]
    ranks = midranks(pooled)
    return [normal_p(sum(ranks[start:end]), end - start, pooled) for start, end in zip([0, *ends], ends, strict=False)]


class _Levels:
    """The medians of all peers; sorted once, since very many may be compared, each with all others."""

    def __init__(self, medians: Iterable[float]) -> None:
        self._sorted = sorted(medians)
        self.median = median(self._sorted)
        self._deviations: dict[float, list[float]] = {}

    def usual_without(self, own: float) -> float:
        """Return the median of the others."""
        return _median_without(self._sorted, own)

    def sigma_without(self, own: float, usual: float) -> float:
        """Return how far the others scatter around the median of the others."""
        if usual not in self._deviations:
            self._deviations[usual] = sorted(abs(value - usual) for value in self._sorted)
        return MAD_TO_SIGMA * _median_without(self._deviations[usual], abs(own - usual))


def _median_without(values: Sequence[float], left_out: float) -> float:
    """Return the median of all but one of these sorted values."""
    place = bisect_left(values, left_out)
    count = len(values) - 1
    low, high = (values[at + (at >= place)] for at in ((count - 1) // 2, count // 2))
    return high if count % 2 else (low + high) / 2


def _peer(run_count: int, own: float, levels: _Levels, p: float) -> ComparedPeer:
    usual = levels.usual_without(own)
    sigma = levels.sigma_without(own, usual)
    difference = own / usual - 1 if usual else 0.0
    is_far = abs(difference) >= LEAST_RATIO and abs(own - levels.median) >= LEAST_RATIO * abs(levels.median)
    return ComparedPeer(
        run_count,
        own,
        usual,
        difference,
        (own - usual) / sigma if sigma else None,
        p,
        is_far and p < MOST_FALSE,
    )
