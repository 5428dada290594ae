"""All quality checks of a run. A check passes, raises a flag, or is not judged; "too little data" never passes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from iotide_wire.measured import Check, FlagCode


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """The three answers of a check: what was observed if it passes, the flag, and when it has no answer.

    Without a flag, the node refuses such runs.
    """

    title: str
    passed: str
    flag: FlagCode | None
    not_judged: str


CHECKS: Final[Mapping[Check, CheckSpec]] = {
    Check.LOAD_BEFORE: CheckSpec(
        "other load before the run",
        "5 idle seconds within the last minute, all below the limits of agent.toml",
        FlagCode.FOREIGN_LOAD,
        "fewer than 5 idle seconds were sampled, or the kernel does not report one of the values",
    ),
    Check.NEIGHBOURS: CheckSpec(
        "sessions and batch jobs",
        "who, squeue or bjobs answered, and sessions and jobs were within the limits",
        FlagCode.FOREIGN_LOAD,
        "an installed batch system, or `who`, did not answer within 5 s",
    ),
    Check.LOAD_DURING: CheckSpec(
        "other load during the run",
        "5 whole seconds of the phase, with at most a tenth of CPU and storage traffic not caused by the run",
        FlagCode.FOREIGN_LOAD,
        "the phase is shorter, a counter is missing, or the load cannot be distinguished from others",
    ),
    Check.STEADINESS: CheckSpec(
        "steadiness",
        "25 whole seconds in five windows within 20 % of their mean, without a slope above 10 %",
        FlagCode.STEADY,
        "the phase is shorter, or no counter recorded its bytes",
    ),
    Check.CLIENT_LIMIT: CheckSpec(
        "node limit",
        "CPU, threads and link of the node at most 90 % busy",
        FlagCode.CLIENT_BOUND,
        "the phase has fewer than 5 whole seconds, a step is shorter than 1 s, or a counter is missing",
    ),
    Check.CLOCK: CheckSpec(
        "time of day",
        "the time of day and the clock since boot advanced alike",
        FlagCode.TIME_SET,
        "the runner recorded no start or end",
    ),
    Check.STORAGE_CONDITION: CheckSpec(
        "storage condition",
        "nothing below the target was degraded, rebuilt or scrubbed before and after the run",
        FlagCode.DEGRADED,
        "it was not read before or after the run, or a command or file could not be read",
    ),
    Check.STORAGE_ERRORS: CheckSpec(
        "storage error counters",
        "no error counter rose during the run",
        FlagCode.ERRORS,
        "a counter was not read before or after the run",
    ),
    Check.CACHE_SIZE: CheckSpec(
        "data larger than memory",
        "at least twice the node's memory, or O_DIRECT on a file system without a cache of its own",
        FlagCode.CACHE_SIZE,
        "the node does not report its memory",
    ),
    Check.CACHE_DROP: CheckSpec(
        "cold cache",
        "the cache was emptied before the read, and the file system keeps none of its own",
        FlagCode.CACHE_DROP,
        "the file system is in memory, or this node wrote the data shortly before, so its server may have it in memory",
    ),
    Check.DATA_SOURCE: CheckSpec(
        "speed of the data source",
        "the source of random data was busy at most 80 % of the time",
        FlagCode.CLIENT_BOUND,
        "the source left no report",
    ),
    Check.SAME_START: CheckSpec(
        "common start of the nodes",
        "the nodes of the run started within 1 % of the shortest load, and none took 1.5 times as long as the others",
        FlagCode.STRAGGLER,
        "a node reported no start",
    ),
    Check.OUTLIER: CheckSpec(
        "distance from other runs",
        "as close to the median of its configuration as in 99 of 100 ordinary configurations",
        FlagCode.OUTLIER,
        "its configuration has too few runs",
    ),
    Check.ENVIRONMENT: CheckSpec(
        "same environment",
        "all facts are the same as in the previous run",
        FlagCode.ENV_CHANGED,
        "there is no earlier run of its configuration, or facts are missing",
    ),
    Check.TOOL_RELEASE: CheckSpec(
        "tested release of the tool",
        "the tool is one of the releases in docs/tested.md",
        None,
        "the tool is newer than any release that was tested, or its release is unknown",
    ),
}


def as_table() -> str:
    head = "| check | passes | else | not judged |\n|---|---|---|---|\n"
    rows = (f"| {one.title} | {one.passed} | {one.flag or 'refused'} | {one.not_judged} |\n" for one in CHECKS.values())
    return head + "".join(rows)
