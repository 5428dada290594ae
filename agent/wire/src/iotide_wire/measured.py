"""What a run measured: its commands, its numbers, and what a sceptic must know of them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import FailFast, Field

from iotide_wire.base import Message, Text, UtcTime
from iotide_wire.catalogue import LabelName


class StepRole(StrEnum):
    """What a command does in its run."""

    CLIENT = "client"
    SENDER = "sender"
    RECEIVER = "receiver"
    OBSERVER = "observer"


class StepRecord(Message):
    """One command as it was really run.

    Attributes:
        argv: the exact argument list.
        exit_status: None where a signal ended it.
        user_seconds, system_seconds: of the process and its waited-for children, from wait4.
        before_done: what was really done just before it, see `Before` of the agent's workloads; None from agents that
            did not say.
    """

    name: Text
    phase: Text
    argv: Annotated[tuple[str, ...], Field(min_length=1, max_length=1000), FailFast()]
    role: StepRole = StepRole.CLIENT
    target_id: int | None
    writer: int | None
    started_at: UtcTime
    wall_seconds: float
    user_seconds: float
    system_seconds: float
    max_rss_bytes: int
    exit_status: int | None
    signal: int | None
    before_done: Text | None = None


class SampleMessage(Message):
    """One number of a run, in the metric's base unit."""

    metric: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
    value: Annotated[float, Field(allow_inf_nan=False)]
    labels: dict[LabelName, str | int | float | bool]
    target_id: int | None


class FlagCode(StrEnum):
    """What the flags on a run say.

    NO_DIRECT: O_DIRECT was asked for and the file system refuses it. FORK_BOUND: most of the time went into starting
    processes. ZEROES: the data can be compressed or deduped away. TOO_FAST: the tool could not measure it. PEER_ODD:
    the node, target or OST is odd among its equals, and so is this run. PUBLISHED: others measured it, and the number
    is as they printed it. LOAD_NOT_MEASURED: too little was seen of the node to tell whether others used it.
    CUT: the run was ended from outside, by its time limit, a cancel or a signal, so its numbers are of a part.
    BOUND: the tool's scale ends before the value, so the number is a bound.
    """

    CACHE_SIZE = "CACHE_SIZE"
    CACHE_DROP = "CACHE_DROP"
    FSYNC = "FSYNC"
    DURATION = "DURATION"
    STEADY = "STEADY"
    REPEATS = "REPEATS"
    CV = "CV"
    OUTLIER = "OUTLIER"
    STRAGGLER = "STRAGGLER"
    CLIENT_BOUND = "CLIENT_BOUND"
    CLOCK = "CLOCK"
    ERRORS = "ERRORS"
    ENV_CHANGED = "ENV_CHANGED"
    DEGRADED = "DEGRADED"
    FOREIGN_LOAD = "FOREIGN_LOAD"
    WRONG_MOUNT = "WRONG_MOUNT"
    FORK_BOUND = "FORK_BOUND"
    NO_DIRECT = "NO_DIRECT"
    ZEROES = "ZEROES"
    TOO_FAST = "TOO_FAST"
    PEER_ODD = "PEER_ODD"
    PUBLISHED = "PUBLISHED"
    LOAD_NOT_MEASURED = "LOAD_NOT_MEASURED"
    CUT = "CUT"
    BOUND = "BOUND"

    @property
    def since_version(self) -> int:
        """Return the first wire version that knows the code; an older server refuses a whole result for it."""
        return 3 if self in {FlagCode.LOAD_NOT_MEASURED, FlagCode.CUT, FlagCode.BOUND} else 1


class FlagEffect(StrEnum):
    """What a flag does to the run's numbers."""

    MARKED = "marked"
    REJECTED = "rejected"


class Flag(Message):
    """Something about a run that a sceptic must know, with the measured value and the limit it crossed.

    Attributes:
        labels, target_id: the samples that it concerns, those that bear all these labels; none named means all.
    """

    code: FlagCode
    effect: FlagEffect
    measured: Text
    limit: Text
    labels: dict[LabelName, str | int | float | bool] = Field(default_factory=dict)
    target_id: int | None = None

    def concerns(self, labels: Mapping[str, object], target_id: int | None) -> bool:
        """Whether it says something about a sample with these labels."""
        is_there = self.target_id is None or self.target_id == target_id
        return is_there and self.labels.items() <= labels.items()


class Check(StrEnum):
    """A question about the quality of a run; `iotide_wire.checks` has the three answers of each.

    The flags that an agent always can decide, from options or from what its runner did, have no check of their own.
    """

    LOAD_BEFORE = "load_before"
    NEIGHBOURS = "neighbours"
    LOAD_DURING = "load_during"
    STEADINESS = "steadiness"
    CLIENT_LIMIT = "client_limit"
    CLOCK = "clock"
    STORAGE_CONDITION = "storage_condition"
    STORAGE_ERRORS = "storage_errors"
    CACHE_SIZE = "cache_size"
    CACHE_DROP = "cache_drop"
    DATA_SOURCE = "data_source"
    SAME_START = "same_start"
    OUTLIER = "outlier"
    ENVIRONMENT = "environment"


class NotJudged(Message):
    """A check without an answer: too little was seen to call the run good or bad in this respect.

    Attributes:
        because: what was missing, with the amount and the amount needed where there is one.
        phase: names of the steps concerned; empty where it is about the whole run.
    """

    check: Check
    because: Text
    phase: Text = ""


Answer = Flag | NotJudged
"""What a check answers where it does not pass."""
