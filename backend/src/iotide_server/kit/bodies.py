"""Reads request bodies with limits on size, structure and memory.

Size is not enough: an empty JSON list takes 3 bytes in a body, at least 56 in memory.
"""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from tempfile import TemporaryFile
from traceback import clear_frames
from typing import IO, Final, NamedTuple
from weakref import WeakValueDictionary
from zlib import crc32

import anyio
from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Scope

from iotide_server.kit.allocation import trim
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.errors import ErrorKind
from iotide_wire.units import KIB, MIB

BODIES: Final[AppValue["Bodies"]] = AppValue("bodies")


LARGE_BYTES: Final = 256 * KIB
"""Larger bodies are received to disk, one at a time per caller."""
MEDIUM_BYTES: Final = 2 * MIB
"""Most results sent after an outage are smaller."""
MEDIUM_AT_ONCE: Final = 4
_LIMIT: Final = "iotide.body_limit"
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""Reads each byte once and keeps nothing, even if the string never ends."""

BODY_TOO_COMPLEX = ErrorKind(422, "invalid_input").says("the body has {what}", "send less at once")
NO_ROOM_FOR_BODY = ErrorKind(503, "no_room_for_body").says(
    "the server cannot store the request body temporarily: {why}",
    "free disk space for temporary files on the server, then send the request again",
)


@dataclass(frozen=True, slots=True)
class BodyLimit:
    size_bytes: int = 2 * MIB
    lists: int = 50_000
    names: int = 100_000
    values: int = 200_000
    queue: str = ""  # large bodies with the same queue name wait for each other

    def check(self, body: bytes) -> None:
        """Raise BODY_TOO_COMPLEX if JSON exceeds a limit. Takes milliseconds per megabyte."""
        self.check_lists(_lists_in(body))
        self._check_gaps(body)
        _check("member names", _outside_of_texts(body, b":", self.names), self.names)
        _check("values", _outside_of_texts(body, b",", self.values), self.values)

    def check_lists(self, count: int) -> None:
        _check("lists and objects", count, self.lists)

    def _check_gaps(self, body: bytes) -> None:
        for start in range(0, len(body) - LARGE_BYTES, LARGE_BYTES):
            if body.find(b'"', start, start + LARGE_BYTES) < 0:
                raise BODY_TOO_COMPLEX(what=f"{LARGE_BYTES} bytes without a quotation mark in a row")


class Caller(NamedTuple):
    kind: str
    name: str


def set_body_limit(scope: Scope, limit: BodyLimit) -> None:
    scope[_LIMIT] = limit


def body_limit(scope: Scope) -> BodyLimit:
    limit: BodyLimit = scope.get(_LIMIT, BodyLimit())
    return limit


class Bodies:
    """Reads request bodies in one process.

    A large body is received into a file, so a slow sender holds no memory. It is then in memory until its route
    has responded. All processes together hold one body over MEDIUM_BYTES from users, one from nodes, and MEDIUM_AT_ONCE
    smaller ones.
    """

    def __init__(self, shared: Path | None = None) -> None:
        self._shared = shared  # directory that the API's processes share; None for a single process
        self._of_callers: WeakValueDictionary[Caller, anyio.Lock] = WeakValueDictionary()
        self._turns: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    async def serve(
        self, request: Request, caller: Caller, act: Callable[[bytes], Awaitable[Response]], *, is_json: bool
    ) -> Response:
        limit = body_limit(request.scope)
        try:
            if not _is_large(request, limit):
                return await act(await request.body())
            caller = caller._replace(kind=f"{caller.kind}{limit.queue}")
            async with self._of_callers.setdefault(caller, anyio.Lock()):
                with _made(TemporaryFile) as file:
                    await _keep(request, file, limit if is_json else None)
                    async with self._turn(_queue(caller, file.tell())):
                        await _require_client(request)
                        file.seek(0)
                        try:
                            return await act(file.read())
                        except Exception as error:
                            clear_frames(error.__traceback__)  # the error outlives the turn, the body must not
                            raise
                        finally:
                            trim()  # before the next body: fragments of this body must not add to the next one
        except ClientDisconnect as error:
            raise HTTPException(400, "the client has disconnected") from error

    @asynccontextmanager
    async def _turn(self, kind: str) -> AsyncIterator[None]:
        async with self._turns[kind]:
            shared = self._shared
            if shared is None:
                yield
                return
            with _made(lambda: (shared / f"{kind}.turn").open("wb")) as file:
                # Closing the file, or the end of this process, lets the next body in.
                await to_thread.run_sync(flock, file, LOCK_EX, limiter=CapacityLimiter(1))
                yield


def _queue(caller: Caller, size_bytes: int) -> str:
    if size_bytes > MEDIUM_BYTES:
        return caller.kind
    number = crc32(caller.name.encode()) % MEDIUM_AT_ONCE
    return f"{caller.kind}-{number}"


async def _require_client(request: Request) -> None:
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
    """Return true also if the length is unknown."""
    length = request.headers.get("content-length")
    return (limit.size_bytes if length is None else int(length)) > LARGE_BYTES


def _outside_of_texts(body: bytes, sign: bytes, most: int) -> int:
    """Count `sign` outside of strings until there are more than `most`. At most `most` in all count as they are."""
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
