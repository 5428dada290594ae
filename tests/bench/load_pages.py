"""Queries of the dashboard's pages and the updates that make each stale, for `./dev bench load`; pure.

Copied from the pages' own `queries.ts`: a change of a page's queries belongs here, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

LIVE_SHOWN: Final = 8
LIVE_SECONDS: Final = 5
_API: Final = "/api/v1"


@dataclass(frozen=True)
class Query:
    """Query of a page.

    Attributes:
        kind: its name in the table.
        stale_on: kinds of updates that make it stale; `campaign/7`: of this row only.
        every_seconds: interval of repetition; None: never.
        has_pages: fetch all of its pages, one after another.
    """

    kind: str
    path: str
    stale_on: frozenset[str] = frozenset()
    every_seconds: float | None = None
    has_pages: bool = False


_CLUSTERS: Final = Query("GET clusters", f"{_API}/clusters?limit=500", frozenset({"cluster"}))
_SESSION: Final = Query("GET session", f"{_API}/session")
_BOARD: Final = Query(
    "GET board", f"{_API}/board?days=90", frozenset({"standing", "alert", "cluster"}), every_seconds=60
)
_NEW_POINTS: Final = frozenset({"series"})
"""Keys that depend on cells."""


def _workloads(cluster_id: int | None) -> Query:
    narrowed = "" if cluster_id is None else f"&cluster_id={cluster_id}"
    return Query("GET workloads", f"{_API}/workloads?limit=500{narrowed}", frozenset({"node"}), has_pages=True)


def overview() -> list[Query]:
    """State of all clusters, their throughput, active campaigns and the next ones."""
    campaigns = [
        Query("GET campaigns", f"{_API}/campaigns?limit=50&state={state}", frozenset({"campaign"}))
        for state in ("active", "waiting", "paused")
    ]
    return [
        _SESSION,
        _CLUSTERS,
        Query("GET drains", f"{_API}/drains", frozenset({"cluster"})),
        _BOARD,
        Query("GET throughput", f"{_API}/board/throughput?days=90"),
        *campaigns,
        Query("GET schedules", f"{_API}/schedules?limit=500", frozenset({"schedule"})),
    ]


def campaign_page(cluster_id: int, campaign_id: int) -> list[Query]:
    """An active campaign: its results, active runs and waiting runs."""
    one, runs = f"{_API}/campaigns/{campaign_id}", f"{_API}/runs?campaign_id={campaign_id}&limit=100"
    queue = f"{_API}/clusters/{cluster_id}/queue?limit=3&campaign_id={campaign_id}"
    return [
        _SESSION,
        _CLUSTERS,
        _workloads(cluster_id),
        Query("GET campaign", one, frozenset({f"campaign/{campaign_id}"}), every_seconds=3),
        Query("GET cells", f"{one}/cells?limit=200", _NEW_POINTS),
        Query("GET measures", f"{one}/measures", _NEW_POINTS),
        Query("GET advice", f"{one}/advice", _NEW_POINTS),
        Query("GET active runs", f"{runs}&state=active", frozenset({"run"})),
        Query("GET queue", queue, frozenset({"run"}), every_seconds=10),
    ]


def runs_page() -> list[Query]:
    return [
        _SESSION,
        _CLUSTERS,
        _workloads(None),
        Query("GET views", f"{_API}/explorer/views"),
        Query("GET explorer/runs", f"{_API}/explorer/runs?limit=200", every_seconds=15),
        Query("GET explorer/count", f"{_API}/explorer/count"),
    ]


def cluster_page(cluster_id: int) -> list[Query]:
    """A cluster with all its nodes."""
    own, of_cluster = f"{_API}/clusters/{cluster_id}", f"limit=500&cluster_id={cluster_id}"
    return [
        _SESSION,
        _CLUSTERS,
        _workloads(cluster_id),
        _BOARD,
        Query(
            "GET nodes",
            f"{own}/nodes?limit=500",
            frozenset({"node", "activity"}),
            every_seconds=3,
            has_pages=True,
        ),
        Query("GET targets", f"{_API}/targets?{of_cluster}", frozenset({"target", "node"}), has_pages=True),
        Query("GET blackouts", f"{own}/blackouts?limit=500", frozenset({f"cluster/{cluster_id}"})),
    ]


def follow_ups(query: Query, found: Mapping[str, Any]) -> list[Query]:
    """Return the queries that follow from an answer: progress of the first active runs, a figure, the series'
    curves.
    """
    match query.kind:
        case "GET active runs":
            counters = "&".join(f"counter={way}_bytes_per_second" for way in ("write", "read"))
            paths = [f"{_API}/runs/{run['id']}/curves?max_points=3600&{counters}" for run in found["items"]]
            return [Query("GET live curves", path, every_seconds=LIVE_SECONDS) for path in paths[:LIVE_SHOWN]]
        case "GET measures" if found["metrics"]:
            shown = found["metrics"][0]
            wanted = f"limit=500&metric={shown['metric']}&workload={shown['workload']}"
            path = query.path.replace("/measures", f"/measurements?{wanted}")
            return [Query("GET measurements", path, _NEW_POINTS)]
        case "GET explorer/runs":
            series = {run["headline"]["series_id"]: None for run in found["items"] if run["headline"]}
            wanted = "&".join(f"series_id={number}" for number in series)
            return [Query("GET sparklines", f"{_API}/explorer/sparklines?{wanted}", _NEW_POINTS)] if series else []
        case _:
            return []
