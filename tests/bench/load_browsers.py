"""Browsers with a page of the dashboard open, for `./dev bench load`: what they ask for, and when they ask again.

Each holds one stream of news by its own session. What it shows it fetches again by the same rules as
`frontend/src/api/live.ts` and the `queries.ts` of the pages: news are gathered for a moment, what they make stale is
asked for at once, the next round waits for the answers, and some of it is asked for every few seconds besides. Now and
then the line breaks; the stream then goes on after the last event that was heard.
"""

import asyncio
import gzip
import json
import random
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from load_calls import Caller, Tally

GATHER_SECONDS: Final = 0.4
LINE_SECONDS: Final = (45.0, 90.0)
"""A line breaks after a time drawn from between."""
MOST_PAGES: Final = 100
_NEVER: Final = float("inf")
_GZIPPED: Final = b"\x1f\x8b"


@dataclass(frozen=True)
class Query:
    """What a page asks for.

    Attributes:
        kind: its name in the table.
        stale_on: kinds of rows, whose news make it stale; `campaign/7`: of this row alone.
        every_seconds: it is asked for again after so long, whatever happens; None: never.
        has_pages: all of its pages are wanted, one after another.
    """

    kind: str
    path: str
    stale_on: frozenset[str]
    every_seconds: float | None = None
    has_pages: bool = False


def overview() -> list[Query]:
    """What is to be dealt with, how all clusters stand, what runs and what is next."""
    campaigns = [
        Query("GET campaigns", f"/api/v1/campaigns?limit=50&state={state}", frozenset({"campaign"}))
        for state in ("active", "waiting", "paused")
    ]
    return [
        Query(
            "GET alerts",
            "/api/v1/alerts?limit=100&state=untriaged&state=acknowledged&state=investigating",
            frozenset({"alert"}),
        ),
        Query("GET board", "/api/v1/board?days=90", frozenset({"series"}), every_seconds=60),
        Query("GET schedules", "/api/v1/schedules?limit=500", frozenset({"schedule"})),
        *campaigns,
    ]


def campaign_page(cluster_id: int, campaign_id: int) -> list[Query]:
    """A campaign at work: its results, what of it runs, what waits."""
    one, runs = f"/api/v1/campaigns/{campaign_id}", f"/api/v1/runs?campaign_id={campaign_id}&limit=100"
    queue = f"/api/v1/clusters/{cluster_id}/queue?limit=3&campaign_id={campaign_id}"
    return [
        Query("GET campaign", one, frozenset({f"campaign/{campaign_id}"}), every_seconds=3),
        Query("GET cells", f"{one}/cells?limit=200", frozenset({"cell", "series"})),
        Query("GET measures", f"{one}/measures", frozenset({"series"})),
        Query("GET runs", f"{runs}&state=active", frozenset({"run"})),
        Query("GET queue", queue, frozenset({"run"}), every_seconds=10),
    ]


def runs_page() -> list[Query]:
    """The table of all runs."""
    return [
        Query("GET explorer/runs", "/api/v1/explorer/runs?limit=200", frozenset(), every_seconds=15),
        Query("GET explorer/count", "/api/v1/explorer/count", frozenset()),
    ]


def cluster_page(cluster_id: int) -> list[Query]:
    """A cluster with all its nodes."""
    nodes = f"/api/v1/nodes?cluster_id={cluster_id}&limit=500"
    return [
        Query("GET clusters", "/api/v1/clusters?limit=500", frozenset({"cluster"})),
        Query("GET nodes", nodes, frozenset({"node"}), every_seconds=3, has_pages=True),
        Query("GET queue", f"/api/v1/clusters/{cluster_id}/queue", frozenset({"run"}), every_seconds=10),
    ]


@dataclass
class Lines:
    """What all streams together heard.

    Attributes:
        changes: news of rows.
        resumed: how often a stream went on after the last event that it had heard.
    """

    changes: int = 0
    resumed: int = 0


@dataclass
class Browser:
    """One page that is open."""

    port: int
    tally: Tally
    lines: Lines
    headers: str
    queries: Sequence[Query]
    draw: random.Random
    _stale: set[Query] = field(default_factory=set)
    _due: dict[Query, float] = field(default_factory=dict)
    _last_id: str = ""
    _callers: dict[Query, Caller] = field(default_factory=dict)

    async def live(self) -> None:
        """Show the page, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen())
            tasks.create_task(self._refetch())
            for query in self.queries:
                self._callers[query] = Caller(self.port, self.tally, self.headers + "Accept-Encoding: gzip\r\n")
                self._due[query] = _NEVER
                tasks.create_task(self._fetch(query))

    async def _listen(self) -> None:
        stream = Caller(self.port, self.tally, self.headers)
        while True:
            resumes = f"Last-Event-ID: {self._last_id}\r\n" if self._last_id else ""
            self.lines.resumed += bool(resumes)
            try:
                async with (
                    stream.stream("/api/v1/events", resumes) as lines,
                    asyncio.timeout(self.draw.uniform(*LINE_SECONDS)),
                ):
                    await self._hear(lines)
            except TimeoutError:
                continue
            except (OSError, asyncio.IncompleteReadError) as error:
                self.tally.fail("GET events", f"{type(error).__name__}: {error}")
            await asyncio.sleep(0.5)

    async def _hear(self, lines: AsyncIterator[bytes]) -> None:
        event = ""
        async for line in lines:
            name, _, value = line.decode().partition(": ")
            if name == "id":
                self._last_id = value
            elif name == "event":
                event = value
            elif name == "data" and event == "change":
                change = json.loads(value)
                self.lines.changes += 1
                self._mark(change["kind"], change["id"])
            elif name == "data" and event == "reset":
                self.tally.fail("GET events", "a reset: what was missed is unknown")

    def _mark(self, kind: str, row_id: int) -> None:
        marks = {kind, f"{kind}/{row_id}"}
        self._stale |= {query for query in self.queries if query.stale_on & marks}

    async def _refetch(self) -> None:
        """One round after another: each would cancel its forerunner."""
        while True:
            await asyncio.sleep(GATHER_SECONDS)
            now = time.monotonic()
            wanted, self._stale = self._stale | {query for query, at in self._due.items() if at <= now}, set()
            await asyncio.gather(*map(self._fetch, wanted))

    async def _fetch(self, query: Query) -> None:
        self._due[query] = _NEVER
        path: str | None = query.path
        for _ in range(MOST_PAGES if query.has_pages else 1):
            answer = await self._callers[query].ask(query.kind, "GET", f"{path}")
            cursor = _next_cursor(answer.body) if query.has_pages and answer.is_success else None
            if cursor is None:
                break
            path = f"{query.path}&cursor={cursor}"
        self._due[query] = time.monotonic() + (query.every_seconds or _NEVER)


def _next_cursor(body: bytes) -> str | None:
    cursor: str | None = json.loads(gzip.decompress(body) if body.startswith(_GZIPPED) else body)["next_cursor"]
    return cursor
