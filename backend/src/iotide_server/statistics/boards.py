"""Tests of several differences of two sides together.

One answer is one family: its numbers share what is known of their scatter, and the false discovery rate is that of all
of them. Plain Python: the API compares without loading numpy and scipy.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log, sqrt
from typing import Final

from iotide_server.statistics.discoveries import MOST_FALSE, adjusted_p_values
from iotide_server.statistics.distributions import t_quantile, t_tail
from iotide_server.statistics.looks import at_look
from iotide_server.statistics.shrinkage import Scatter, squeezed

PRACTICAL_RATIO: Final = 0.05  # smaller differences do not matter
CONFIDENCE: Final = 0.95
_MARGIN: Final = log(1 + PRACTICAL_RATIO)
_LEAST_VARIANCE: Final = 1e-8
"""Variance of logarithms: values have four digits at best, also where all runs are equal."""


class Basis(StrEnum):
    """Scatter that the error of a difference is taken from."""

    RUNS = "runs"
    PAIRS = "pairs"
    MAKES = "makes"
    ONE_MAKE = "one_make"
    DAYS = "days"
    HISTORY = "history"
    WORKLOAD = "workload"
    ONE_DAY = "one_day"


_SHARED: Final = frozenset({Basis.RUNS, Basis.PAIRS, Basis.MAKES, Basis.ONE_MAKE, Basis.DAYS})
"""Scatter within this answer; the others' comes from earlier campaigns and is not drawn towards each other."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """ln B - ln A with the scatter of its units; its error variance is `factor` x that variance."""

    difference: float
    scatter: Scatter
    factor: float
    basis: Basis
    look: int = 1


@dataclass(frozen=True, slots=True)
class Tested:
    p_value: float  # two-sided, adjusted for looks
    is_discovery: bool
    is_equal: bool  # within 5 %
    error: float  # standard error of the difference
    freedom: float

    @property
    def half_width(self) -> float:
        """Return half of the 95 % interval of the difference."""
        return t_quantile((1 - CONFIDENCE) / 2, self.freedom) * self.error


def tested(board: Sequence[Contrast]) -> list[Tested]:
    """Return moderated t-tests on logarithms with a false discovery rate of 5 % over the board.

    Smyth 2004, Stat. Appl. Genet. Mol. Biol. 3(1); Benjamini and Hochberg 1995, J. R. Stat. Soc. B 57. Equality by two
    one-sided tests at 5 % each: Schuirmann 1987, J. Pharmacokinet. Biopharm. 15.
    """
    scatters = _shared(board)
    errors = [sqrt(one.factor * own.variance) for one, own in zip(board, scatters, strict=True)]
    p_values = [
        at_look(2 * t_tail(abs(one.difference) / error, own.freedom), one.look)
        for one, own, error in zip(board, scatters, errors, strict=True)
    ]
    return [
        Tested(p, adjusted <= MOST_FALSE, _is_equal(one, error, own.freedom), error, own.freedom)
        for one, own, error, p, adjusted in zip(
            board, scatters, errors, p_values, adjusted_p_values(p_values), strict=True
        )
    ]


def _is_equal(one: Contrast, error: float, freedom: float) -> bool:
    p = t_tail((_MARGIN - abs(one.difference)) / error, freedom)
    return at_look(p, one.look) <= MOST_FALSE


def _shared(board: Sequence[Contrast]) -> list[Scatter]:
    of_basis: defaultdict[Basis, list[int]] = defaultdict(list)
    found = [Scatter(max(one.scatter.variance, _LEAST_VARIANCE), one.scatter.freedom) for one in board]
    for place, one in enumerate(board):
        of_basis[one.basis].append(place)
    for basis, places in of_basis.items():
        if basis in _SHARED:
            drawn = squeezed([found[place] for place in places])
            for place, own in zip(places, drawn, strict=True):
                found[place] = own
    return found
