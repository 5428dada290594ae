"""API schemas of surfaces."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.results.figures.judging import Judgement
from iotide_server.results.schemas import Better, Metric
from iotide_wire.units import Unit

SourceWord = Annotated[str, Field(examples=["campaign-5.1"])]


class SurfacePart(Output):
    """A source with one place, workload and set of options."""

    source: SourceWord
    workload: str
    node_names: list[str]
    target_names: list[str]
    variant: str


class SurfaceSource(SurfacePart):
    """A source with a surface. `run_ids` are its valid runs if each of them has a surface of its own."""

    campaign_id: int
    campaign_name: str
    cluster_id: int
    started_at: datetime
    run_ids: list[int]


class SurfaceCell(Output):
    """Result of the valid runs at one file size and record size; the range of one run is its value."""

    median: float
    low: float
    high: float
    n: int
    run_ids: list[int]
    flags: Annotated[list[str], Field(description="Codes of the flags that concern it", examples=[["CACHE_SIZE"]])]


class Unmeasured(Output):
    """A combination without a valid value, and the flag that explains it."""

    file_size_bytes: int
    record_size_bytes: int
    flag: Annotated[str, Field(description="Code of the flag", examples=["TOO_FAST", "DURATION"])]


class SurfaceCliffOutput(Output):
    """A cliff: the metric falls along one size and stays low, at several values of the other size.

    `fall_ratio` is the median remaining share. `low` and `high` are its range over all runs, null with too few runs.
    """

    axis: Literal["file_size", "record_size"]
    last_bytes: Annotated[int, Field(description="Last size before the fall")]
    first_bytes: Annotated[int, Field(description="First size after the fall")]
    at_bytes: Annotated[list[int], Field(description="Sizes of the other axis at which it falls there")]
    of: Annotated[int, Field(description="Number of sizes of the other axis at which both were measured")]
    fall_ratio: float
    low: float | None
    high: float | None
    suits: Annotated[list[str], Field(examples=[["memory.total_bytes of node07 (16 GiB)"]])]
    words: str


class CacheSize(Output):
    """A memory or limit beyond which the metric may fall."""

    name: Annotated[str, Field(examples=["memory.total_bytes of node07"])]
    size_bytes: int


class SurfaceSide(SurfacePart):
    """A source with its values: a row for each file size, with a cell for each record size.

    `parts` lists all parts of the campaign, including this one. `is_total` means that the nodes' rates were added up.
    """

    campaign_id: int
    campaign_name: str
    cluster_id: int
    run_id: int | None
    options: dict[str, Any]
    started_at: datetime | None
    run_count: int
    is_total: bool
    parts: list[SurfacePart]
    caches: list[CacheSize]
    cells: Annotated[list[list[SurfaceCell | None]], Field(description="Null where nothing was measured")]
    unmeasured: Annotated[list[Unmeasured], Field(description="Places without a value, if a flag explains them")]
    cliffs: list[SurfaceCliffOutput]


class SurfaceDifference(Judgement):
    """B relative to A where both have a cell.

    `median_ratio` is also set for single runs. It is null where A is 0 or negative, or where only one side has a flag
    that makes it measure something else (`unlike`).
    """

    difference: Annotated[float, Field(description="Median of B minus median of A")]


class Sizes(Output):
    file_size_bytes: int
    record_size_bytes: int


class Unlike(Output):
    """A property in which the two sides differ; null where a side does not have it."""

    name: Annotated[str, Field(examples=["options.flush"])]
    a: Any
    b: Any


class SurfaceMetric(Output):
    metric: Metric
    title: str
    unit: Unit
    better: Better


class Surface(Output):
    """One metric of one operation over file size and record size for A and optionally B, with B relative to A."""

    metrics: list[SurfaceMetric]
    metric: Metric
    title: str
    unit: Unit
    better: Better
    operations: list[str]
    operation: Annotated[str, Field(examples=["random_read"])]
    file_sizes_bytes: list[int]
    record_sizes_bytes: list[int]
    a: SurfaceSide
    b: SurfaceSide | None
    unlike: list[Unlike]
    differences: list[list[SurfaceDifference | None]] | None
    only_a: list[Sizes]
    only_b: list[Sizes]
