"""Reads fio's JSON, the only output of fio that is believed, and its bandwidth log, what moved in each second."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from iotide_agent.workloads.base import AnyLabels, Curve, OutputRefusedError, Sample
from iotide_agent.workloads.quality import marked
from iotide_wire.measured import Flag, FlagCode
from iotide_wire.units import KIB, Unit, format_value

NANOSECONDS: Final = 1e-9
LAST_BIN_NS: Final = 2**33 + 63 * 2**27
"""Where the last bin of fio's histogram begins, 17.05 s: it holds every slower operation, and its middle, which fio
prints, is no latency of any of them.
"""
MILLISECONDS: Final = 1e-3

_Count = Annotated[int, Field(ge=0, le=2**64 - 1)]
_REMARK: Final = re.compile(r"^fio: .*\n", re.MULTILINE)
"""What may stand before, between and after the documents."""


class _FioPart(BaseModel):
    model_config = ConfigDict(frozen=True)


class Latencies(_FioPart):
    """Operations by completion latency in nanoseconds, of `--output-format=json+` alone, and the slowest."""

    operation_count: _Count = Field(alias="N")
    slowest: _Count | None = Field(default=None, alias="max")
    bins: dict[_Count, _Count] = {}


class Direction(_FioPart):
    """What a job did in one direction; `runtime` has milliseconds, from the first operation to the final fsync."""

    io_bytes: _Count
    runtime: _Count
    total_ios: _Count
    short_ios: _Count
    drop_ios: _Count
    clat_ns: Latencies

    @property
    def done_ios(self) -> int:
        """Operations that ended well: one that failed has no latency."""
        return min(self.total_ios, self.clat_ns.operation_count)

    @property
    def is_measured(self) -> bool:
        """Whether it came so far that it has a rate."""
        return self.runtime > 0 and self.done_ios > 0


class FioJob(_FioPart):
    """One writer or reader: errno of its first error, and how many `continue_on_error` swallowed."""

    jobname: str
    error: int
    total_err: int = 0
    read: Direction
    write: Direction


class FioReport(_FioPart):
    """The last document of an output; `--status-interval` and signals make fio print one before the end."""

    jobs: Annotated[tuple[FioJob, ...], Field(min_length=1)]


def read_report(step: str, text: str) -> FioReport:
    """Return the report that ends `text`, below what fio complained of; raise OutputRefusedError where it is cut."""
    _, brace, rest = text.partition("{")
    documents = brace + _REMARK.sub("", rest)
    if not documents:
        raise OutputRefusedError(step, "fio printed no JSON", text)
    decoder = json.JSONDecoder()
    try:
        while documents:
            document, end = decoder.raw_decode(documents)
            documents = documents[end:].strip()
        return FioReport.model_validate(document)
    except (ValueError, RecursionError) as error:  # also numbers that are too long, nested too deep
        raise OutputRefusedError(step, "fio's JSON is cut off or not as its manual says", text[-500:]) from error


def merged_bins(directions: Iterable[Direction]) -> Counter[int]:
    """The latency bins of several jobs as one histogram, in nanoseconds."""
    merged: Counter[int] = Counter()
    for direction in directions:
        merged.update(direction.clat_ns.bins)
    return merged


def percentile_seconds(bins: Counter[int], percent: float) -> float:
    """Return the latency that `percent` of at least one operation did not exceed, by fio's own rule."""
    wanted = percent / 100 * bins.total()
    seen = 0
    for latency_ns in sorted(bins):
        seen += bins[latency_ns]
        if seen >= wanted:
            return latency_ns * NANOSECONDS
    raise ValueError("no operation, no percentile")


PERCENTILES: Final = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9}


@dataclass(frozen=True, slots=True)
class Latency:
    """A percentile in seconds; `is_bound`: fio's histogram ends before it, so that it is a bound."""

    seconds: float
    is_bound: bool


def latencies(directions: Sequence[Direction]) -> dict[str, Latency]:
    """Return the percentiles of several jobs together; none where no operation ended.

    One in the last bin of the histogram is the slowest operation: exactly where the bin holds no other one, else it is
    at most that, and at least where the bin begins.
    """
    bins = merged_bins(directions)
    over = sum(count for latency_ns, count in bins.items() if latency_ns >= LAST_BIN_NS)
    slowest_ns = max((direction.clat_ns.slowest or 0 for direction in directions), default=0)
    found = {}
    for name, percent in PERCENTILES.items() if bins else ():
        seconds = percentile_seconds(bins, percent)
        if seconds < LAST_BIN_NS * NANOSECONDS:
            found[name] = Latency(seconds, is_bound=False)
        else:
            is_exact = over == 1 and slowest_ns >= LAST_BIN_NS
            found[name] = Latency(max(slowest_ns, LAST_BIN_NS) * NANOSECONDS, is_bound=not is_exact)
    return found


def latency_samples(directions: Sequence[Direction], labels: AnyLabels, target_id: int | None) -> list[Sample]:
    """Return a sample for each percentile."""
    found = latencies(directions)
    return [Sample("latency", one.seconds, {**labels, "percentile": name}, target_id) for name, one in found.items()]


def latency_flags(directions: Sequence[Direction], labels: AnyLabels, target_id: int | None) -> list[Flag]:
    """Return BOUND for each percentile that lies beyond the end of fio's histogram."""
    end = format_value(LAST_BIN_NS * NANOSECONDS, Unit.SECONDS)
    return [
        marked(
            FlagCode.BOUND,
            f"{name} is over {end}; {_stands_for(one)}",
            f"{end}, where fio's histogram ends",
            {**labels, "percentile": name},
            target_id,
        )
        for name, one in latencies(directions).items()
        if one.is_bound
    ]


def _stands_for(latency: Latency) -> str:
    if latency.seconds <= LAST_BIN_NS * NANOSECONDS:
        return "fio did not print its slowest operation, so this is the least that it can be"
    return f"the slowest operation, {format_value(latency.seconds, Unit.SECONDS)}, is the most that it can be"


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
