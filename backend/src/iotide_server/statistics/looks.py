"""Comparisons that are repeated after repeats were added.

Each look may err: at 5 % each, looks at 4, 8, 12, 16 and 20 runs show a difference where there is none in 13 %. So
the looks share the error: 4 % at the first, then 1, 0.5, 0.25 % and so on, for any number of looks.
"""

from typing import Final

_OF_ALL: Final = 0.05
_AT_FIRST: Final = 0.04
_AT_SECOND: Final = 0.01  # each further one half as much


def at_look(p_value: float, look: int) -> float:
    """Return the p to compare with 5 % at this look, counted from 1."""
    limit = _AT_FIRST if look == 1 else _AT_SECOND / 2 ** (look - 2)
    return min(1.0, p_value * _OF_ALL / limit)
