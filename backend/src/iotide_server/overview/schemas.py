"""What the API gives for the status board."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.overview.standing import SeriesState
from iotide_server.results.schemas import SeriesOutput

StandingState = Annotated[
    SeriesState,
    Field(
        description="Compared with the last healthy level: the best one since a change was last expected."
        " `slower`: worse by 3 % or more; `faster`: better than any before; `stale`: no data for twice the usual gap;"
        " `noisy`: points scatter more than before; `no_baseline`: too few points to tell"
    ),
]


class StandingCount(Output):
    """So many series stand so."""

    state: StandingState
    series: int


class BoardCell(Output):
    """All series of one workload on one cluster that were measured in the period or are stale: the gravest state."""

    cluster_id: int
    workload: str
    state: StandingState
    since: Annotated[
        datetime | None,
        Field(description="Of the worst series, or when it recovered; null of a slow drift, and without a change"),
    ]
    counts: Annotated[list[StandingCount], Field(description="The gravest first")]
    worst: Annotated[SeriesOutput, Field(description="Of those in this state the one that moved most")]
    since_cell_id: Annotated[int | None, Field(description="Of the first point since then")]
    shift_ratio: Annotated[float | None, Field(description="Its level of now to the healthy one, less 1")]
    words: Annotated[str, Field(examples=["12.0 % lower than before"])]
    suspects: Annotated[int, Field(description="Series whose newest points look as if they had changed")]
    open_alerts: int
    last_at: Annotated[datetime, Field(description="The newest point")]


class BoardNodes(Output):
    """The nodes of a cluster that are not retired."""

    online: int
    stuck: Annotated[int, Field(description="With a load that no signal ends, and heartbeats")]
    silent: int
    never_seen: int
    drained: Annotated[int, Field(description="On their own; their cluster may be drained, too")]
    passed_over: Annotated[int, Field(description="With a problem for which the scheduler passes them over")]


class BoardCluster(Output):
    """A cluster as a row of the board."""

    id: int
    name: Annotated[str, Field(examples=["hpc1"])]
    nodes: BoardNodes
    targets: int
    open_alerts: int


AttentionKind = Literal[
    "stuck_node",
    "vanished_target",
    "lost_mount",
    "failing_schedule",
    "overdue_schedule",
    "silent_nodes",
    "stale_series",
]


class AttentionItem(Output):
    """Something that a person has to do, whatever period is shown; it goes once that is done."""

    kind: AttentionKind
    cluster_id: int
    words: Annotated[
        str, Field(examples=["weekly failed 4 times in a row since 8 Nov 2026: /home is not mounted on c02"])
    ]
    remedy: Annotated[str, Field(examples=["mount /home on c02 again, or retire the target"])]
    since: Annotated[datetime | None, Field(description="Null where no moment is known")]
    schedule_id: int | None
    target_id: int | None
    node_id: Annotated[int | None, Field(description="Of several nodes the first")]
    series: Annotated[SeriesOutput | None, Field(description="Of several that stopped alike the newest")]
    series_count: int


class Board(Output):
    """What is not as it was, by cluster and workload; numbers of which neither way is better are left out."""

    since: Annotated[datetime, Field(description="Where the period begins")]
    clusters: Annotated[list[BoardCluster], Field(description="By name")]
    workloads: list[str]
    cells: list[BoardCell]
    attention: Annotated[list[AttentionItem], Field(description="The gravest first, and of one kind the oldest")]
    attention_left_out: Annotated[int, Field(description="Further items, where there are very many")]
    is_cut: Annotated[bool, Field(description="There are more series than were looked at; the newest ones were")]
