"""Parser of fio's JSON and of its bandwidth log per second."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from iotide_agent.workloads.base import AnyLabels, Curve, OutputRefusedError, Sample
from iotide_agent.workloads.quality import marked
from iotide_wire.measured import Flag, FlagCode
from iotide_wire.units import KIB, Unit, format_value

NANOSECONDS: Final = 1e-9
LAST_BIN_NS: Final = 2**33 + 63 * 2**27
"""Start of the last bin of fio's histogram, 17.05 s, which holds every slower operation. fio prints its middle."""
MILLISECONDS: Final = 1e-3

_Count = Annotated[int, Field(ge=0, le=2**64 - 1)]
_REMARK: Final = re.compile(r"^fio: .*\n", re.MULTILINE)
"""Lines that may precede, separate and follow the JSON documents."""
_NO_NUMBER: Final = re.compile(r"(?<=: )-?(?:nan|inf)\b")
"""Means of nothing, as fio prints them; JSON has no word for them."""


class _FioPart(BaseModel):
    model_config = ConfigDict(frozen=True)


class Latencies(_FioPart):
    """Completion latencies in nanoseconds.

    Attributes:
        counted: operations with a latency; fio before 3.18 does not print it.
        bins: latencies with their counts, from `--output-format=json+` only.
        percentile: fio's own, by percent.
    """

    counted: _Count | None = Field(default=None, alias="N")
    slowest: _Count | None = Field(default=None, alias="max")
    bins: dict[_Count, _Count] = {}
    percentile: dict[float, _Count] = {}

    @property
    def operation_count(self) -> int:
        return self.counted or sum(self.bins.values())


class Direction(_FioPart):
    """Work in one direction. `runtime` is in milliseconds, with the final fsync."""

    io_bytes: _Count
    runtime: _Count
    total_ios: _Count
    short_ios: _Count
    drop_ios: _Count
    clat_ns: Latencies

    @property
    def done_ios(self) -> int:
        """Return the successful operations: failed ones have no latency. Without any latency, bytes show success."""
        counted = self.clat_ns.operation_count
        return min(self.total_ios, counted) if counted or not self.io_bytes else self.total_ios

    @property
    def is_measured(self) -> bool:
        return self.runtime > 0 and self.done_ios > 0


class FioJob(_FioPart):
    """One writer or reader: its first errno, and the errors that `continue_on_error` ignored."""

    jobname: str
    error: int
    total_err: int = 0
    read: Direction
    write: Direction


class FioReport(_FioPart):
    """Last JSON document. `--status-interval` and signals make fio print others before."""

    jobs: Annotated[tuple[FioJob, ...], Field(min_length=1)]


def read_report(step: str, text: str) -> FioReport:
    """Return the last report in `text`, after fio's messages; raise OutputRefusedError if it is cut."""
    _, brace, rest = text.partition("{")
    documents = _NO_NUMBER.sub("null", brace + _REMARK.sub("", rest))
    if not documents:
        raise OutputRefusedError(step, "fio printed no JSON", text)
    decoder = json.JSONDecoder()
    try:
        while documents:
            document, end = decoder.raw_decode(documents)
            documents = documents[end:].strip()
        return FioReport.model_validate(document)
    except json.JSONDecodeError as error:
        line = error.doc.split("\n")[error.lineno - 1]
        problem = f"fio's JSON is cut off or broken in its line {error.lineno}" if line else "fio's JSON is cut off"
        raise OutputRefusedError(step, problem, line or text[-500:]) from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise OutputRefusedError(step, f"fio's JSON has no readable {field}", repr(first["input"])) from error
    except (ValueError, RecursionError) as error:  # numbers too long, nesting too deep
        raise OutputRefusedError(step, "fio's JSON does not match its manual", text[-500:]) from error


def merged_bins(directions: Iterable[Direction]) -> Counter[int]:
    merged: Counter[int] = Counter()
    for direction in directions:
        merged.update(direction.clat_ns.bins)
    return merged


def percentile_seconds(bins: Counter[int], percent: float) -> float:
    wanted = percent / 100 * bins.total()
    seen = 0
    for latency_ns in sorted(bins):
        seen += bins[latency_ns]
        if seen >= wanted:
            return latency_ns * NANOSECONDS
    raise ValueError("no operations, so there is no percentile")


PERCENTILES: Final = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9}


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentile in seconds; `is_bound`: it lies beyond fio's histogram."""

    seconds: float
    is_bound: bool


def latencies(directions: Sequence[Direction]) -> dict[str, Latency]:
    """Return the percentiles of several jobs together, none without bins: percentiles of jobs do not add up.

    In the last bin the slowest operation is an upper bound, exact if the bin holds only it.
    """
    measured = [direction for direction in directions if direction.is_measured]
    bins = merged_bins(measured)
    over = sum(count for latency_ns, count in bins.items() if latency_ns >= LAST_BIN_NS)
    slowest_ns = max((direction.clat_ns.slowest or 0 for direction in directions), default=0)
    found = {}
    for name, percent in PERCENTILES.items():
        seconds = percentile_seconds(bins, percent) if bins else _printed_seconds(measured, percent)
        if seconds is None:
            continue
        if seconds < LAST_BIN_NS * NANOSECONDS:
            found[name] = Latency(seconds, is_bound=False)
        else:
            is_exact = over == 1 and slowest_ns >= LAST_BIN_NS
            found[name] = Latency(max(slowest_ns, LAST_BIN_NS) * NANOSECONDS, is_bound=not is_exact)
    return found


def _printed_seconds(measured: Sequence[Direction], percent: float) -> float | None:
    printed_ns = measured[0].clat_ns.percentile.get(percent) if len(measured) == 1 else None
    return None if printed_ns is None else printed_ns * NANOSECONDS


def latency_samples(directions: Sequence[Direction], labels: AnyLabels, target_id: int | None) -> list[Sample]:
    found = latencies(directions)
    return [Sample("latency", one.seconds, {**labels, "percentile": name}, target_id) for name, one in found.items()]


def latency_flags(directions: Sequence[Direction], labels: AnyLabels, target_id: int | None) -> list[Flag]:
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
        return "this is a lower bound, because fio did not print its slowest operation"
    return f"at most {format_value(latency.seconds, Unit.SECONDS)}, the slowest operation"


_LINE: Final = re.compile(r"(\d{1,13}), (\d{1,18}), ([01]), \d+(?:, (?:0x)?[0-9a-f]+){0,3}")
"""Time, rate, direction and block size. fio 3.18 added a priority; options add an offset and an issue time."""
_LEFT_OUT: Final = "[iotide left out"
_STEP_MILLISECONDS: Final = 1000
_MOST_STEPS: Final = 40 * 86_400
"""More than any run lasts. A longer log means that the time of day was set."""
_COUNTERS: Final = {"0": "fio_read_bytes_per_second", "1": "fio_write_bytes_per_second"}

LOG_ARGUMENTS: Final = (
    f"--log_avg_msec={_STEP_MILLISECONDS}",
    # The time of day: jobs that wait for others would count from their own start.
    "--log_unix_epoch=1",
    "--per_job_logs=0",
)


def read_series(text: str) -> list[Curve]:
    """Return a curve of all jobs for each direction; none for a log that was cut or has absurd times.

    A line is the mean of one job over the second before its time, in KiB/s. Its bytes are divided between the two
    seconds that it overlaps. A second without a line moved nothing.
    """
    if _LEFT_OUT in text:
        return []
    by_counter: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for end_milliseconds, rate, direction in _lines(text):
        by_counter[_COUNTERS[direction]].append((end_milliseconds, rate))
    ends = [end for points in by_counter.values() for end, _ in points]
    if ends and max(ends) - min(ends) > _MOST_STEPS * _STEP_MILLISECONDS:
        return []
    return [_curve(counter, points) for counter, points in by_counter.items()]


def _lines(text: str) -> Iterator[tuple[int, float, str]]:
    # A line without a newline may lack digits.
    for line in text[: text.rfind("\n") + 1].splitlines():
        match = _LINE.fullmatch(line)
        if match is not None:
            yield int(match[1]), int(match[2]) * float(KIB), match[3]


def _curve(counter: str, points: list[tuple[int, float]]) -> Curve:
    begin = min(end for end, _ in points) - _STEP_MILLISECONDS
    steps = max(1, round((max(end for end, _ in points) - begin) / _STEP_MILLISECONDS))
    values = [0.0] * (steps + 1)
    for end, rate in points:
        position = (end - begin) / _STEP_MILLISECONDS - 1
        step = floor(position)
        later_share = position - step
        values[min(step, steps)] += rate * (1 - later_share)
        values[min(step + 1, steps)] += rate * later_share
    return Curve(counter, datetime.fromtimestamp(begin / 1000, UTC), tuple(values[:steps]))
