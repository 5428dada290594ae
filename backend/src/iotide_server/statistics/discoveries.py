"""Several tests at once: which of their results are discoveries.

Plain Python: the API uses it without loading numpy and scipy.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

MOST_FALSE: Final = 0.05  # expected share of false discoveries


def adjusted_p_values(p_values: Sequence[float]) -> list[float]:
    """Return the false discovery rate at which each p becomes significant: the least p x count / rank from its rank on.

    Benjamini and Hochberg 1995, J. R. Stat. Soc. B 57.
    """
    ranked = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    scaled = (p_values[place] * len(ranked) / (len(ranked) - number) for number, place in enumerate(ranked))
    adjusted = dict(zip(ranked, accumulate(scaled, min), strict=True))
    return [min(1.0, adjusted[place]) for place in range(len(p_values))]


def largest_discovery(p_values: Sequence[float]) -> float | None:
    """Return the p up to which results are discoveries at a false discovery rate of 5 %; None if none is."""
    count = sum(adjusted <= MOST_FALSE for adjusted in adjusted_p_values(p_values))
    return MOST_FALSE * count / len(p_values) if count else None
