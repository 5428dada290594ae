"""Serves one request per caller at a time, in a process."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Annotated, Final, NamedTuple

from anyio import Semaphore
from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from iotide_server.kit.app_values import AppValue
from iotide_server.kit.errors import ErrorKind

ONE_EACH: Final[AppValue["OneEach"]] = AppValue("one_each")
ONE_NODE_EACH: Final[AppValue["OneEach"]] = AppValue("one_node_each")


MOST_WAITING: Final = 20  # per person and process; browsers open six connections
_TRY_AGAIN_SECONDS: Final = 1

TOO_MANY_AT_ONCE = ErrorKind(429, "too_many_at_once").says(
    "{most_waiting} of your requests are already waiting", "send fewer requests at once, then try again"
)


class Holder(NamedTuple):
    name: str
    is_known: bool = True  # unknown callers share a single turn


@dataclass(slots=True)
class _Queue:
    turn: Semaphore = field(default_factory=lambda: Semaphore(1))
    count: int = 0


class OneEach:
    """`holder_of` returns None for requests that need not wait."""

    def __init__(self, holder_of: Callable[[Request], Holder | None], most_waiting: int = MOST_WAITING) -> None:
        self._holder_of = holder_of
        self._most_waiting = most_waiting
        self._queues: dict[str, _Queue] = {}
        self._turn_of_strangers = Semaphore(1)

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[None]:
        """Wait for the holder's other requests. Raise TOO_MANY_AT_ONCE, or HTTPException if the client left."""
        holder = self._holder_of(request)
        if holder is None:
            yield
            return
        queue = self._queues.setdefault(holder.name, _Queue())
        if queue.count > self._most_waiting:
            raise TOO_MANY_AT_ONCE(most_waiting=self._most_waiting, wait_seconds=_TRY_AGAIN_SECONDS)
        queue.count += 1
        try:
            strangers = None if holder.is_known else self._turn_of_strangers
            has_to_wait = queue.turn.value == 0 or (strangers is not None and strangers.value == 0)
            async with queue.turn, strangers or nullcontext():
                if has_to_wait and await _is_gone(request):
                    raise HTTPException(400, "the client has disconnected")
                yield
        finally:
            queue.count -= 1
            if queue.count == 0:
                del self._queues[holder.name]

    def count(self, name: str) -> int:
        queue = self._queues.get(name)
        return 0 if queue is None else queue.count


async def _is_gone(request: Request) -> bool:
    # A connected client's first message completes the request, unless the body was read before.
    return await request.is_disconnected() or await request.is_disconnected()


def _turn_of(value: AppValue[OneEach]) -> Callable[[Request], AsyncIterator[None]]:
    async def turn(request: Request) -> AsyncIterator[None]:
        one_each = value.get(request.app.state)
        async with nullcontext() if one_each is None else one_each.turn(request):
            yield

    return turn


OneEachTurn = Annotated[None, Depends(_turn_of(ONE_EACH), scope="function")]

OneNodeTurn = Annotated[None, Depends(_turn_of(ONE_NODE_EACH), scope="function")]
