"""What the API gives for the status board."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from iotide_server.board.standing import Standing
from iotide_server.kit.web import Output
from iotide_server.results.schemas import Series

StandingState = Annotated[
    Standing,
    Field(
        description="Beside the level at the beginning of the period, or the one that was accepted since then."
        " `slower`: worse by 3 % or more; `faster`: better; `missing`: a schedule fires and no point comes;"
        " `noisy`: points scatter more than before; `no_baseline`: too few points to tell"
    ),
]


class StandingCount(Output):
    """So many series stand so."""

    state: StandingState
    series: int


class BoardCell(Output):
    """All series of one workload on one cluster that were measured in the period: the gravest state among them."""

    cluster_id: int
    workload: str
    state: StandingState
    since: Annotated[
        datetime | None, Field(description="Of the worst series; null of a slow drift, and without a change")
    ]
    counts: Annotated[list[StandingCount], Field(description="The gravest first")]
    worst: Annotated[Series, Field(description="Of those in this state the one that moved most")]
    since_cell_id: Annotated[int | None, Field(description="Of the first point since then")]
    shift_ratio: Annotated[float | None, Field(description="Its level of now to the normal one, less 1")]
    words: Annotated[str, Field(examples=["12.0 % lower than before"])]
    suspects: Annotated[int, Field(description="Series whose newest points look as if they had changed")]
    open_alerts: int
    last_at: Annotated[datetime, Field(description="The newest point")]


class BoardNodes(Output):
    """The nodes of a cluster that are not retired."""

    online: int
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


class Board(Output):
    """What is not as it was, by cluster and workload; numbers of which neither way is better are left out."""

    since: Annotated[datetime, Field(description="Where the period begins")]
    clusters: Annotated[list[BoardCluster], Field(description="By name")]
    workloads: list[str]
    cells: list[BoardCell]
    is_cut: Annotated[bool, Field(description="There are more series than were looked at; the newest ones were")]
