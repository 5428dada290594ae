"""Results of a run: its commands, numbers and quality flags."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Final

from pydantic import FailFast, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from iotide_wire.base import Message, Text, UtcTime
from iotide_wire.catalogue import LabelName
from iotide_wire.versions import Since


class StepRole(StrEnum):
    """Part of a node in a run. A MAKER prepares scratch disks and measures nothing.

    Of one program over several nodes, the HEAD starts the launcher and has the results; a MEMBER starts remote parts.
    """

    CLIENT = "client"
    SENDER = "sender"
    RECEIVER = "receiver"
    OBSERVER = "observer"
    MAKER = "maker"
    HEAD = "head"
    MEMBER = "member"


GANG_ROLES: Final = frozenset({StepRole.HEAD, StepRole.MEMBER})
WITHOUT_TARGETS: Final = frozenset({StepRole.SENDER, StepRole.MAKER})
"""Roles of nodes that load no target."""


class StepRecord(Message):
    """One command as it ran.

    Attributes:
        argv: exact argument list.
        exit_status: null if a signal ended it.
        user_seconds, system_seconds: of the process and its waited-for children.
        before_done: preparation that was done, for instance dropping caches; null from older agents.
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


MetricName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]


class SampleMessage(Message):
    metric: MetricName
    value: Annotated[float, Field(allow_inf_nan=False)]
    labels: dict[LabelName, str | int | float | bool]
    target_id: int | None


class FlagRank(IntEnum):
    """Effect of a flag on the numbers that it concerns.

    NOT_MEASURED: no number uses them. UNLIKE: they measure something else than their name, and are not compared with
    numbers that lack the flag. DISTURBED: a possible reason for a change, an outlier or a difference. SMALL_PLAN: the
    plan measures too little; it is stated once for a campaign.
    """

    NOT_MEASURED = 1
    UNLIKE = 2
    DISTURBED = 3
    SMALL_PLAN = 4


class FlagCode(StrEnum):
    """Quality flags of a run; `x-ranks` has the rank of each, 1 (not measured) to 4 (plan too small).

    NO_DIRECT: the file system refused O_DIRECT, or the tool did not use it. FORK_BOUND: most of the time went into
    starting processes. ZEROES: the data can be compressed or deduplicated, or was never written. TOO_FAST: the tool
    could not measure it. PEER_ODD: node, target or OST and run are outliers among their peers. PUBLISHED: a
    published number. LOAD_NOT_MEASURED: other load is unknown. CUT: a time limit, cancel or signal ended the run
    early. BOUND: the value is beyond the tool's scale. TOOL_CLOCK: the tool reports more time than its process
    lived. TIME_SET: the time of day was set during the run. NODE_TIME: the node's time is far from the server's.
    LATE_START: nodes or writers started late. CLOCK: one of these four, from agents before wire version 3. GANG: nodes
    of one program lost contact for seconds, or its launcher hung after the results.
    """

    CACHE_SIZE = "CACHE_SIZE"
    CACHE_DROP = "CACHE_DROP"
    FSYNC = "FSYNC"
    DURATION = "DURATION"
    STEADY = "STEADY"
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
    TOOL_CLOCK = "TOOL_CLOCK"
    TIME_SET = "TIME_SET"
    NODE_TIME = "NODE_TIME"
    LATE_START = "LATE_START"
    GANG = "GANG"

    @classmethod
    def _missing_(cls, value: object) -> "FlagCode | None":
        return _REMOVED.get(str(value))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        announced = handler(schema)
        handler.resolve_ref_schema(announced)["x-ranks"] = {code.value: code.rank.value for code in cls}
        return announced

    @property
    def rank(self) -> FlagRank:
        """Return the rank of a flag that does not reject its numbers."""
        return RANKS[self]

    def for_version(self, version: int) -> "FlagCode | None":
        """Return the code that an older server knows for this, if any. It rejects a whole result for another."""
        return self if version >= _SPLIT_IN_VERSION else _BEFORE.get(self, self)


RANKS: Final[Mapping[FlagCode, FlagRank]] = {
    **dict.fromkeys(
        (FlagCode.ERRORS, FlagCode.FSYNC, FlagCode.WRONG_MOUNT, FlagCode.TOO_FAST, FlagCode.CUT),
        FlagRank.NOT_MEASURED,
    ),
    **dict.fromkeys(
        (
            *(FlagCode.CACHE_SIZE, FlagCode.CACHE_DROP, FlagCode.ZEROES, FlagCode.NO_DIRECT),
            *(FlagCode.CLIENT_BOUND, FlagCode.FORK_BOUND, FlagCode.BOUND),
        ),
        FlagRank.UNLIKE,
    ),
    **dict.fromkeys(
        (
            *(FlagCode.FOREIGN_LOAD, FlagCode.LOAD_NOT_MEASURED, FlagCode.DEGRADED, FlagCode.STRAGGLER),
            *(FlagCode.STEADY, FlagCode.ENV_CHANGED, FlagCode.OUTLIER, FlagCode.PEER_ODD, FlagCode.PUBLISHED),
            *(FlagCode.TOOL_CLOCK, FlagCode.TIME_SET, FlagCode.NODE_TIME, FlagCode.LATE_START, FlagCode.CLOCK),
            FlagCode.GANG,
        ),
        FlagRank.DISTURBED,
    ),
    **dict.fromkeys((FlagCode.DURATION, FlagCode.CV), FlagRank.SMALL_PLAN),
}
_REMOVED: Final = {"REPEATS": FlagCode.CV}
"""Codes of stored flags and of plug-ins for release 0.2 that have a new name."""
_SPLIT_IN_VERSION: Final = 3
_BEFORE: Final[Mapping[FlagCode, FlagCode | None]] = {
    **dict.fromkeys((FlagCode.LOAD_NOT_MEASURED, FlagCode.CUT, FlagCode.BOUND, FlagCode.GANG)),
    **dict.fromkeys((FlagCode.TOOL_CLOCK, FlagCode.TIME_SET, FlagCode.NODE_TIME, FlagCode.LATE_START), FlagCode.CLOCK),
}


class FlagEffect(StrEnum):
    MARKED = "marked"
    REJECTED = "rejected"


class PeerKind(StrEnum):
    NODES = "nodes"
    TARGETS = "targets"
    OSTS = "osts"


class PeerDistance(Message):
    """Distance of a number from the median of its peers.

    Attributes:
        peer_count: members of the group, with the one concerned.
        difference_ratio: relative to the median; -0.2 is 20 % below it.
    """

    kind: PeerKind
    metric: MetricName
    peer_count: Annotated[int, Field(ge=1, le=2**31 - 1)]
    difference_ratio: Annotated[float, Field(allow_inf_nan=False)]


class Flag(Message):
    """A caution about a run, with the measured value and the limit.

    Attributes:
        labels, target_id: the samples concerned, those with all these labels.
        peers: only of PEER_ODD.
    """

    code: FlagCode
    effect: FlagEffect
    measured: Text
    limit: Text
    labels: dict[LabelName, str | int | float | bool] = Field(default_factory=dict)
    target_id: int | None = None
    peers: Annotated[PeerDistance | None, Since(3)] = None

    @property
    def rank(self) -> FlagRank:
        return FlagRank.NOT_MEASURED if self.effect is FlagEffect.REJECTED else self.code.rank

    def concerns(self, labels: Mapping[str, object], target_id: int | None) -> bool:
        is_there = self.target_id is None or self.target_id == target_id
        return is_there and self.labels.items() <= labels.items()


class Check(StrEnum):
    """A quality check of a run. Flags that an agent can always decide have no check."""

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
    TOOL_RELEASE = "tool_release"


class NotJudged(Message):
    """A check without an answer, because too little was observed.

    Attributes:
        because: what was missing, with the amounts found and needed.
        phase: names of the steps; empty for the whole run.
    """

    check: Check
    because: Text
    phase: Text = ""


Answer = Flag | NotJudged
