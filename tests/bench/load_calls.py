"""Minimal HTTP client for thousands of connections, and a tally of all requests, for `./dev bench load`.

A connection stands for one agent or one connection of a browser page. It is kept for as long as an agent's own client
keeps it, then reopened. It reads what this server sends, lengths and chunks, and nothing else of HTTP.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import Final

KEEP_ALIVE_SECONDS: Final = 60.0
"""A connection unused for this long is reopened, as in an agent's own client."""
PATIENCE_SECONDS: Final = 10.0
"""An agent's timeout for the answer to a heartbeat."""
NO_ANSWER: Final = 0
"""In place of a status."""
_BODILESS: Final = frozenset({204, 304})
_LARGEST_BYTES: Final = 16 * 1024**2


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a request; for `NO_ANSWER` the body holds the reason."""

    status: int
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


@dataclass
class Tally:
    """Counts of requests by kind.

    Attributes:
        is_counting: False while the bench sets up, or warms up.
        seconds: of each request with any answer, by kind.
        statuses: how often each came, by kind.
        refused: the first words of answers that were errors.
    """

    is_counting: bool = False
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    refused: list[str] = field(default_factory=list)

    def note(self, kind: str, answer: Answer, seconds: float) -> None:
        """Count a finished request."""
        if not answer.is_success and len(self.refused) < 20:
            self.refused.append(f"{kind}: {answer.status} {answer.body[:300].decode(errors='replace')}")
        if not self.is_counting and answer.is_success:
            return
        self.statuses[kind][answer.status] += 1
        self.seconds[kind].append(seconds)

    def fail(self, kind: str, why: str) -> None:
        """Count an answer with wrong content as a failure."""
        self.refused.append(f"{kind}: {why}")
        self.statuses[kind][NO_ANSWER] += 1

    def taken(self) -> "Tally":
        """Return the counts so far and reset them."""
        so_far = Tally(self.is_counting, self.seconds, self.statuses, self.refused)
        self.seconds, self.statuses, self.refused = defaultdict(list), defaultdict(Counter), []
        return so_far

    def add(self, other: "Tally") -> None:
        """Add another tally's counts."""
        for kind, seconds in other.seconds.items():
            self.seconds[kind] += seconds
        for kind, statuses in other.statuses.items():
            self.statuses[kind] += statuses
        self.refused += other.refused

    @property
    def requests(self) -> int:
        return sum(count for found in self.statuses.values() for count in found.values())

    @property
    def errors(self) -> int:
        """Requests that failed."""
        return sum(
            count for found in self.statuses.values() for status, count in found.items() if not 200 <= status < 300
        )


def percentile_ms(seconds: Sequence[float], percent: float) -> float:
    """Return the time within which that share of the requests was answered, in milliseconds; 0 without requests."""
    if not seconds:
        return 0.0
    return 1000 * sorted(seconds)[ceil(len(seconds) * percent / 100) - 1]


class Caller:
    """Connection of one client."""

    def __init__(self, port: int, tally: Tally, headers: str) -> None:
        """Prepare the connection without opening it.

        Args:
            headers: lines that go with each request, each with its end.
        """
        self._port = port
        self._tally = tally
        self._headers = headers
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._free_at = 0.0

    async def ask(self, kind: str, method: str, path: str, body: bytes = b"", headers: str = "") -> Answer:
        """Send a request, wait for the whole answer and count it; a failure is an answer, too."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                answer = await self._exchange(method, path, body, headers)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self.close()
            answer = Answer(NO_ANSWER, f"{type(error).__name__}: {error}".encode())
        self._tally.note(kind, answer, time.perf_counter() - began)
        return answer

    def close(self) -> None:
        """Close, so that the next request opens a new connection."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    async def _exchange(self, method: str, path: str, body: bytes, headers: str) -> Answer:
        reader, writer = await self._connection()
        writer.write(self._request(method, path, len(body), headers) + body)
        status, head = await _read_head(reader)
        content = b"" if status in _BODILESS else await _read_body(reader, head)
        self._free_at = time.monotonic()
        if b"connection: close" in head:
            self.close()
        return Answer(status, content)

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._writer is not None and time.monotonic() - self._free_at >= KEEP_ALIVE_SECONDS:
            self.close()
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**18)
        return self._reader, self._writer

    def _request(self, method: str, path: str, length: int, headers: str) -> bytes:
        return (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n{self._headers}{headers}"
            f"Content-Length: {length}\r\n\r\n"
        ).encode()

    @asynccontextmanager
    async def stream(self, path: str, headers: str = "") -> AsyncIterator[AsyncIterator[bytes]]:
        """Yield the lines of a stream until it or the block ends.

        Raises:
            ConnectionRefusedError: it was refused; OSError, IncompleteReadError: it broke.
        """
        async with asyncio.timeout(PATIENCE_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(self._request("GET", path, 0, f"Accept: text/event-stream\r\n{headers}"))
            async with asyncio.timeout(PATIENCE_SECONDS):
                status, head = await _read_head(reader)
            if status != 200 or b"transfer-encoding: chunked" not in head:
                raise ConnectionRefusedError(f"{status} to a stream")
            yield _lines(reader)
        finally:
            writer.close()


async def _read_head(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    return int(head[9:12]), head


async def _read_body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    _, found, rest = head.partition(b"content-length: ")
    if found:
        return await reader.readexactly(min(int(rest.partition(b"\r\n")[0]), _LARGEST_BYTES))
    return b"".join([chunk async for chunk in _chunks(reader)])


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while length := int(await reader.readuntil(b"\r\n"), 16):
        yield (await reader.readexactly(length + 2))[:-2]
    await reader.readexactly(2)


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in _chunks(reader):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.rstrip(b"\r")
