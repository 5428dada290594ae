"""What the API takes and gives for comparisons."""

from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Query
from pydantic import Field

from iotide_server.kit.pagination import LARGEST_ID
from iotide_server.kit.web import Output
from iotide_server.results.figures.judging import Judgement
from iotide_server.results.schemas import Better, Labels, Metric
from iotide_wire.units import Unit

MOST_CAMPAIGNS: Final = 6
MOST_SIDES: Final = 8  # as many as a figure keeps apart by colour and symbol
MOST_ROWS: Final = 200

_KnownId = Annotated[int, Field(ge=1, le=LARGEST_ID)]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison of two campaigns."""

    name: str  # `a` or `b`
    campaign_id: int
    ordinal: int | None  # the number of one cell of the campaign; None: all of them


@dataclass(frozen=True, slots=True)
class SidesChoice:
    """What is compared, as query parameters: all of one or several campaigns, or cells."""

    campaign: Annotated[list[_KnownId] | None, Query(max_length=MOST_CAMPAIGNS, description="Campaigns")] = None
    cell: Annotated[
        list[_KnownId] | None, Query(min_length=2, max_length=MOST_SIDES, description="Cells, each a side")
    ] = None
    by: Annotated[
        str | None,
        Query(max_length=100, description="By what; left out: the first that varies", examples=["target"]),
    ] = None
    against: Annotated[
        int, Query(ge=0, lt=MOST_SIDES, description="The place of the side that the others are told in terms of")
    ] = 0


class TwoModes(Output):
    """The medians of the two modes of one side, with the number of their runs."""

    low: float
    low_runs: int
    high: float
    high_runs: int


class _ComparedNumber(Output):
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    is_primary: Annotated[bool, Field(description="Its metric stands for whole runs")]
    target_name: str | None


class ComparedCell(Output):
    """A cell of one side."""

    campaign_id: int
    cell_id: int
    ordinal: int
    workload: str
    options: dict[str, Any]
    node_names: list[str]
    target_names: list[str]
    variant: str


class Difference(Output):
    """Something that the two sides were not alike in; null where a side has none."""

    name: Annotated[str, Field(examples=["options.block_size_bytes"])]
    a: Any
    b: Any


class ComparedMetric(_ComparedNumber, Judgement):
    """One number of A and B, of so many independent runs each."""

    n_a: int
    n_b: int
    values_a: list[float]
    values_b: list[float]
    median_a: float
    median_b: float
    flags: Annotated[list[str], Field(description="Codes of either side")]
    flags_a: list[str]
    flags_b: list[str]
    words: Annotated[str, Field(examples=["B 8.0 to 15.2 % higher"])]
    modes_a: Annotated[TwoModes | None, Field(description="Where that side has two; then there is no one ratio")]
    modes_b: TwoModes | None


class ComparedPair(Output):
    """Two cells that belong together. Where they are not alike in what was run, ratios say little."""

    a: ComparedCell
    b: ComparedCell
    differences: list[Difference]
    is_alike: Annotated[bool, Field(description="Same workload, options and number of nodes")]
    metrics: list[ComparedMetric]


class CampaignComparison(Output):
    """Two campaigns, cell by cell; `only_a` and `only_b` are the numbers of cells without a counterpart."""

    pairs: list[ComparedPair]
    only_a: list[int]
    only_b: list[int]


class SideOfRow(Output):
    """The cell that stands for a side in a row."""

    campaign_id: int
    campaign_name: str
    cluster_name: str
    cell_id: int
    ordinal: int
    node_names: list[str]
    target_names: list[str]
    variant: str
    is_alike: Annotated[bool, Field(description="It ran what the baseline ran, but for what is compared")]


class SideNumbers(Output):
    """What the valid runs of a side measured."""

    n: int
    median: float
    values: list[float]
    run_ids: list[int]
    flags: list[str]
    modes: Annotated[TwoModes | None, Field(description="Where this side has two; then no one number stands for it")]


class SideVerdict(Judgement):
    """A side in terms of the baseline, by the same rules as the comparison of two campaigns."""

    words: Annotated[str, Field(examples=["8.0 to 15.2 % higher"])]
    runs_missing: Annotated[int, Field(description="Runs that the smaller side needs more for an interval")]


class SidesMetric(_ComparedNumber):
    """One number of all sides of a row; null where a side has none, and against the baseline for itself."""

    numbers: list[SideNumbers | None]
    verdicts: list[SideVerdict | None]


class SidesDifference(Output):
    """Something else that the sides were not alike in; null where a side has none."""

    name: Annotated[str, Field(examples=["options.block_size_bytes", "node"])]
    values: list[Any]


class SidesRow(Output):
    """Cells that differ in what is compared, and in as little else as can be; one a side, null where there is none."""

    workload: str
    options: Annotated[dict[str, Any], Field(description="Without the one that is compared")]
    cells: list[SideOfRow | None]
    differences: list[SidesDifference]
    metrics: list[SidesMetric]


class SidesComparison(Output):
    """Many sides beside each other. `sides` are the values that they stand for; of `cell`, ids."""

    by: Annotated[str | None, Field(description="Null where nothing varies", examples=["target"])]
    dimensions: Annotated[list[str], Field(description="By what else these cells can be compared")]
    sides: list[Any]
    against: int
    rows: list[SidesRow]
    sides_left_out: list[Any]
    rows_left_out: int
