"""What a declared event did to a series: the runs before it against the first ones after it; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from iotide_server.statistics.course import FEWEST_BEFORE, LEAST_SHIFT, Effect
from iotide_server.statistics.ranks import p_value

MOST_BEFORE: Final = 20
MOST_P: Final = 0.01


@dataclass(frozen=True, slots=True)
class EventVerdict:
    """One look at an event."""

    effect: Effect
    # runs_before, runs_after: that were looked at
    runs_before: int
    runs_after: int
    # (median after - median before) / |median before|; None where nothing was compared
    shift_ratio: float | None = None
    p_value: float | None = None  # of Mann and Whitney, two-sided


def event_effect(values: Sequence[float], first_after: int, look: int) -> EventVerdict:
    """Judge an event by the last 20 runs before it (six at least) and the first `look` runs after it, 4 or 8.

    It is not searched for, so one test at p < 0.01 does, with a shift of 3 %.
    """
    before = values[max(0, first_after - MOST_BEFORE) : first_after]
    after = values[first_after : first_after + look]
    if len(before) < FEWEST_BEFORE:
        return EventVerdict(Effect.TOO_FEW_BEFORE, len(before), len(after))
    if len(after) < look:
        return EventVerdict(Effect.PENDING, len(before), len(after))
    p = p_value(np.asarray(before), np.asarray(after))
    level = median(before)
    shift = (median(after) - level) / abs(level) if level else None
    is_shifted = p < MOST_P and shift is not None and abs(shift) >= LEAST_SHIFT
    return EventVerdict(Effect.SHIFTED if is_shifted else Effect.NONE_SHOWN, len(before), len(after), shift, p)
