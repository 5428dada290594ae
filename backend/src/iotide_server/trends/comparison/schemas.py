"""API schemas of comparisons."""

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
MOST_SIDES: Final = 8  # limit of colours and symbols in a figure
MOST_ROWS: Final = 200

_KnownId = Annotated[int, Field(ge=1, le=LARGEST_ID)]


@dataclass(frozen=True, slots=True)
class Side:
    name: str
    campaign_id: int
    ordinal: int | None


@dataclass(frozen=True, slots=True)
class SidesChoice:
    campaign: Annotated[list[_KnownId] | None, Query(max_length=MOST_CAMPAIGNS, description="Ids of campaigns")] = None
    cell: Annotated[
        list[_KnownId] | None,
        Query(min_length=2, max_length=MOST_SIDES, description="Ids of cells, one per side"),
    ] = None
    by: Annotated[
        str | None,
        Query(max_length=100, description="Dimension to compare; default: the first that varies", examples=["target"]),
    ] = None
    against: Annotated[int, Query(ge=0, lt=MOST_SIDES, description="Index of the baseline side")] = 0


class TwoModes(Output):
    """Medians of the two modes of a side."""

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
    is_primary: Annotated[bool, Field(description="The metric describes whole runs")]
    target_name: str | None


class ComparedCell(Output):
    campaign_id: int
    cell_id: int
    ordinal: int
    workload: str
    options: dict[str, Any]
    node_names: list[str]
    target_names: list[str]
    variant: str


class Difference(Output):
    """A difference of the two sides; null where a side lacks the property."""

    name: Annotated[str, Field(examples=["options.block_size_bytes"])]
    a: Any
    b: Any


class ComparedMetric(_ComparedNumber, Judgement):
    """One value of A and B."""

    n_a: int
    n_b: int
    values_a: list[float]
    values_b: list[float]
    median_a: float
    median_b: float
    flags: Annotated[list[str], Field(description="Flag codes of either side")]
    flags_a: list[str]
    flags_b: list[str]
    words: Annotated[str, Field(examples=["B 8.0 to 15.2 % higher"])]
    reasons: Annotated[
        list[str],
        Field(description="Flags of only one side that may explain a difference", examples=[["B: other load"]]),
    ]
    modes_a: Annotated[TwoModes | None, Field(description="If that side has two modes; then there is no ratio")]
    modes_b: TwoModes | None


class ComparedPair(Output):
    """Two matching cells. Ratios mean little unless both ran the same."""

    a: ComparedCell
    b: ComparedCell
    differences: list[Difference]
    is_alike: Annotated[bool, Field(description="Same workload, options and number of nodes")]
    metrics: list[ComparedMetric]


class CampaignComparison(Output):
    """Two campaigns, cell by cell; `only_a` and `only_b` are ordinals of unmatched cells."""

    pairs: list[ComparedPair]
    only_a: list[int]
    only_b: list[int]


class SideOfRow(Output):
    """The cell that represents a side in a row."""

    campaign_id: int
    campaign_name: str
    cluster_name: str
    cell_id: int
    ordinal: int
    node_names: list[str]
    target_names: list[str]
    variant: str
    is_alike: Annotated[bool, Field(description="Ran the same as the baseline, except for the compared dimension")]


class SideNumbers(Output):
    n: int
    median: float
    values: list[float]
    run_ids: list[int]
    flags: list[str]
    modes: Annotated[TwoModes | None, Field(description="If this side has two modes; no single value represents it")]


class SideVerdict(Judgement):
    words: Annotated[str, Field(examples=["8.0 to 15.2 % higher"])]
    runs_missing: Annotated[int, Field(description="Further runs that the smaller side needs for an interval")]
    reasons: Annotated[
        list[str],
        Field(
            description="Flags of only one of both that may explain a difference", examples=[["this side: other load"]]
        ),
    ]


class SidesMetric(_ComparedNumber):
    """One value of all sides of a row. Null: a side without a value, and the baseline's verdict."""

    numbers: list[SideNumbers | None]
    verdicts: list[SideVerdict | None]


class SidesDifference(Output):
    """Another difference of the sides; null where a side lacks the property."""

    name: Annotated[str, Field(examples=["options.block_size_bytes", "node"])]
    values: list[Any]


class SidesRow(Output):
    """Cells that differ in little but what is compared; null for a side without a cell."""

    workload: str
    options: Annotated[dict[str, Any], Field(description="Without the compared option")]
    cells: list[SideOfRow | None]
    differences: list[SidesDifference]
    metrics: list[SidesMetric]


class SidesComparison(Output):
    """Comparison of several sides. `sides` are the compared values, or cell ids."""

    by: Annotated[str | None, Field(description="Null where nothing varies", examples=["target"])]
    dimensions: Annotated[list[str], Field(description="All dimensions in which these cells vary")]
    sides: list[Any]
    against: int
    rows: list[SidesRow]
    sides_left_out: list[Any]
    rows_left_out: int
