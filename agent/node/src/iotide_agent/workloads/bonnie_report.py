"""Reads the line of comma-separated values that ends bonnie++'s output."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from iotide_agent.workloads.base import OutputRefusedError

TOO_FAST: Final = "+"
"""Stands for a figure that bonnie++ does not show, since its phase was too short."""

_STREAMS: Final = ("putc", "put_block", "rewrite", "getc", "get_block", "seeks")
_FILES: Final = ("seq_create", "seq_stat", "seq_del", "ran_create", "ran_stat", "ran_del")
# The header that bonnie++ -x prints has 48 names for these 50 fields: it leaves out the count of seeks and of seekers.
FIELDS: Final = (
    *("format_version", "bonnie_version", "name", "concurrency", "seed", "file_size", "io_chunk_size"),
    *("seek_count", "seeker_count"),
    *(name for stream in _STREAMS for name in (stream, f"{stream}_cpu")),
    *("num_files", "max_size", "min_size", "num_dirs", "file_chunk_size"),
    *(name for files in _FILES for name in (files, f"{files}_cpu")),
    *(f"{name}_latency" for name in (*_STREAMS, *_FILES)),
)

_FORMAT: Final = "1.98"
_SIZE: Final = re.compile(r"(\d{1,15})([MG])")
_MEBIBYTES: Final = {"M": 1, "G": 1024}
_LATENCY: Final = re.compile(r"(\d{1,15})(us|ms|s)")
_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_FIGURE: Final = re.compile(r"\d{1,15}(?:\.\d{1,15})?|\++")


@dataclass(frozen=True, slots=True)
class BonniePhase:
    """One of the twelve phases, by its name in FIELDS and what is printed when it begins; `order`: of files' names."""

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
"""In the order in which they are done."""


@dataclass(frozen=True, slots=True)
class BonnieReport:
    """The figures of a run as printed: TOO_FAST where not shown, empty where not run; latencies in seconds or None."""

    file_mib: int
    file_thousands: int
    rates: Mapping[BonniePhase, str]
    cpu_percents: Mapping[BonniePhase, str]
    latencies: Mapping[BonniePhase, float | None]


def read_report(step: str, text: str) -> BonnieReport:
    """Return the report in the last line; raise OutputRefusedError where it is not bonnie++ 2.00's only one."""
    lines = [line.split(",") for line in text.split("\n")]
    fields = lines[-2] if lines[1:] and lines[-1] == [""] else []
    if len(fields) != len(FIELDS) or [line[0] for line in lines].count(_FORMAT) != 1:
        problem = f"the last line is not the only one of format {_FORMAT}, with its {len(FIELDS)} fields"
        raise OutputRefusedError(step, problem, text[-500:])
    values = dict(zip(FIELDS, fields, strict=True))
    return BonnieReport(
        file_mib=_mebibytes(step, values["file_size"]),
        file_thousands=int(_checked(step, values["num_files"], re.compile(r"\d{0,15}")) or 0),
        rates={phase: _figure(step, values[phase.field]) for phase in PHASES},
        cpu_percents={phase: _figure(step, values[f"{phase.field}_cpu"]) for phase in PHASES},
        latencies={phase: _seconds(step, values[f"{phase.field}_latency"]) for phase in PHASES},
    )


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
        raise OutputRefusedError(step, "a field is no figure", text)
    return text
