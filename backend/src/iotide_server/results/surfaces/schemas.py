"""What the API gives for surfaces: one number over file size and record size, of one source or of two."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.results.figures.judging import Judgement
from iotide_server.results.schemas import Better, Metric
from iotide_wire.units import Unit

SourceWord = Annotated[str, Field(examples=["campaign-5.1"])]


class SurfacePart(Output):
    """A source that is one place, workload and set of options."""

    source: SourceWord
    workload: str
    node_names: list[str]
    target_names: list[str]
    variant: str


class SurfaceSource(SurfacePart):
    """Something that has a surface; `run_ids` are its valid runs, each of which has one by itself, where that is so."""

    campaign_id: int
    campaign_name: str
    cluster_id: int
    started_at: datetime
    run_ids: list[int]


class SurfaceCell(Output):
    """What the valid runs say at one file size and record size; of one run the range is its number."""

    median: float
    low: float
    high: float
    n: int
    run_ids: list[int]
    flags: Annotated[list[str], Field(description="Codes of the flags that concern it", examples=[["CACHE_SIZE"]])]


class Unmeasured(Output):
    """A place without a number that counts, and the flag that says why."""

    file_size_bytes: int
    record_size_bytes: int
    flag: Annotated[str, Field(description="Code of the flag", examples=["TOO_FAST", "DURATION"])]


class SurfaceCliffOutput(Output):
    """Where the number falls along one size and stays low, at several of the other size.

    `fall_ratio` is the median of what is left; its range is that of all runs, null where they are too few to show it.
    """

    axis: Literal["file_size", "record_size"]
    last_bytes: Annotated[int, Field(description="The last size before the fall")]
    first_bytes: Annotated[int, Field(description="The first size behind it")]
    at_bytes: Annotated[list[int], Field(description="The sizes along the other axis at which it falls there")]
    of: Annotated[int, Field(description="At how many of them both sizes were measured")]
    fall_ratio: float
    low: float | None
    high: float | None
    suits: Annotated[list[str], Field(examples=[["memory.total_bytes of node07 (16 GiB)"]])]
    words: str


class CacheSize(Output):
    """A memory behind which numbers may fall."""

    name: Annotated[str, Field(examples=["memory.total_bytes of node07"])]
    size_bytes: int


class SurfaceSide(SurfacePart):
    """One source with its numbers: a row for each file size, with a cell for each record size.

    `parts` are all that the campaign has, of which this is one; `is_total` says that nodes were added up.
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
    unmeasured: Annotated[list[Unmeasured], Field(description="Of the places without a number, those with a reason")]
    cliffs: list[SurfaceCliffOutput]


class SurfaceDifference(Judgement):
    """B in terms of A where both have a cell.

    `median_ratio` is there for single runs too, and null only where A is not above 0.
    """

    difference: Annotated[float, Field(description="Of the medians, B - A")]


class Sizes(Output):
    """A place of a surface."""

    file_size_bytes: int
    record_size_bytes: int


class Unlike(Output):
    """Something in which the two sides were not alike; null where a side has none."""

    name: Annotated[str, Field(examples=["options.flush"])]
    a: Any
    b: Any


class SurfaceMetric(Output):
    """A number that can be shown over both sizes."""

    metric: Metric
    title: str
    unit: Unit
    better: Better


class Surface(Output):
    """One number of one operation over file size and record size, of A and perhaps of B, with B in terms of A."""

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
