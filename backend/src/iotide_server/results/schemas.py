"""API schemas of results."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BeforeValidator, Field, StringConstraints
from pydantic.dataclasses import dataclass as output_row

from iotide_server.campaigns.scratch.schemas import ScratchPreview
from iotide_server.campaigns.stopping import EndOfRepeats
from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Output
from iotide_server.results.forecast.power_schemas import PowerOutput
from iotide_server.results.ingest.superseded import Superseded
from iotide_server.runs.schemas import AttemptOutput, OptionalId, RunOutput
from iotide_server.statistics.summary import Tier, Variation
from iotide_wire.measured import Check, Flag
from iotide_wire.units import Unit

Better = Literal["higher", "lower", "neither"]
Labels = Annotated[dict[str, str | int | float | bool], Field(examples=[{"operation": "write"}])]
Metric = Annotated[str, Field(examples=["write_rate"])]

SupersededBecause = Annotated[
    str | None,
    BeforeValidator(lambda code: Superseded(code).words if code else None),
    Field(description="Why it no longer counts; null if it counts"),
]

CounterName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,60}$")]


@dataclass(frozen=True, slots=True)
class SeriesFilter:
    """Query parameters that select series."""

    cluster_id: OptionalId = None
    node_id: OptionalId = None
    target_id: OptionalId = None
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    metric: Annotated[str | None, Query(max_length=100, examples=["write_rate"])] = None


class SampleOutput(Output):
    """One value of a run, in its metric's base unit."""

    id: int
    run_id: int
    order_id: int
    series_id: int
    target_id: int | None
    target_name: Annotated[str | None, Field(description="Target of the value; null: all targets together")]
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    superseded: SupersededBecause
    value: float


class SeriesOutput(Output):
    """All points with one key. `options` are those that differ from the workload's frozen defaults."""

    id: int
    cluster_id: int
    node_names: list[str]
    target_names: list[str]
    variant: Annotated[str, Field(description="Of the stage; empty without stages", examples=["ext3 data=journal"])]
    workload: str
    options: dict[str, Any]
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    superseded: SupersededBecause
    point_count: int
    last_value: float | None
    last_at: datetime | None


@output_row(frozen=True, kw_only=True, slots=True)
class CellResult:
    """Result of a cell's valid runs for one metric.

    `tier` is what the number of runs allows to show. The spreads are null below four runs, and for CPU times below
    the clock's resolution.
    """

    series_id: int
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    n: int
    median: float
    low: float
    high: float
    tier: Tier
    variation_ratio: float | None
    robust_spread_ratio: float | None
    variation: Variation | None
    flags: Annotated[
        list[str],
        Field(description="Codes of its runs' flags, and CV where the runs scatter", examples=[["CACHE_DROP"]]),
    ]
    usual_flags: Annotated[
        list[str],
        Field(description="Flags of at least 90 % of the 20 runs of the series before", examples=[["ZEROES"]]),
    ]


class Curve(Output):
    """Per-second values of one counter, or means over `step_seconds`; null where nothing was measured.

    `lows` and `highs` are the ranges behind means.
    """

    order_id: int
    counter: Annotated[str, Field(examples=["write_bytes_per_second"])]
    started_at: datetime
    step_seconds: float
    values: list[float | None]
    lows: list[float | None] | None
    highs: list[float | None] | None


class ArtefactOutput(Output):
    """A piece of raw output. Its content is at `/artefacts/{id}`."""

    id: int
    name: str
    order_id: int
    sha256: str
    size_bytes: int


class MatrixCell(Output):
    """One combination of a campaign's matrix."""

    id: int
    ordinal: int
    stage: int
    variant: Annotated[str, Field(description="Of the stage; empty without stages", examples=["ext3 data=journal"])]
    node_names: list[str]
    target_names: list[str]
    workload: str
    options: dict[str, Any]


class CellRepeats(Output):
    """Adaptive repeats of a cell at its last look."""

    runs: Annotated[int, Field(description="Number of valid runs; 0 before the first look")]
    half_width_ratio: Annotated[
        float | None,
        Field(description="Half the width of the median's 97 % interval, relative to it; null below seven runs"),
    ]
    resembles_before: Annotated[
        bool, Field(description="Runs resemble the ones before them, so the interval is too narrow")
    ]
    ended_because: Annotated[EndOfRepeats | None, Field(description="Null: it may get more repeats")]
    series_id: Annotated[
        int | None, Field(description="Series of the value that the interval belongs to; null before the first result")
    ]
    words: Annotated[str, Field(examples=["stopped after 12 runs: ±2.4 %"])]


class CellOutput(MatrixCell):
    """One combination of a campaign's matrix with its results so far."""

    runs: Annotated[list[int], Field(description="Ids of the runs, by repeat")]
    counted_runs: Annotated[list[int], Field(description="Ids of the finished, valid runs behind the results")]
    results: list[CellResult]
    adaptive: Annotated[CellRepeats | None, Field(description="Null if the plan has a fixed number of repeats")]


class CampaignMetric(Output):
    """A metric that runs of a campaign measured.

    `labels` are label names.
    """

    workload: str
    metric: Metric
    title: str
    description: Annotated[str, Field(description="Exact definition, unless the title is sufficient")]
    unit: Unit
    better: Better
    labels: Annotated[list[str], Field(examples=[["file_size_bytes", "operation"]])]
    is_primary: Annotated[bool, Field(description="The metric describes whole runs, and comparisons judge it")]


class CampaignMeasures(Output):
    """Metrics and counters that a figure of a campaign can show."""

    metrics: Annotated[list[CampaignMetric], Field(description="In the order of the plan and of the workloads")]
    counters: Annotated[list[str], Field(description="Counters of its runs' curves", examples=[["cpu_user_ratio"]])]


class MeasuredRun(Output):
    id: int
    repeat: int
    started_at: datetime | None


@output_row(frozen=True, kw_only=True, slots=True)
class Measurement:
    """Values of a cell's valid runs for one metric and set of labels, or one counter.

    `values` belong to `run_ids`; several values of a run count as their median. `target_name` is one of several
    targets used at once; null: all.
    """

    labels: Labels
    target_name: str | None
    n: int
    median: float
    low: float
    high: float
    tier: Tier
    flags: Annotated[list[str], Field(description="Codes of the flags that concern it", examples=[["CACHE_SIZE"]])]
    run_ids: list[int]
    values: list[float]


class MeasuredCell(MatrixCell):
    """One combination of a campaign's matrix with the values of each valid run."""

    runs: list[MeasuredRun]
    measurements: list[Measurement]


class ReadingOutput(Output):
    """A parse of an order's raw output. The one with the highest ordinal of each order counts.

    `read_by` is null for the node's own agent, whose reading is the first.
    """

    id: int
    order_id: int
    ordinal: int
    workload_revision: int
    parser_version: Annotated[str | None, Field(examples=["0.3.0"], description="Version of the parser's package")]
    read_at: datetime
    read_by: PersonShown


class FormerSample(Output):
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    target_id: int | None
    value: float


class ReadingDetail(ReadingOutput):
    flags: list[Flag]
    samples: list[FormerSample]


class Observation(Output):
    """Facts of a node that only observed an attempt. Its curves are among those of the run."""

    order_id: int
    node_name: str
    environment: Annotated[dict[str, Any], Field(examples=[{"kernel.release": "6.1.0-30-amd64"}])]


class UnansweredCheck(Output):
    """A check of a run's quality that had too little data to pass or fail."""

    check: Check
    title: Annotated[str, Field(examples=["steadiness"])]
    because: Annotated[str, Field(examples=["12 s, 25 needed"])]
    phase: Annotated[str, Field(description="Phase of the steps concerned; empty: the whole run", examples=["write"])]


class RunDetail(RunOutput):
    attempts: list[AttemptOutput]
    environment: Annotated[dict[str, Any], Field(examples=[{"kernel.release": "6.1.0-30-amd64"}])]
    observations: list[Observation]
    samples: list[SampleOutput]
    readings: list[ReadingOutput]
    not_judged: Annotated[
        list[UnansweredCheck] | None,
        Field(description="Checks with too little data; null if its agents do not report them"),
    ]
    waiting_because: Annotated[str | None, Field(description="Why the run waits; null if it does not")]
    expected_start_at: Annotated[
        datetime | None,
        Field(description="Expected start, from the durations of similar runs; null if unknown"),
    ]
    expected_start_unknown_because: Annotated[
        str | None, Field(description="Why the start of a waiting run cannot be estimated")
    ]


class CautionOutput(Output):
    """A warning before submission."""

    code: Annotated[str, Field(examples=["few_repeats"])]
    message: str
    field: Annotated[str, Field(examples=["repeats"])]


class PreviewCell(Output):
    """One combination of the matrix as it would be submitted. Options are complete and in base units."""

    ordinal: int
    stage: int
    variant: Annotated[str, Field(description="Of the stage; empty without stages", examples=["ext3 data=journal"])]
    node_names: Annotated[list[str], Field(description="Nodes that run the workload together")]
    sender_name: Annotated[str | None, Field(description="Node that sends to the other; null: none")]
    program: Annotated[
        str | None,
        Field(
            description="Program that all nodes run together; null if each starts its own",
            examples=["one program over 4 nodes x 2 tasks"],
        ),
    ]
    observer_names: Annotated[list[str], Field(description="Nodes that only observe")]
    target_names: Annotated[list[str], Field(description="Targets that a run uses together")]
    workload: str
    options: dict[str, Any]
    bytes_needed: Annotated[int, Field(description="Space that a run needs on the target it fills most")]
    run_seconds_estimated: Annotated[
        float | None, Field(description="Benchmark time of one run, to two digits; null if unknown")
    ]


class WearOutput(Output):
    """Bytes that a campaign writes to a target, which wear out flash."""

    target_name: str
    bytes_least: Annotated[int, Field(description="Sizes of the files of all runs, each written once")]
    bytes_most: Annotated[
        int | None,
        Field(description="Bytes written and read; null if runs have a fixed duration"),
    ]


class Preview(Output):
    """Forecast of a plan, without submitting it."""

    cells: Annotated[list[PreviewCell], Field(description="The first 200 cells")]
    cell_count: int
    run_count: int
    power: PowerOutput
    seconds_estimated: Annotated[
        float | None, Field(description="Time of the busiest node, including gaps between runs, to two digits")
    ]
    seconds_unknown_because: str | None
    bytes_peak: Annotated[int, Field(description="Space that the largest run needs")]
    bytes_moved: Annotated[int, Field(description="Bytes written and read in total")]
    wear: Annotated[
        list[WearOutput],
        Field(description="Of each target, in the order of the plan, then of a filled set that is served"),
    ]
    scratch: Annotated[ScratchPreview | None, Field(description="Null if the plan has no block `scratch`")]
    warnings: list[CautionOutput]
