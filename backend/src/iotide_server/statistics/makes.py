"""Means of makes, for comparisons of file systems that were made for their runs.

Repeats on one file system share the luck of its make, such as the allocation of blocks and the zone of the disk. So
they are not independent samples of it; makes are. Plain Python: the API compares without loading numpy and scipy.
"""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Final

FEWEST_MAKES: Final = 2
"""On each side, to be the unit of a comparison. Plans make each file system twice by default. The t-test of two means
against two is valid, with a wide interval that narrows with each further comparison of the answer.
"""


def make_means(makes: Sequence[int | None], values: Sequence[float]) -> list[float]:
    """Return the mean of each make's values, by make; empty if the make of a value is unknown."""
    by_make: defaultdict[int, list[float]] = defaultdict(list)
    for make, value in zip(makes, values, strict=True):
        if make is None:
            return []
        by_make[make].append(value)
    return [fmean(by_make[make]) for make in sorted(by_make)]
