"""What the API takes and gives for the table of runs."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field

from iotide_server.kit.pagination import LARGEST_ID
from iotide_server.kit.web import Input, Output
from iotide_server.results.schemas import Better, Labels, Metric
from iotide_server.runs.lifecycle import RunState
from iotide_server.runs.schemas import OptionalId
from iotide_wire.base import WrittenTime
from iotide_wire.units import Unit

MOST_PINNED = 50
MOST_SERIES = 200

KnownId = Annotated[int, Field(ge=1, le=LARGEST_ID)]


class SortKey(StrEnum):
    """What a list is sorted by."""

    TIME = "time"
    DURATION = "duration"
    VALUE = "value"


class RunSort(StrEnum):
    """Order of the table; what has no such value is not in the list."""

    NEWEST = "newest"
    OLDEST = "oldest"
    LONGEST = "longest"
    SHORTEST = "shortest"
    HIGHEST = "highest"
    LOWEST = "lowest"

    @property
    def key(self) -> SortKey:
        """What decides."""
        match self:
            case RunSort.NEWEST | RunSort.OLDEST:
                return SortKey.TIME
            case RunSort.LONGEST | RunSort.SHORTEST:
                return SortKey.DURATION
            case _:
                return SortKey.VALUE

    @property
    def is_descending(self) -> bool:
        """Whether the largest comes first."""
        return self in {RunSort.NEWEST, RunSort.LONGEST, RunSort.HIGHEST}


@dataclass(frozen=True, slots=True)
class ExplorerFilter:
    """Which runs are wanted, as query parameters; what is left out stays open."""

    id: Annotated[list[KnownId] | None, Query(max_length=MOST_PINNED, description="These runs alone")] = None
    cluster_id: OptionalId = None
    campaign_id: OptionalId = None
    node_id: OptionalId = None
    target_id: OptionalId = None
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    state: RunState | None = None
    validity: Literal["valid", "rejected"] | None = None
    flag: Annotated[
        str | None,
        Query(max_length=63, description="A code, `any` or `none`", examples=["CACHE_SIZE", "none"]),
    ] = None
    since: Annotated[WrittenTime | None, Query(alias="from", description="Started then or later")] = None
    until: Annotated[WrittenTime | None, Query(alias="to", description="Started then or earlier")] = None
    text: Annotated[
        str | None,
        Query(max_length=100, description="In the name of campaign, node, target, workload or variant"),
    ] = None


@dataclass(frozen=True, slots=True)
class ExplorerPaging:
    """Which part of the list is wanted, as query parameters."""

    sort: Annotated[RunSort, Query(description="`highest` and `lowest` are of one workload")] = RunSort.NEWEST
    limit: Annotated[int, Query(ge=1, le=500, description="Rows on the page")] = 100
    cursor: Annotated[str | None, Query(max_length=200, description="`next_cursor` of the page before")] = None


class Headline(Output):
    """The number that a run is known by: its total rate, or what else its workload announces first."""

    series_id: int
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    value: float
    flags: Annotated[list[str], Field(description="Codes that concern this number", examples=[["CACHE_SIZE"]])]


class ExplorerRun(Output):
    """A run as a row of the table.

    `options` are those that differ from the defaults of its workload. Runs with the same `likeness` ran the same, on as
    many nodes, and are known by the same number: a ratio between them says something.
    """

    id: int
    campaign_id: int
    campaign_name: str
    cluster_id: int
    cluster_name: str
    cell_id: int
    cell_ordinal: int
    repeat: int
    workload: Annotated[str, Field(examples=["dd"])]
    options: dict[str, Any]
    variant: str
    node_names: list[str]
    target_names: list[str]
    state: RunState
    validity: Literal["valid", "rejected"]
    flags: Annotated[list[str], Field(description="Codes", examples=[["CACHE_SIZE"]])]
    at: Annotated[datetime, Field(description="When it started, or was submitted where it has not")]
    duration_seconds: float | None
    headline: Annotated[Headline | None, Field(description="Null until it finished, or where nothing was measured")]
    likeness: str | None


class RunCount(Output):
    """How many runs a filter lets through."""

    count: int
    is_at_least: Annotated[bool, Field(description="There are more, that nobody counted")]


class Sparkline(Output):
    """The newest points of a series, oldest first."""

    series_id: int
    cell_ids: list[int]
    medians: list[float]


class Sparklines(Output):
    """Of the series that were asked for and that the caller may see."""

    items: list[Sparkline]


class SavedViewInput(Input):
    """A view to be kept."""

    name: Annotated[str, Field(min_length=1, max_length=100, examples=["slow reads on blade"])]
    query: Annotated[
        str,
        Field(max_length=2000, description="The search part of the page's address", examples=["sort=longest"]),
    ]


class SavedViewOutput(Output):
    """A view that the caller keeps."""

    id: int
    name: str
    query: str
    created_at: datetime


class SavedViews(Output):
    """All views that the caller keeps, by name."""

    items: list[SavedViewOutput]
