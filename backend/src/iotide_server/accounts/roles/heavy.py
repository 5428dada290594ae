"""Limits each person to one expensive request across all API processes.

Such requests expand a plan, compare campaigns or export everything (`./dev bench plan`).
"""

from collections.abc import AsyncIterator, Iterator
from typing import Final
from zlib import crc32

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request

from iotide_server.accounts.errors import ONE_HEAVY_AT_A_TIME
from iotide_server.accounts.roles.rules import Caller
from iotide_server.accounts.sessions.cookies import caller_address
from iotide_server.kit.guard import after_answer
from iotide_server.kit.proxies import network_of
from iotide_server.kit.turns import TURNS, Turns

TRY_AGAIN_SECONDS: Final = 1
UNKNOWN_READERS: Final = "unknown readers"
_UNKNOWN_AT_ONCE: Final = 64
"""Concurrent responses to anonymous readers; networks are hashed to this many slots."""


def _take_turn(request: Request, caller: Caller) -> Iterator[None]:
    """Hold the person's turn until the response is sent. Raise ONE_HEAVY_AT_A_TIME."""
    # All anonymous readers share one turn, which ends before the response is sent, so a slow reader blocks only its
    # own network.
    turns = TURNS.of(request.app.state)
    if caller.user_id is not None:
        _take_until_sent(request, f"user {caller.user_id}")
        yield
        return
    _take_until_sent(request, _unknown_holder(caller_address(request)))
    _take(turns, UNKNOWN_READERS)
    try:
        yield
    finally:
        turns.give_back(UNKNOWN_READERS)


def _unknown_holder(address: str | None) -> str:
    return f"{UNKNOWN_READERS} {crc32(network_of(address).encode()) % _UNKNOWN_AT_ONCE}"


def _take_until_sent(request: Request, holder: str) -> None:
    turns = TURNS.of(request.app.state)
    _take(turns, holder)
    after_answer(request.scope, lambda: turns.give_back(holder))


def _take(turns: Turns, holder: str) -> None:
    if not turns.take(holder):
        raise ONE_HEAVY_AT_A_TIME(wait_seconds=TRY_AGAIN_SECONDS)


ONE_HEAVY_REQUEST = Depends(_take_turn, scope="function")
"""Rejects a person's second expensive request with 429."""


async def one_by_one(pieces: Iterator[str], limiter: CapacityLimiter) -> AsyncIterator[str]:
    """Yield an export to an anonymous reader at limited concurrency, after the turn."""
    while (piece := await to_thread.run_sync(next, pieces, None, limiter=limiter)) is not None:
        yield piece
