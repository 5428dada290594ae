"""Numbers out of what agents reported, which may hold anything."""

from typing import Final

LARGEST_NUMBER: Final = 1e18
"""An exabyte, or the age of the universe in seconds; sums of thousands of such numbers are still finite."""


def number(value: object) -> float | None:
    """Return a reported number from 0 to 1e18; None for anything else, such as a text, NaN or 10**400."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LARGEST_NUMBER else None
