"""A campaign as a person writes it, in a YAML file, in a REST call or by the browser's form."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field, StrictBool, StrictInt

from iotide_wire.base import Message, Name, Text
from iotide_wire.catalogue import WorkloadName
from iotide_wire.units import parse_seconds
from iotide_wire.window import Window


class Exclusivity(StrEnum):
    """Who else may load the same resources while a run is active."""

    NONE = "none"
    NODE = "node"
    NODE_AND_TARGET = "node+target"
    CLUSTER = "cluster"


class CachePolicy(StrEnum):
    """How read phases are kept from reading the node's own memory.

    DROP: the page cache is emptied before each. REMOUNT: the target is unmounted and mounted again before each, by the
    command that the node's own agent.toml names for it. LARGER_THAN_MEMORY: nothing is emptied, and all data is at
    least twice the node's memory. NONE: nothing is emptied, and reads are flagged as warm.
    """

    DROP = "drop"
    REMOUNT = "remount"
    LARGER_THAN_MEMORY = "larger_than_memory"
    NONE = "none"


class QuietPolicy(StrEnum):
    """What becomes of a run whose node is not quiet, since others use it.

    IGNORE: it starts, and what others used is stored and not flagged. FLAG: it starts and is flagged, after a wait
    of up to 5 s where its node was not sampled within the last minute. WAIT: it is held back on its node until that is
    quiet, and declined after a while, so that the node goes to others until it is tried again.
    REFUSE: it fails at once.
    """

    IGNORE = "ignore"
    FLAG = "flag"
    WAIT = "wait"
    REFUSE = "refuse"


Variant = Annotated[str, Field(min_length=1, max_length=100)]
"""What a stage is called."""


NodesAtOnce = (
    StrictBool | Annotated[list[Annotated[StrictInt, Field(ge=1, le=10_000)]], Field(min_length=1, max_length=100)]
)
"""Which nodes load together. False: each alone; true: all; counts: so many of the first named, one count after another,
to see how a file system bears more and more clients.
"""


def seconds_of(given: object) -> object:
    """A duration as a number or as text with a unit, `30 s`, in seconds."""
    return parse_seconds(given) if isinstance(given, str) else given


class Roles(Message):
    """Which node sends and which receives, where a workload does its work between two nodes.

    Attributes:
        sender: loads no target, and need not have any mounted.
        receiver: loads the targets with what comes.
    """

    sender: Name
    receiver: Name


def _listed(given: object) -> object:
    """One mapping of roles stands for a list of it."""
    return [given] if isinstance(given, dict | Roles) else given


RoleSets = Annotated[
    Annotated[list[Roles], Field(min_length=1, max_length=10_000)] | Literal["each_pair"], BeforeValidator(_listed)
]
"""The pairs of nodes that a workload runs between, one after another; `each_pair`: each of its nodes sends to each
other one. People may write a single pair without the list.
"""


class WorkloadChoice(Message):
    """A workload with its options; each entry of `sweep` is a list of values tried one after another.

    Attributes:
        options: values by option name, in base units or as text with a unit (`64 MiB`).
        sweep: values by option name; the matrix takes every combination.
        nodes: names of those of the plan's nodes that run it; None is all of them.
        targets: names of those of the plan's targets that it loads; None is all of them.
        nodes_at_once, targets_at_once: as in the plan, which says it where this is None.
        observers: names of those of the plan's observers that watch its runs; None is all of them.
        variants: of the stages in which it is run; None is all of them.
        roles: it runs between two nodes, of which one sends and the other receives, and `nodes_at_once` of the plan
            says nothing of it; None: each node does all of it.
    """

    workload: WorkloadName
    options: dict[str, Any] = Field(default_factory=dict)
    sweep: dict[str, Annotated[list[Any], Field(min_length=1, max_length=1000)]] = Field(default_factory=dict)
    nodes: Annotated[list[Name], Field(min_length=1, max_length=10_000)] | None = None
    nodes_at_once: NodesAtOnce | None = None
    observers: Annotated[list[Name], Field(max_length=1_000)] | None = None
    targets: Annotated[list[Name], Field(min_length=1, max_length=1_000)] | None = None
    targets_at_once: bool | None = None
    variants: Annotated[list[Variant], Field(min_length=1, max_length=50)] | None = None
    roles: RoleSets | None = None


class PlannedStage(Message):
    """One state of the servers in which the whole matrix is run.

    Attributes:
        variant: what the servers are like then, for instance `ext3 data=journal`; its results have series of their own.
        pause: what an operator does to the servers before the stage, and confirms; none: it begins by itself.
    """

    variant: Variant
    pause: Annotated[str, Field(min_length=1, max_length=4000)] | None = None


class CampaignPlan(Message):
    """What x where x how often, and under which conditions.

    Attributes:
        cluster: name of the cluster.
        nodes: names of its nodes; each is measured on its own, unless `nodes_at_once`.
        nodes_at_once: which of them load together, as one gang whose loads start at the same moment.
        observers: names of nodes, such as the storage servers, whose agents sample their processors, disks and network
            during each run in which they do not load themselves; they are neither locked nor waited for.
        targets: names of the targets; each is measured on its own, unless `targets_at_once`.
        targets_at_once: each run loads all the targets together.
        repeats: how often each cell is run.
        time_limit_seconds: a run that takes longer is ended on its node and counts as failed.
        attempts_allowed: how often a run may be tried after a lost or declined attempt.
        priority: 0 to 9; a step counts as an hour of waiting.
        cool_down_seconds: after a run, its nodes stay idle for so long, and what it had to itself besides; people may
            write `cool_down: 30 s`.
        quiet: what becomes of a run that meets a node which others use.
        quiet_wait_seconds: with `wait`, how long the run holds its node back at most; people may write
            `quiet_wait: 5 min`.
        stages: the whole matrix is run in each, one after another; none: it is run once.
        window: the hours of a day in which its runs may start and by their time limit end; None: all.
    """

    name: Name
    cluster: Name
    nodes: Annotated[list[Name], Field(min_length=1, max_length=10_000)]
    nodes_at_once: NodesAtOnce = False
    observers: Annotated[list[Name], Field(max_length=1_000)] = Field(default_factory=list)
    targets: Annotated[list[Name], Field(min_length=1, max_length=1_000)]
    targets_at_once: bool = False
    workloads: Annotated[list[WorkloadChoice], Field(min_length=1, max_length=100)]
    repeats: Annotated[int, Field(ge=1, le=1_000)] = 4
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
    attempts_allowed: Annotated[int, Field(ge=1, le=10)] = 2
    priority: Annotated[int, Field(ge=0, le=9)] = 0
    note: Text = ""
