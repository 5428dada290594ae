"""Reads fio's bandwidth log: what each direction moved in each second."""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from math import floor
from typing import Final

from iotide_agent.workloads.base import Curve
from iotide_wire.units import KIB

_LINE: Final = re.compile(r"(\d{1,13}), (\d{1,18}), ([01]), \d+, \d+(?:, \d+)?")
_LEFT_OUT: Final = "[iotide left out"
_STEP_MILLISECONDS: Final = 1000
_MOST_STEPS: Final = 40 * 86_400
"""More than any run may last: where a log says more, the time of day was set meanwhile."""
_COUNTERS: Final = {"0": "fio_read_bytes_per_second", "1": "fio_write_bytes_per_second"}

LOG_ARGUMENTS: Final = (
    f"--log_avg_msec={_STEP_MILLISECONDS}",
    # The time of day: each job that waits for others would else count from its own start.
    "--log_unix_epoch=1",
    "--per_job_logs=0",
)


def read_series(text: str) -> list[Curve]:
    """A curve for each direction, of all jobs together; none of a log that was too long or has absurd times.

    A second without a line is one in which nothing moved. Each line tells the mean of one job over the second before
    its time, in KiB a second. These seconds are not those of the curve, so each line is shared between the two that it
    lies in; no byte is lost or counted twice.
    """
    if _LEFT_OUT in text:
        return []
    by_counter: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for end_milliseconds, rate, direction in _lines(text):
        by_counter[_COUNTERS[direction]].append((end_milliseconds, rate))
    ends = [end for told in by_counter.values() for end, _ in told]
    if ends and max(ends) - min(ends) > _MOST_STEPS * _STEP_MILLISECONDS:
        return []
    return [_curve(counter, told) for counter, told in by_counter.items()]


def _lines(text: str) -> Iterator[tuple[int, float, str]]:
    # A line without its end may have lost digits.
    for line in text[: text.rfind("\n") + 1].splitlines():
        match = _LINE.fullmatch(line)
        if match is not None:
            yield int(match[1]), int(match[2]) * float(KIB), match[3]


def _curve(counter: str, told: list[tuple[int, float]]) -> Curve:
    begin = min(end for end, _ in told) - _STEP_MILLISECONDS
    steps = max(1, round((max(end for end, _ in told) - begin) / _STEP_MILLISECONDS))
    values = [0.0] * (steps + 1)
    for end, rate in told:
        position = (end - begin) / _STEP_MILLISECONDS - 1
        step = floor(position)
        later_share = position - step
        values[min(step, steps)] += rate * (1 - later_share)
        values[min(step + 1, steps)] += rate * later_share
    return Curve(counter, datetime.fromtimestamp(begin / 1000, UTC), tuple(values[:steps]))
