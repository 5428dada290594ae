"""Reads fio's JSON, the only output of fio that is believed: byte counts, run times and latency bins."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from iotide_agent.workloads.base import OutputRefusedError

NANOSECONDS: Final = 1e-9
MILLISECONDS: Final = 1e-3

_Count = Annotated[int, Field(ge=0, le=2**64 - 1)]
_REMARK: Final = re.compile(r"^fio: .*\n", re.MULTILINE)
"""What may stand before, between and after the documents."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Latencies(_Part):
    """Completion latencies: how many operations took about so many nanoseconds.

    Attributes:
        bins: operations by latency in nanoseconds; only `--output-format=json+` prints them.
    """

    operation_count: _Count = Field(alias="N")
    bins: dict[_Count, _Count] = {}


class Direction(_Part):
    """What a job did in one direction.

    Attributes:
        total_ios: operations, with one that failed.
        runtime: milliseconds from its first operation to its last, with the final fsync.
    """

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


class Job(_Part):
    """One writer or reader.

    Attributes:
        error: errno of its first error, 0 where there was none.
        total_err: how many errors `continue_on_error` swallowed.
    """

    jobname: str
    error: int
    total_err: int = 0
    read: Direction
    write: Direction


class Report(_Part):
    """The last document of an output; `--status-interval` and signals make fio print one before the end."""

    jobs: Annotated[tuple[Job, ...], Field(min_length=1)]


def read_report(step: str, text: str) -> Report:
    """The report that ends `text`, below whatever fio complained of before its first brace.

    Raises:
        OutputRefusedError: there is none, it is cut off, or something follows it.
    """
    _, brace, rest = text.partition("{")
    documents = brace + _REMARK.sub("", rest)
    if not documents:
        raise OutputRefusedError(step, "fio printed no JSON", text)
    decoder = json.JSONDecoder()
    try:
        while documents:
            document, end = decoder.raw_decode(documents)
            documents = documents[end:].strip()
        return Report.model_validate(document)
    except (ValueError, RecursionError) as error:  # also numbers that are too long, nested too deep
        raise OutputRefusedError(step, "fio's JSON is cut off or not as its manual says", text[-500:]) from error


def merged_bins(directions: Iterable[Direction]) -> Counter[int]:
    """The latency bins of several jobs as one histogram, in nanoseconds."""
    merged: Counter[int] = Counter()
    for direction in directions:
        merged.update(direction.clat_ns.bins)
    return merged


def percentile_seconds(bins: Counter[int], percent: float) -> float:
    """The latency in seconds that `percent` of all operations did not exceed, by fio's own rule.

    Raises:
        ValueError: there is no operation.
    """
    wanted = percent / 100 * bins.total()
    seen = 0
    for latency_ns in sorted(bins):
        seen += bins[latency_ns]
        if seen >= wanted:
            return latency_ns * NANOSECONDS
    raise ValueError("no operation, no percentile")
