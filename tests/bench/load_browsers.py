"""Simulated browsers with an open dashboard page, for `./dev bench load`: what they request, and when they repeat it.

Each has its own session, one connection to the change feed, and the five further connections that a browser opens to
one address. It refetches by the same rules as `frontend/src/api/changeFeed.ts` and the `queries.ts` of the pages
(`load_pages`). Updates are gathered for a moment, and the queries that they make stale run at once. The next round
waits for the answers and pauses after them. Some queries also repeat every few seconds. Now and then the connection
breaks; the feed then continues after the last event that was received.
"""

import asyncio
import gzip
import json
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from load_calls import Caller, Tally
from load_pages import Query, follow_ups

CONNECTIONS: Final = 5
GATHER_SECONDS: Final = 0.4
RESTS: Final = 9
LEAST_REST_SECONDS: Final = 1.0
LONGEST_REST_SECONDS: Final = 15.0
RETRY_SECONDS: Final = 0.5
"""Reconnection delay that the feed itself gives to browsers."""
LINE_SECONDS: Final = (45.0, 90.0)
"""A connection breaks after a time drawn from this range."""
ANY: Final = 0
"""In place of a row's id: very many rows of this kind have changed."""
_GZIPPED: Final = b"\x1f\x8b"


@dataclass
class Lines:
    """Totals of all feeds.

    Attributes:
        resumed: how often a feed continued after its last received event.
        rounds: how often a page refetched stale queries.
    """

    resumed: int = 0
    rounds: int = 0


@dataclass
class Browser:
    """One open page.

    Attributes:
        updates: how many updates its feed delivered.
    """

    port: int
    tally: Tally
    lines: Lines
    headers: str
    queries: Sequence[Query]
    draw: random.Random
    updates: int = 0
    _stale: set[Query] = field(default_factory=set)
    _has_updates: asyncio.Event = field(default_factory=asyncio.Event)
    _last_id: str = ""
    _free: asyncio.Queue[Caller] = field(default_factory=asyncio.Queue)
    _shown: dict[Query, asyncio.Lock] = field(default_factory=dict)
    _followed: dict[Query, Sequence[Query]] = field(default_factory=dict)
    _tasks: asyncio.TaskGroup = field(default_factory=asyncio.TaskGroup)

    async def live(self) -> None:
        """Show the page, until cancelled."""
        for _ in range(CONNECTIONS):
            self._free.put_nowait(Caller(self.port, self.tally, self.headers + "Accept-Encoding: gzip\r\n"))
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            tasks.create_task(self._listen())
            tasks.create_task(self._refetch())
            for query in self.queries:
                self._start(query)

    def _start(self, query: Query) -> None:
        lock = self._shown[query] = asyncio.Lock()
        self._tasks.create_task(self._show(query, lock))

    async def _show(self, query: Query, lock: asyncio.Lock) -> None:
        """Run the query, and again every few seconds as long as it is shown."""
        await self._fetch(query)
        while query.every_seconds is not None and self._shown.get(query) is lock:
            await asyncio.sleep(query.every_seconds)
            if not lock.locked():
                await self._fetch(query)

    async def _listen(self) -> None:
        stream = Caller(self.port, self.tally, self.headers)
        while True:
            resumes = f"Last-Event-ID: {self._last_id}\r\n" if self._last_id else ""
            self.lines.resumed += bool(resumes)
            try:
                async with stream.stream("/api/v1/events", resumes) as lines:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self.draw.uniform(*LINE_SECONDS)):
                            await self._receive(lines)
            except (OSError, asyncio.IncompleteReadError) as error:  # a TimeoutError is an OSError
                self.tally.fail("GET events", f"{type(error).__name__}: {error}")
            await asyncio.sleep(RETRY_SECONDS)

    async def _receive(self, lines: AsyncIterator[bytes]) -> None:
        event = ""
        async for line in lines:
            name, _, value = line.decode().partition(": ")
            if name == "id":
                self._last_id = value
            elif name == "event":
                event = value
            elif name == "data" and event == "change":
                change = json.loads(value)
                self.updates += 1
                self._mark(change["kind"], change["id"])
            elif name == "data" and event == "reset":
                self.tally.fail("GET events", "a reset: what was missed is unknown")

    def _mark(self, kind: str, row_id: int) -> None:
        marks = {kind, f"{kind}/{row_id}"}
        stale = {
            query
            for query in self._shown
            if query.stale_on & marks or (row_id == ANY and any(mark.startswith(f"{kind}/") for mark in query.stale_on))
        }
        if stale:
            self._stale |= stale
            self._has_updates.set()

    async def _refetch(self) -> None:
        """Refetch in one round after another: a parallel round would cancel the one before."""
        rested_at = 0.0
        while True:
            await self._has_updates.wait()
            await asyncio.sleep(max(GATHER_SECONDS, rested_at - time.monotonic()))
            self._has_updates.clear()
            wanted, self._stale = self._stale, set()
            began = time.monotonic()
            await asyncio.gather(*map(self._fetch, wanted))
            self.lines.rounds += 1
            now = time.monotonic()
            rested_at = now + min(max(RESTS * (now - began), LEAST_REST_SECONDS), LONGEST_REST_SECONDS)

    async def _fetch(self, query: Query) -> None:
        lock = self._shown.get(query)
        if lock is None:
            return
        async with lock:
            found = await self._ask(query.kind, query.path)
            cursor = found and found["next_cursor"] if query.has_pages else None
            while cursor is not None:
                page = await self._ask(query.kind, f"{query.path}&cursor={cursor}")
                cursor = page and page["next_cursor"]
        if found is not None:
            self._follow(query, follow_ups(query, found))

    def _follow(self, query: Query, wanted: Sequence[Query]) -> None:
        """Show what the answer links to, and stop showing what only the previous answer did."""
        before = self._followed.get(query, ())
        self._followed[query] = wanted
        for gone in set(before).difference(wanted):
            del self._shown[gone]
        for new in set(wanted).difference(before):
            self._start(new)

    async def _ask(self, kind: str, path: str) -> dict[str, Any] | None:
        """Return the answer; None if it was refused, which the tally counts."""
        caller = await self._free.get()
        try:
            answer = await caller.ask(kind, "GET", path)
        finally:
            self._free.put_nowait(caller)
        if not answer.is_success:
            return None
        body = gzip.decompress(answer.body) if answer.body.startswith(_GZIPPED) else answer.body
        found = json.loads(body)
        return found if isinstance(found, dict) else {"items": found}
