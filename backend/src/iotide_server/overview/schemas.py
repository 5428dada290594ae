"""API schemas of the status board."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.overview.standing import SeriesState
from iotide_server.results.schemas import Better, Metric, SeriesOutput
from iotide_wire.units import Unit

StandingState = Annotated[
    SeriesState,
    Field(
        description="State relative to the last healthy level: the best one since an expected change."
        " `slower`: worse by 3 % or more; `faster`: better than any before; `stale`: no data for twice the usual gap;"
        " `noisy`: points scatter more than before; `no_baseline`: too few points"
    ),
]


class StandingCount(Output):
    state: StandingState
    series: int


class LevelLine(Output):
    """A level, or a part of a gradual change, in seconds since the start of the period and in the series' base unit."""

    start_seconds: int
    end_seconds: int
    start: float
    end: float


class CellTrend(Output):
    """The worst series of a cell in the period, for a small chart: at most 60 points with four digits.

    Empty without points in the period, and for cells beyond the limit.
    """

    at_seconds: Annotated[list[int], Field(description="Seconds since the start of the period")]
    medians: list[float]
    levels: list[LevelLine]
    changes_seconds: Annotated[list[int], Field(description="Confirmed changes in the period")]


class BoardCell(Output):
    """The worst state of a cluster's series of one workload that were measured in the period or are stale."""

    cluster_id: int
    workload: str
    state: StandingState
    since: Annotated[
        datetime | None,
        Field(description="Start of the worst series' state, or its recovery; null for a drift, and without a change"),
    ]
    counts: Annotated[list[StandingCount], Field(description="Most urgent first")]
    worst: Annotated[SeriesOutput, Field(description="Series in this state that moved most")]
    since_cell_id: Annotated[int | None, Field(description="Cell of the first point since then")]
    shift_ratio: Annotated[float | None, Field(description="Its present level / its healthy level - 1")]
    words: Annotated[str, Field(examples=["12.0 % lower than before"])]
    line: Annotated[
        str,
        Field(
            description="State in one line, with the event nearest to the change",
            examples=["\u221220.0 % since 7 Sep, kernel 5.14.0-427"],
        ),
    ]
    trend: CellTrend
    suspects: Annotated[int, Field(description="Series whose newest points suggest a change")]
    open_incidents: Annotated[int, Field(description="Not acknowledged, found in the last 90 days")]
    last_at: Annotated[datetime, Field(description="Time of the newest point")]


class BoardNodes(Output):
    """Nodes that are not retired."""

    online: int
    stuck: Annotated[int, Field(description="Online, with processes that no signal ends")]
    silent: int
    never_seen: int
    drained: Annotated[int, Field(description="Drained individually; the cluster may be drained too")]
    passed_over: Annotated[int, Field(description="With a problem, so that the scheduler skips them")]


class BoardCluster(Output):
    """A cluster as a row of the board."""

    id: int
    name: Annotated[str, Field(examples=["hpc1"])]
    nodes: BoardNodes
    targets: int
    open_incidents: Annotated[int, Field(description="Not acknowledged, found in the last 90 days")]


class SeriesStanding(Output):
    """A series with its state; see `BoardCell` for `since` and `shift_ratio`."""

    series: SeriesOutput
    state: StandingState
    since: datetime | None
    shift_ratio: float | None
    words: Annotated[str, Field(examples=["12.0 % lower than before"])]


class MeasuredMetric(Output):
    metric: str
    title: str


class MeasuredWorkload(Output):
    workload: str
    metrics: Annotated[list[MeasuredMetric], Field(description="Primary ones first")]


class MetricBoard(Output):
    """The states of the series of one metric, worst first. Series of retired nodes and targets are excluded."""

    workload: Annotated[str | None, Field(description="Null if nothing was measured")]
    metric: str | None
    measured: Annotated[list[MeasuredWorkload], Field(description="The workload with the longest series first")]
    series: list[SeriesStanding]
    is_cut: Annotated[bool, Field(description="A limit was reached; only the newest series are included")]


AttentionKind = Literal[
    "stuck_node",
    "vanished_target",
    "lost_mount",
    "failing_schedule",
    "overdue_schedule",
    "open_incidents",
    "silent_nodes",
    "outlier_node",
    "outlier_target",
    "stale_series",
]


class AttentionItem(Output):
    """A task for an operator or admin; it disappears when done."""

    kind: AttentionKind
    cluster_id: int
    words: Annotated[
        str, Field(examples=["weekly failed 4 times in a row since 8 Nov 2026: /home is not mounted on c02"])
    ]
    remedy: Annotated[str, Field(examples=["mount /home on c02 again, or retire the target"])]
    since: Annotated[datetime | None, Field(description="Null if unknown")]
    schedule_id: int | None
    target_id: int | None
    node_id: Annotated[int | None, Field(description="The first of several nodes")]
    series: Annotated[SeriesOutput | None, Field(description="The newest of several with the same reason")]
    series_count: int
    workload: Annotated[str | None, Field(description="Of outliers")]


class Board(Output):
    """States by cluster and workload. Metrics without a better direction are excluded."""

    since: Annotated[datetime, Field(description="Start of the period")]
    until: Annotated[datetime, Field(description="End of the period")]
    clusters: Annotated[list[BoardCluster], Field(description="Sorted by name")]
    workloads: list[str]
    cells: list[BoardCell]
    attention: Annotated[list[AttentionItem], Field(description="Most urgent first, then oldest")]
    attention_left_out: Annotated[int, Field(description="Number of items beyond the limit")]
    is_cut: Annotated[bool, Field(description="A limit was reached; only the newest series are included")]


class ThroughputMeasure(Output):
    """A metric that can be drawn for all clusters."""

    workload: str
    metric: Metric
    operation: Annotated[str, Field(description="Label of the metric; empty without one", examples=["write"])]
    title: str
    unit: Unit
    better: Better
    clusters: Annotated[int, Field(description="Clusters that measured it")]


class ClusterThroughput(Output):
    """One line of the plot: the cluster's days with points, oldest first.

    A period of more than a quarter has spans of several days, each with the day of its newest point.
    """

    cluster_id: int
    name: Annotated[str, Field(examples=["hpc1"])]
    days: Annotated[list[date], Field(description="In UTC")]
    medians: Annotated[
        list[float],
        Field(
            description="Median over the series, each by its newest points of the day relative to its own median in the"
            " period, times the median of these"
        ),
    ]
    series: Annotated[list[int], Field(description="Series measured on each day")]


class Throughput(Output):
    """A metric of all clusters over time. `drawn` is null if nothing was measured."""

    drawn: ThroughputMeasure | None
    measures: Annotated[list[ThroughputMeasure], Field(description="What can be drawn, most widespread first")]
    target_kinds: Annotated[list[str], Field(description="File systems of the targets", examples=[["lustre", "xfs"]])]
    clusters: Annotated[list[ClusterThroughput], Field(description="Sorted by name")]
    clusters_left_out: Annotated[int, Field(description="Number of clusters beyond the limit")]
    series_left_out: Annotated[int, Field(description="Number of older series beyond the limit")]
