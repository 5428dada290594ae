"""What the API gives for results."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BeforeValidator, Field, StringConstraints
from pydantic.dataclasses import dataclass as output_row  # what comes by the thousand: a quarter of a model's memory

from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Output
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
    Field(description="Why it counts no more; null where it counts"),
]

CounterName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,60}$")]  # as `CurvePiece.counter` is


@dataclass(frozen=True, slots=True)
class SeriesFilter:
    """Which series are wanted, as query parameters; what is left out stays open."""

    cluster_id: OptionalId = None
    node_id: OptionalId = None
    target_id: OptionalId = None
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    metric: Annotated[str | None, Query(max_length=100, examples=["write_rate"])] = None


class SampleOutput(Output):
    """One number of a run, in its metric's base unit."""

    id: int
    run_id: int
    order_id: int
    series_id: int
    target_id: int | None
    target_name: Annotated[str | None, Field(description="Of the one target that it is about; null: of all together")]
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    superseded: SupersededBecause
    value: float


class SeriesOutput(Output):
    """All points with one key; `options` are those that differ from the workload's frozen defaults."""

    id: int
    cluster_id: int
    node_names: list[str]
    target_names: list[str]
    variant: Annotated[str, Field(description="Of its stage; empty outside stages", examples=["ext3 data=journal"])]
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
    """What the valid runs of a cell say about one metric.

    `tier` is what so many runs allow to be shown; the spreads are null below four runs, and
    where the median is a processor time below the resolution of its clock.
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
        Field(description="Codes that any of its runs carries, and CV where they scatter", examples=[["DURATION"]]),
    ]


class Curve(Output):
    """Per-second values of one counter, as means over `step_seconds`; null where nothing was measured.

    `lows` and `highs` are the smallest and largest of the values behind each mean; null where each stands for itself.
    """

    order_id: int
    counter: Annotated[str, Field(examples=["write_bytes_per_second"])]
    started_at: datetime
    step_seconds: float
    values: list[float | None]
    lows: list[float | None] | None
    highs: list[float | None] | None


class ArtefactOutput(Output):
    """A piece of raw output; its content is at /artefacts/{id}."""

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
    variant: Annotated[str, Field(description="Of its stage; empty outside stages", examples=["ext3 data=journal"])]
    node_names: list[str]
    target_names: list[str]
    workload: str
    options: dict[str, Any]


class CellOutput(MatrixCell):
    """One combination of a campaign's matrix with what its runs say so far."""

    runs: Annotated[list[int], Field(description="Ids of its runs, by repeat")]
    counted_runs: Annotated[list[int], Field(description="Those that finished and are valid: the results are theirs")]
    results: list[CellResult]


class CampaignMetric(Output):
    """A metric that runs of a campaign measured.

    `labels` are the names of those that its numbers carry.
    """

    workload: str
    metric: Metric
    title: str
    description: Annotated[str, Field(description="What exactly it is, where the title does not say it")]
    unit: Unit
    better: Better
    labels: Annotated[list[str], Field(examples=[["file_size_bytes", "operation"]])]
    is_primary: Annotated[bool, Field(description="It stands for whole runs, and comparisons judge it")]


class CampaignMeasures(Output):
    """What a figure of a campaign can show."""

    metrics: Annotated[list[CampaignMetric], Field(description="In the order of the plan and of the workloads")]
    counters: Annotated[list[str], Field(description="Of its runs' curves", examples=[["cpu_user_ratio"]])]


class MeasuredRun(Output):
    """When a run of a cell was."""

    id: int
    repeat: int
    started_at: datetime | None


@output_row(frozen=True, kw_only=True, slots=True)
class Measurement:
    """What the valid runs of a cell say of one metric with one set of labels, or of one counter, run by run.

    `values` are those of `run_ids`; several numbers of one run stand for their median. `target_name` is the one of
    several targets loaded at once that they are about; null is all targets of the cell.
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
    """One combination of a campaign's matrix with the numbers of each of its valid runs."""

    runs: list[MeasuredRun]
    measurements: list[Measurement]


class ReadingOutput(Output):
    """Who read an order's raw output when; the one with the highest ordinal of each order counts.

    `read_by` is null for the node's own agent, whose reading is the first.
    """

    id: int
    order_id: int
    ordinal: int
    workload_revision: int
    parser_version: Annotated[str | None, Field(examples=["0.3.0"], description="Of the package with the parser")]
    read_at: datetime
    read_by: PersonShown


class FormerSample(Output):
    """One number as a reading gave it, in its metric's base unit."""

    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    target_id: int | None
    value: float


class ReadingDetail(ReadingOutput):
    """A reading with its numbers and flags, also once another has taken its place."""

    flags: list[Flag]
    samples: list[FormerSample]


class Observation(Output):
    """What a node that only observed an attempt said of itself; its curves are among the run's."""

    order_id: int
    node_name: str
    environment: Annotated[dict[str, Any], Field(examples=[{"kernel.release": "6.1.0-30-amd64"}])]


class UnansweredCheck(Output):
    """A check of a run's quality that found too little to call the run good or bad."""

    check: Check
    title: Annotated[str, Field(examples=["steadiness"])]
    because: Annotated[str, Field(examples=["12 s, 25 needed"])]
    phase: Annotated[str, Field(description="Steps concerned; empty where it is the whole run", examples=["write"])]


class RunDetail(RunOutput):
    """A run with its attempts, the facts it ran under, its numbers and who read them."""

    attempts: list[AttemptOutput]
    environment: Annotated[dict[str, Any], Field(examples=[{"kernel.release": "6.1.0-30-amd64"}])]
    observations: list[Observation]
    samples: list[SampleOutput]
    readings: list[ReadingOutput]
    not_judged: Annotated[
        list[UnansweredCheck] | None,
        Field(description="Checks that found too little to answer; null where its agents do not report them"),
    ]
    waiting_because: Annotated[str | None, Field(description="In words; null when it does not wait")]
    expected_start_at: Annotated[
        datetime | None,
        Field(description="When it is expected to start, by what runs like those before it took; null where unknown"),
    ]
    expected_start_unknown_because: Annotated[
        str | None, Field(description="Why nothing can be said of the start of a run that waits")
    ]


class CautionOutput(Output):
    """Something to know before submitting."""

    code: Annotated[str, Field(examples=["few_repeats"])]
    message: str
    field: Annotated[str, Field(examples=["repeats"])]


class PreviewCell(Output):
    """One combination of the matrix as it would be submitted; options are complete and in base units."""

    ordinal: int
    stage: int
    variant: Annotated[str, Field(description="Of its stage; empty outside stages", examples=["ext3 data=journal"])]
    node_names: Annotated[list[str], Field(description="They load together")]
    sender_name: Annotated[str | None, Field(description="The one of them that sends to the other; null: none does")]
    observer_names: Annotated[list[str], Field(description="They only watch")]
    target_names: Annotated[list[str], Field(description="They are loaded together")]
    workload: str
    options: dict[str, Any]
    bytes_needed: Annotated[int, Field(description="Space that a run needs on the target that it fills most")]
    run_seconds_estimated: Annotated[
        float | None, Field(description="Of the load of one run, to two digits; null: nothing tells")
    ]


class WearOutput(Output):
    """What a campaign writes to a target, which uses up flash."""

    target_name: str
    bytes_least: Annotated[int, Field(description="The files of all runs, each written once")]
    bytes_most: Annotated[
        int | None, Field(description="Written and read; null where runs last by time and write as much as they can")
    ]


class Preview(Output):
    """What a plan means, without submitting it."""

    cells: Annotated[list[PreviewCell], Field(description="The first 200")]
    cell_count: int
    run_count: int
    smallest_p: Annotated[
        float | None,
        Field(description="Of two cells that do not overlap; null below four repeats"),
    ]
    seconds_estimated: Annotated[
        float | None, Field(description="Of the busiest node with what passes between runs, to two digits")
    ]
    seconds_unknown_because: str | None
    bytes_peak: Annotated[int, Field(description="Space that the largest run needs")]
    bytes_moved: Annotated[int, Field(description="Written and read in all")]
    wear: Annotated[list[WearOutput], Field(description="Of each target, in the order of the plan")]
    warnings: list[CautionOutput]
