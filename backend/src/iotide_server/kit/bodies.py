"""Takes in the bodies of requests: bounded in size and in shape, large ones on disk, few of them in memory at once.

An empty list takes 56 bytes of memory or more, and three of a body: the size alone bounds little.
"""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, NamedTuple
from weakref import WeakValueDictionary
from zlib import crc32

import anyio
from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Scope

from iotide_server.kit.app_values import AppValue
from iotide_server.kit.errors import ErrorKind
from iotide_wire.units import KIB, MIB

BODIES: Final[AppValue["Bodies"]] = AppValue("bodies")


LARGE_BYTES: Final = 256 * KIB
"""A body of up to this size is read at once; of larger ones each caller sends one at a time."""
MEDIUM_BYTES: Final = 2 * MIB
"""The usual result after an outage is smaller: several are stored at once, which take less than one of the largest."""
MEDIUM_AT_ONCE: Final = 4
_LIMIT: Final = "iotide.body_limit"
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""Passes each byte once and keeps nothing of it, also in a text that never ends."""

BODY_TOO_COMPLEX = ErrorKind(422, "invalid_input").says("the body has {what}", "send less at once")
NO_ROOM_FOR_BODY = ErrorKind(503, "no_room_for_body").says(
    "the server cannot keep the body while it arrives: {why}",
    "make room on its disk for temporary files, then send the same again",
)


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """Bounds what the body of a request may hold."""

    size_bytes: int = 2 * MIB  # of the body as it is sent
    lists: int = 50_000  # lists and objects in it
    names: int = 100_000  # names of members of its objects
    values: int = 200_000  # values in its lists and objects
    queue: str = ""  # large bodies of one queue wait for one another

    def check(self, body: bytes) -> None:
        """Raise BODY_TOO_COMPLEX for JSON that holds more; it costs a few milliseconds a megabyte."""
        self.check_lists(_lists_in(body))
        self._check_gaps(body)
        _check("names of members", _outside_of_texts(body, b":", self.names), self.names)
        _check("values", _outside_of_texts(body, b",", self.values), self.values)

    def check_lists(self, count: int) -> None:
        """Raise BODY_TOO_COMPLEX for more lists and objects."""
        _check("lists and objects", count, self.lists)

    def _check_gaps(self, body: bytes) -> None:
        """Refuse one text, number or blank that is most of a large body."""
        for start in range(0, len(body) - LARGE_BYTES, LARGE_BYTES):
            if body.find(b'"', start, start + LARGE_BYTES) < 0:
                raise BODY_TOO_COMPLEX(what=f"{LARGE_BYTES} bytes without a quotation mark")


class Caller(NamedTuple):
    """Identifies who sends a body."""

    kind: str  # of callers that wait for one another with large bodies
    name: str  # nobody else of that kind has it


def set_body_limit(scope: Scope, limit: BodyLimit) -> None:
    scope[_LIMIT] = limit


def body_limit(scope: Scope) -> BodyLimit:
    limit: BodyLimit = scope.get(_LIMIT, BodyLimit())
    return limit


class Bodies:
    """Reads bodies for the routes of one process.

    A large body waits on disk until it has arrived: a slow sender takes no memory and holds nobody up. Then it is in
    memory until its route has answered, since what was made of it is most of the memory. Of those over MEDIUM_BYTES one
    of people's and one of nodes' are in memory at a time, of all processes together; of others MEDIUM_AT_ONCE.
    """

    def __init__(self, shared: Path | None = None) -> None:
        self._shared = shared  # a directory of the processes of one API; None where there is one process
        self._of_callers: WeakValueDictionary[Caller, anyio.Lock] = WeakValueDictionary()
        self._turns: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    async def serve(
        self, request: Request, caller: Caller, act: Callable[[bytes], Awaitable[Response]], *, is_json: bool
    ) -> Response:
        """Return what `act` answers to the body; raise BODY_TOO_COMPLEX, NO_ROOM_FOR_BODY or HTTPException."""
        limit = body_limit(request.scope)
        try:
            if not _is_large(request, limit):
                return await act(await request.body())
            caller = caller._replace(kind=f"{caller.kind}{limit.queue}")
            # Whoever sends several at once has one read after the other, and takes one place in the queue.
            async with self._of_callers.setdefault(caller, anyio.Lock()):
                with _made(TemporaryFile) as file:
                    await _keep(request, file, limit if is_json else None)
                    async with self._turn(_queue(caller, file.tell())):
                        await _require_client(request)
                        file.seek(0)
                        return await act(file.read())
        except ClientDisconnect as error:
            raise HTTPException(400, "the client is gone") from error

    @asynccontextmanager
    async def _turn(self, kind: str) -> AsyncIterator[None]:
        async with self._turns[kind]:
            shared = self._shared
            if shared is None:
                yield
                return
            with _made(lambda: (shared / f"{kind}.turn").open("wb")) as file:
                # Closing the file gives the turn to the next process, and so does the end of this one.
                await to_thread.run_sync(flock, file, LOCK_EX, limiter=CapacityLimiter(1))
                yield


def _queue(caller: Caller, size_bytes: int) -> str:
    """Name the queue of a body: the largest have one, others one of several, by their caller."""
    if size_bytes > MEDIUM_BYTES:
        return caller.kind
    number = crc32(caller.name.encode()) % MEDIUM_AT_ONCE
    return f"{caller.kind}-{number}"


async def _require_client(request: Request) -> None:
    """Raise ClientDisconnect for a client that is gone: nobody waits for its answer, and others wait for their turn."""
    if await request.is_disconnected():
        raise ClientDisconnect


def _made(make: Callable[[], IO[bytes]]) -> IO[bytes]:
    try:
        return make()
    except OSError as error:
        raise NO_ROOM_FOR_BODY(why=error.strerror) from error


async def _keep(request: Request, file: IO[bytes], limit: BodyLimit | None) -> None:
    lists = 0
    try:
        async for chunk in request.stream():
            if limit is not None:
                lists += _lists_in(chunk)
                limit.check_lists(lists)
            file.write(chunk)
        file.flush()
    except OSError as error:
        raise NO_ROOM_FOR_BODY(why=error.strerror) from error


def _is_large(request: Request, limit: BodyLimit) -> bool:
    """Return true for a body that may turn out to be large because it does not say how long it is."""
    length = request.headers.get("content-length")
    return (limit.size_bytes if length is None else int(length)) > LARGE_BYTES


def _outside_of_texts(body: bytes, sign: bytes, most: int) -> int:
    """Count the sign outside of texts up to `most` and no further, or everywhere where that is cheaper and no more."""
    everywhere = body.count(sign)
    if everywhere <= most:
        return everywhere
    count, at = 0, 0
    for found in _STRING.finditer(body):
        count, at = count + body.count(sign, at, found.start()), found.end()
        if count > most:
            return count
    return count + body.count(sign, at)


def _lists_in(part: bytes) -> int:
    return part.count(b"[") + part.count(b"{")


def _check(what: str, count: int, most: int) -> None:
    if count > most:
        raise BODY_TOO_COMPLEX(what=f"more than {most} {what}")
