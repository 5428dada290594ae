"""Plan of a campaign, from a YAML file, a REST call or the browser's form."""

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, BeforeValidator, Field, StrictBool, StrictInt, model_validator

from iotide_wire.base import NAME_PATTERN, Message, Name, Text
from iotide_wire.catalogue import WorkloadName
from iotide_wire.host_lists import hosts_of
from iotide_wire.scratch_plan import ScratchPlan
from iotide_wire.units import parse_ratio, parse_seconds
from iotide_wire.window import Window


class Exclusivity(StrEnum):
    """Resources that a run has for itself."""

    NONE = "none"
    NODE = "node"
    NODE_AND_TARGET = "node+target"
    CLUSTER = "cluster"


class CachePolicy(StrEnum):
    """How to keep read phases from reading the node's memory.

    DROP: the page cache is emptied before each read phase. REMOUNT: the target is remounted before each, by the
    command in the node's agent.toml. LARGER_THAN_MEMORY: the data is at least twice the node's memory. NONE: reads
    are flagged as warm.
    """

    DROP = "drop"
    REMOUNT = "remount"
    LARGER_THAN_MEMORY = "larger_than_memory"
    NONE = "none"


class QuietPolicy(StrEnum):
    """Policy for a run whose node is used by others.

    IGNORE: it starts, and other load is stored but not flagged. FLAG: it starts and is flagged, after up to 5 s if
    the node was not sampled in the last minute. WAIT: it holds its node until that is idle. After a limit it is
    declined and tried again later. REFUSE: it fails at once.
    """

    IGNORE = "ignore"
    FLAG = "flag"
    WAIT = "wait"
    REFUSE = "refuse"


MOST_VARIANT_CHARACTERS: Final = 250
"""The longest variant of scratch disks has about 210."""
Variant = Annotated[str, Field(min_length=1, max_length=MOST_VARIANT_CHARACTERS)]

_ONE_NAME: Final = NAME_PATTERN.removeprefix("^").removesuffix("$")
PlannedTarget = Annotated[str, Field(pattern=rf"^{_ONE_NAME}(/{_ONE_NAME})?$")]
"""Name of a target, or `node/set` for the file system that the plan's block `scratch` makes."""

NodesAtOnce = (
    StrictBool | Annotated[list[Annotated[StrictInt, Field(ge=1, le=10_000)]], Field(min_length=1, max_length=100)]
)
"""Which nodes load together. false: each alone. true: all. A list of counts: the first N nodes for each count, to see
how a file system scales with its clients.
"""


def seconds_of(given: object) -> object:
    """Return a duration in seconds from a number or a text with a unit, such as `30 s`."""
    return parse_seconds(given) if isinstance(given, str) else given


def ratio_of(given: object) -> object:
    """Return a ratio from a number or a percentage, such as `3 %`."""
    return parse_ratio(given) if isinstance(given, str) else given


class Roles(Message):
    """Sender and receiver of a workload between two nodes.

    Attributes:
        sender: loads no target, and needs none mounted.
        receiver: loads the targets.
    """

    sender: Name
    receiver: Name


def _listed(given: object) -> object:
    return [given] if isinstance(given, dict | Roles) else given


RoleSets = Annotated[
    Annotated[list[Roles], Field(min_length=1, max_length=10_000)] | Literal["each_pair"], BeforeValidator(_listed)
]
"""Pairs of nodes that a workload runs between, one after another. `each_pair`: each node sends to each other node. A
single pair needs no list.
"""


class WorkloadChoice(Message):
    """A workload with its options.

    Attributes:
        options: values by option name, in base units or as text with a unit (`64 MiB`).
        sweep: lists of values by option name; all combinations are run.
        nodes, targets, observers: names from the plan; all by default.
        nodes_at_once, targets_at_once: as in the plan, which is the default.
        variants: stages in which it runs; all by default.
        roles: for a workload between two nodes. `nodes_at_once` of the plan then does not apply.
    """

    workload: WorkloadName
    options: dict[str, Any] = Field(default_factory=dict)
    sweep: dict[str, Annotated[list[Any], Field(min_length=1, max_length=1000)]] = Field(default_factory=dict)
    nodes: Annotated[list[Name], Field(min_length=1, max_length=10_000), BeforeValidator(hosts_of)] | None = None
    nodes_at_once: NodesAtOnce | None = None
    observers: Annotated[list[Name], Field(max_length=1_000), BeforeValidator(hosts_of)] | None = None
    targets: Annotated[list[PlannedTarget], Field(min_length=1, max_length=1_000)] | None = None
    targets_at_once: bool | None = None
    variants: Annotated[list[Variant], Field(min_length=1, max_length=1_000)] | None = None
    roles: RoleSets | None = None


class PlannedStage(Message):
    """A state of the servers in which the whole matrix is run.

    Attributes:
        variant: name of the state, for instance `ext3 data=journal`. Its results have their own series.
        pause: what an operator does to the servers and confirms before the stage begins.
    """

    variant: Variant
    pause: Annotated[str, Field(min_length=1, max_length=4000)] | None = None


MOST_ADAPTIVE_REPEATS: Final = 40


class AdaptiveRepeats(Message):
    """Rule that ends the repeats of a configuration before the plan's maximum.

    Attributes:
        until_ratio: stop when half the width of the median's 97 % interval is at most this ratio of the median. It is
            computed after 8, 12, 16, 24 and 40 valid runs. `until: 3 %` works too.
        seconds: no run starts later than this after the first one of its stage. `6 h` works too.
    """

    until_ratio: Annotated[
        float,
        BeforeValidator(ratio_of),
        Field(gt=0, le=0.5, validation_alias=AliasChoices("until_ratio", "until")),
    ]
    seconds: Annotated[float, BeforeValidator(seconds_of), Field(gt=0, le=90 * 86_400)] | None = None


class CampaignPlan(Message):
    """Workloads, nodes, targets, repeats and conditions of a campaign.

    Attributes:
        nodes, targets: names; each is measured separately, except with `nodes_at_once` and `targets_at_once`. Nodes and
            observers may be host lists such as `node[001-128]`.
        nodes_at_once: nodes that load together, as a gang with one start time.
        observers: names of nodes, such as storage servers, that sample CPU, disks and network during runs in which
            they are not a load. They are not locked or awaited.
        targets_at_once: each run loads all targets together.
        repeats: runs per configuration; with `adaptive`, the maximum.
        adaptive: rule that ends the repeats of a configuration earlier. `repeats: {until: 3 %, most: 40, seconds: 6 h}`
            sets both.
        spread_seconds: time over which the repeats are released evenly, for instance one a day. `spread: 3 days` works
            too.
        time_limit_seconds: a run that takes longer is stopped and fails.
        attempts_allowed: maximum attempts of a run that is lost or declined.
        priority: 0 to 9. Each step is worth one hour of queue time.
        cool_down_seconds: idle time after a run. `cool_down: 30 s` works too.
        quiet: policy for a run whose node is used by others.
        quiet_wait_seconds: with `wait`, how long the run holds its node. `quiet_wait: 5 min` works too.
        stages: states in which the whole matrix is run, one after another.
        scratch: instead of stages: file systems that a node makes on its scratch disks, each a stage.
        window: hours of a day in which runs may start and, by their time limit, end.
    """

    name: Name
    cluster: Name
    nodes: Annotated[list[Name], Field(min_length=1, max_length=10_000), BeforeValidator(hosts_of)]
    nodes_at_once: NodesAtOnce = False
    observers: Annotated[list[Name], Field(max_length=1_000), BeforeValidator(hosts_of)] = Field(default_factory=list)
    targets: Annotated[list[PlannedTarget], Field(min_length=1, max_length=1_000)]
    targets_at_once: bool = False
    workloads: Annotated[list[WorkloadChoice], Field(min_length=1, max_length=100)]
    repeats: Annotated[int, Field(ge=1, le=1_000)] = 4
    adaptive: AdaptiveRepeats | None = None
    spread_seconds: Annotated[
        Annotated[float, Field(gt=0, le=90 * 86_400)] | None,
        BeforeValidator(seconds_of),
        Field(validation_alias=AliasChoices("spread_seconds", "spread")),
    ] = None
    exclusive: Exclusivity = Exclusivity.NODE
    cache: CachePolicy = CachePolicy.DROP
    cool_down_seconds: Annotated[
        float,
        BeforeValidator(seconds_of),
        Field(ge=0, le=86_400, validation_alias=AliasChoices("cool_down_seconds", "cool_down")),
    ] = 0.0
    quiet: QuietPolicy = QuietPolicy.FLAG
    quiet_wait_seconds: Annotated[
        float,
        BeforeValidator(seconds_of),
        Field(gt=0, le=3_600, validation_alias=AliasChoices("quiet_wait_seconds", "quiet_wait")),
    ] = 60.0
    time_limit_seconds: Annotated[float, Field(gt=0, le=30 * 86_400)] = 3_600.0
    window: Window | None = None
    stages: Annotated[list[PlannedStage], Field(max_length=50)] = Field(default_factory=list)
    scratch: ScratchPlan | None = None
    attempts_allowed: Annotated[int, Field(ge=1, le=10)] = 2
    priority: Annotated[int, Field(ge=0, le=9)] = 0
    note: Text = ""

    @model_validator(mode="before")
    @classmethod
    def _with_adaptive(cls, given: Any) -> Any:  # noqa: ANN401 - not checked yet
        """Accept `repeats: {until: 3 %, most: 40}` for `repeats` and `adaptive`."""
        rule = given.get("repeats") if isinstance(given, dict) and "adaptive" not in given else None
        if not isinstance(rule, dict):
            return given
        until = {name: value for name, value in rule.items() if name != "most"}
        return {**given, "repeats": rule.get("most", MOST_ADAPTIVE_REPEATS), "adaptive": until}
