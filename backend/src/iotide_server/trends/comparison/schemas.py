"""What the API gives for comparisons."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.results.figures.judging import Judgement
from iotide_server.results.schemas import Better, Labels, MeasuredCell, Metric
from iotide_wire.units import Unit


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        name: `a` or `b`.
        ordinal: the number of one cell of the campaign; None: all of them.
    """

    name: str
    campaign_id: int
    ordinal: int | None


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

    @classmethod
    def of(cls, campaign_id: int, cell: MeasuredCell) -> "ComparedCell":
        """As a campaign's cell is shown elsewhere."""
        return cls(
            campaign_id=campaign_id,
            cell_id=cell.id,
            ordinal=cell.ordinal,
            workload=cell.workload,
            options=cell.options,
            node_names=cell.node_names,
            target_names=cell.target_names,
            variant=cell.variant,
        )


class Difference(Output):
    """Something that the two sides were not alike in; null where a side has none."""

    name: Annotated[str, Field(examples=["options.block_size_bytes"])]
    a: Any
    b: Any


class TwoModes(Output):
    """The medians of the two modes of one side, with the number of their runs."""

    low: float
    low_runs: int
    high: float
    high_runs: int


class ComparedMetric(Judgement):
    """One number of A and B, of so many independent runs each."""

    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    is_primary: Annotated[bool, Field(description="Its metric stands for whole runs")]
    target_name: str | None
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
