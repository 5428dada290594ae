"""API schemas of the table of runs."""

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
    TIME = "time"
    DURATION = "duration"
    VALUE = "value"


class RunSort(StrEnum):
    """Order of the table; runs without the sort key are left out."""

    NEWEST = "newest"
    OLDEST = "oldest"
    LONGEST = "longest"
    SHORTEST = "shortest"
    HIGHEST = "highest"
    LOWEST = "lowest"

    @property
    def key(self) -> SortKey:
        match self:
            case RunSort.NEWEST | RunSort.OLDEST:
                return SortKey.TIME
            case RunSort.LONGEST | RunSort.SHORTEST:
                return SortKey.DURATION
            case _:
                return SortKey.VALUE

    @property
    def is_descending(self) -> bool:
        return self in {RunSort.NEWEST, RunSort.LONGEST, RunSort.HIGHEST}


@dataclass(frozen=True, slots=True)
class ExplorerFilter:
    """Query parameters that select runs."""

    id: Annotated[list[KnownId] | None, Query(max_length=MOST_PINNED, description="Return only these runs")] = None
    cluster_id: OptionalId = None
    campaign_id: OptionalId = None
    node_id: OptionalId = None
    target_id: OptionalId = None
    workload: Annotated[str | None, Query(max_length=100, examples=["dd"])] = None
    state: RunState | None = None
    validity: Literal["valid", "rejected"] | None = None
    flag: Annotated[
        str | None,
        Query(max_length=63, description="A flag code, `any` or `none`", examples=["CACHE_SIZE", "none"]),
    ] = None
    since: Annotated[WrittenTime | None, Query(alias="from", description="Earliest start")] = None
    until: Annotated[WrittenTime | None, Query(alias="to", description="Latest start")] = None
    text: Annotated[
        str | None,
        Query(max_length=100, description="Part of a name of campaign, node, target, workload or variant"),
    ] = None


@dataclass(frozen=True, slots=True)
class ExplorerPaging:
    """Query parameters of sorting and paging."""

    sort: Annotated[RunSort, Query(description="`highest` and `lowest` need `workload`")] = RunSort.NEWEST
    limit: Annotated[int, Query(ge=1, le=500, description="Rows per page")] = 100
    cursor: Annotated[str | None, Query(max_length=200, description="`next_cursor` of the previous page")] = None


class Headline(Output):
    """The value that represents a run: its total rate, or its workload's first metric."""

    series_id: int
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    value: float
    flags: Annotated[list[str], Field(description="Codes of flags that concern this value", examples=[["CACHE_SIZE"]])]
    usual_flags: Annotated[
        list[str],
        Field(description="Flags of at least 90 % of the 20 runs of its series before", examples=[["ZEROES"]]),
    ]


class ExplorerRun(Output):
    """A run as a row of the table.

    `options` are the non-default ones. Runs with equal `likeness` have comparable headlines: same configuration,
    number of nodes and metric.
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
    flags: Annotated[list[str], Field(description="Codes of flags", examples=[["CACHE_SIZE"]])]
    usual_flags: Annotated[
        list[str],
        Field(description="Flags of at least 90 % of the 20 runs of one of its series before", examples=[["ZEROES"]]),
    ]
    at: Annotated[datetime, Field(description="Start, or submission if it has not started")]
    duration_seconds: float | None
    headline: Annotated[Headline | None, Field(description="Null until it finished, or if nothing was measured")]
    likeness: str | None


class RunCount(Output):
    count: int
    is_at_least: Annotated[bool, Field(description="There are more runs, not counted")]


class Sparkline(Output):
    """Newest points of a series, oldest first."""

    series_id: int
    cell_ids: list[int]
    medians: list[float]


class Sparklines(Output):
    """Requested and visible series."""

    items: list[Sparkline]


class SavedViewInput(Input):
    name: Annotated[str, Field(min_length=1, max_length=100, examples=["slow reads on blade"])]
    query: Annotated[
        str,
        Field(max_length=2000, description="The search part of the page's address", examples=["sort=longest"]),
    ]


class SavedViewOutput(Output):
    """A saved view of the caller."""

    id: int
    name: str
    query: str
    created_at: datetime


class SavedViews(Output):
    items: list[SavedViewOutput]
