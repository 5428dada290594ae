"""Values that their clock cannot resolve: they have a median and no spread."""

from collections.abc import Mapping
from typing import Final

from iotide_server.results.ingest.keys import Label

TICK_SECONDS: Final = 0.01
"""The kernel counts processor time in ticks of this length."""
FEWEST_TICKS: Final = 10
_OF_TICKS: Final = frozenset({"user", "sys", "wait"})


def is_below_clock(labels: Mapping[str, Label], value: float) -> bool:
    """Check that a processor time is of so few ticks that its spread is that of the clock."""
    return labels.get("part") in _OF_TICKS and abs(value) < FEWEST_TICKS * TICK_SECONDS
