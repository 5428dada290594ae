"""Parser of the line of comma-separated values that ends bonnie++'s output."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from iotide_agent.workloads.base import OutputRefusedError

TOO_FAST: Final = "+"
"""A figure that bonnie++ does not print, because its phase was too short."""

_STREAMS: Final = ("putc", "put_block", "rewrite", "getc", "get_block", "seeks")
_FILES: Final = ("seq_create", "seq_stat", "seq_del", "ran_create", "ran_stat", "ran_del")
_HEAD: Final = ("format_version", "bonnie_version", "name", "concurrency", "seed", "file_size", "io_chunk_size")
_FIGURES: Final = (
    *(name for stream in _STREAMS for name in (stream, f"{stream}_cpu")),
    *("num_files", "max_size", "min_size", "num_dirs", "file_chunk_size"),
    *(name for files in _FILES for name in (files, f"{files}_cpu")),
    *(f"{name}_latency" for name in (*_STREAMS, *_FILES)),
)

# Formats 1.96 and 1.97 lack the counts, and so does the header that bonnie++ -x prints in any format.
_COUNTS: Final = ("seek_count", "seeker_count")
FIELDS: Final[Mapping[int, tuple[str, ...]]] = {
    len(names): names for names in ((*_HEAD, *_FIGURES), (*_HEAD, *_COUNTS, *_FIGURES))
}
"""Names of the fields of a line, by their number."""

_FORMAT: Final = re.compile(r"1\.9[678]|2\.\d{1,3}")
_SIZE: Final = re.compile(r"(\d{1,15})([MG])")
_MEBIBYTES: Final = {"M": 1, "G": 1024}
_LATENCY: Final = re.compile(r"(\d{1,15})(us|ms|s)")
_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_FIGURE: Final = re.compile(r"\d{1,15}(?:\.\d{1,15})?|\++")


@dataclass(frozen=True, slots=True)
class BonniePhase:
    field: str
    title: str
    metric: Literal["throughput", "iops", "operation_rate"]
    operation: str
    order: str = ""
    by_byte: bool = False
    reads: bool = False


PHASES: Final = (
    BonniePhase("putc", "Writing a byte at a time", "throughput", "char_write", by_byte=True),
    BonniePhase("put_block", "Writing intelligently", "throughput", "write"),
    BonniePhase("rewrite", "Rewriting", "throughput", "rewrite", reads=True),
    BonniePhase("getc", "Reading a byte at a time", "throughput", "char_read", by_byte=True, reads=True),
    BonniePhase("get_block", "Reading intelligently", "throughput", "read", reads=True),
    BonniePhase("seeks", "start 'em", "iops", "seek", reads=True),
    BonniePhase("seq_create", "Create files in sequential order", "operation_rate", "create", "sequential"),
    BonniePhase("seq_stat", "Stat files in sequential order", "operation_rate", "stat", "sequential", reads=True),
    BonniePhase("seq_del", "Delete files in sequential order", "operation_rate", "delete", "sequential"),
    BonniePhase("ran_create", "Create files in random order", "operation_rate", "create", "random"),
    BonniePhase("ran_stat", "Stat files in random order", "operation_rate", "stat", "random", reads=True),
    BonniePhase("ran_del", "Delete files in random order", "operation_rate", "delete", "random"),
)
"""In execution order."""


@dataclass(frozen=True, slots=True)
class BonnieReport:
    """Figures as printed: TOO_FAST if not shown, empty if not run. Latencies in seconds or None."""

    file_mib: int
    file_thousands: int
    rates: Mapping[BonniePhase, str]
    cpu_percents: Mapping[BonniePhase, str]
    latencies: Mapping[BonniePhase, float | None]


def read_report(step: str, text: str) -> BonnieReport:
    """Return the report; raise OutputRefusedError unless it is the only one, in the last line."""
    lines = [line.split(",") for line in text.split("\n")]
    fields = lines[-2] if lines[1:] and lines[-1] == [""] else []
    reports = [line for line in lines if len(line) > 1 and _FORMAT.fullmatch(line[0])]
    if len(fields) not in FIELDS or reports != [fields]:
        raise OutputRefusedError(step, _unread(reports), text[-500:])
    values = dict(zip(FIELDS[len(fields)], fields, strict=True))
    return BonnieReport(
        file_mib=_mebibytes(step, values["file_size"]),
        file_thousands=int(_checked(step, values["num_files"], re.compile(r"\d{0,15}")) or 0),
        rates={phase: _figure(step, values[phase.field]) for phase in PHASES},
        cpu_percents={phase: _figure(step, values[f"{phase.field}_cpu"]) for phase in PHASES},
        latencies={phase: _seconds(step, values[f"{phase.field}_latency"]) for phase in PHASES},
    )


def _unread(reports: Sequence[Sequence[str]]) -> str:
    wanted = f"expected one line of format 1.96 to 2 with {' or '.join(map(str, FIELDS))} fields, at the end"
    if not reports:
        return f"{wanted}; there is none"
    return f"{wanted}; bonnie++ {reports[-1][1]} printed {len(reports)}, the last with {len(reports[-1])}"


def _mebibytes(step: str, text: str) -> int:
    if not text:
        return 0
    match = _SIZE.fullmatch(_checked(step, text, _SIZE))
    return int(match[1]) * _MEBIBYTES[match[2]] if match else 0


def _figure(step: str, text: str) -> str:
    if not text:
        return ""
    return TOO_FAST if _checked(step, text, _FIGURE).startswith("+") else text


def _seconds(step: str, text: str) -> float | None:
    if not text or text.startswith("+"):
        return None
    match = _LATENCY.fullmatch(_checked(step, text, _LATENCY))
    return int(match[1]) * _SECONDS[match[2]] if match else None


def _checked(step: str, text: str, pattern: re.Pattern[str]) -> str:
    if not pattern.fullmatch(text):
        raise OutputRefusedError(step, "a field is not a figure", text)
    return text
