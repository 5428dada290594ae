"""Serves one request of each caller at a time in a process, and one of all strangers: nobody takes all places."""

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


MOST_WAITING: Final = 20  # of one person in one process; a browser has six connections
_TRY_AGAIN_SECONDS: Final = 1

TOO_MANY_AT_ONCE = ErrorKind(429, "too_many_at_once").says(
    "{most_waiting} of your requests wait already", "ask for fewer things at once, then try again"
)


class Holder(NamedTuple):
    """Whose requests wait for one another."""

    name: str  # nobody else has it
    is_known: bool = True  # a person or a node; of all others together one request is served at a time


@dataclass(slots=True)
class _Queue:
    turn: Semaphore = field(default_factory=lambda: Semaphore(1))
    count: int = 0


class OneEach:
    """Has requests of a holder, by `holder_of` (None: of nobody), wait for one another, `most_waiting` at most."""

    def __init__(self, holder_of: Callable[[Request], Holder | None], most_waiting: int = MOST_WAITING) -> None:
        self._holder_of = holder_of
        self._most_waiting = most_waiting
        self._queues: dict[str, _Queue] = {}
        self._turn_of_strangers = Semaphore(1)

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[None]:
        """Wait for other requests of the holder; raise TOO_MANY_AT_ONCE, or HTTPException for a client that left."""
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
                    raise HTTPException(400, "the client is gone")
                yield
        finally:
            queue.count -= 1
            if queue.count == 0:
                del self._queues[holder.name]

    def count(self, name: str) -> int:
        """Return how many requests of the holder are served or wait."""
        queue = self._queues.get(name)
        return 0 if queue is None else queue.count


async def _is_gone(request: Request) -> bool:
    # The first message of a client that is there is that its request is complete, unless its body was read before.
    return await request.is_disconnected() or await request.is_disconnected()


def _turn_of(value: AppValue[OneEach]) -> Callable[[Request], AsyncIterator[None]]:
    async def turn(request: Request) -> AsyncIterator[None]:
        one_each = value.get(request.app.state)
        async with nullcontext() if one_each is None else one_each.turn(request):
            yield

    return turn


OneEachTurn = Annotated[None, Depends(_turn_of(ONE_EACH), scope="function")]  # the turn of who sends this request

OneNodeTurn = Annotated[None, Depends(_turn_of(ONE_NODE_EACH), scope="function")]
"""The turn of the node whose agent sends this request."""
