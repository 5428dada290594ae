"""Effect of an event on a series."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from iotide_server.statistics.course import FEWEST_BEFORE, LEAST_SHIFT, MOST_EVENT_P, Effect
from iotide_server.statistics.ranks import p_of_ranks

MOST_BEFORE: Final = 20


@dataclass(frozen=True, slots=True)
class EventVerdict:
    effect: Effect
    runs_before: int
    runs_after: int
    # (median after - median before) / |median before|
    shift_ratio: float | None = None
    p_value: float | None = None


def event_effect(values: Sequence[float], first_after: int, look: int, memory: float = 0.0) -> EventVerdict:
    """Compare the last 6 to 20 runs before an event with the first `look` (4 or 8) after it.

    Its time is known, so one test of ranks suffices: p < 0.01 and a shift of 3 %. `memory` is the series' lag-1
    autocorrelation.
    """
    before = values[max(0, first_after - MOST_BEFORE) : first_after]
    after = values[first_after : first_after + look]
    if len(before) < FEWEST_BEFORE:
        return EventVerdict(Effect.TOO_FEW_BEFORE, len(before), len(after))
    if len(after) < look:
        return EventVerdict(Effect.PENDING, len(before), len(after))
    p = p_of_ranks(np.asarray(before), np.asarray(after), memory)
    level = median(before)
    shift = (median(after) - level) / abs(level) if level else None
    is_shifted = p < MOST_EVENT_P and shift is not None and abs(shift) >= LEAST_SHIFT
    return EventVerdict(Effect.SHIFTED if is_shifted else Effect.NONE_SHOWN, len(before), len(after), shift, p)
