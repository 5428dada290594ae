"""Batches of heartbeats from idle nodes, which are nearly all requests.

Without orders, offers and requests, a heartbeat of a known agent only says that it is alive. One statement and one
commit store many of these. Any other heartbeat, and one with a locked row, is left out.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import structlog
from anyio import CapacityLimiter, to_thread
from pydantic_core import from_json
from starlette.datastructures import State
from starlette.responses import Response

from iotide_server.agent_api import idle_repository
from iotide_server.agent_api.idle_repository import IdleHeartbeat
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.agents.heartbeats import idle_heartbeat_seconds
from iotide_server.clusters.agents.rules import token_sha256_of
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.clock import CLOCK
from iotide_server.kit.db import DATABASE
from iotide_server.kit.meters import HEARTBEATS
from iotide_server.kit.web import is_storable
from iotide_wire.messages import HeartbeatReply, HeartbeatRequest
from iotide_wire.versions import as_spoken

IDLE_HEARTBEATS: Final[AppValue["IdleHeartbeats"]] = AppValue("idle_heartbeats")


GATHERING_SECONDS: Final = 0.02  # delay that collects a batch; nothing depends on a fast reply
MOST_TOGETHER: Final = 500
_NO_ORDERS: Final = b'"orders":[]'
_log = structlog.get_logger(__name__)


class _Waiting(NamedTuple):
    said: IdleHeartbeat
    answer: "asyncio.Future[Response | None]"


def node_token_sha256(headers: Mapping[str, str]) -> str | None:
    return token_sha256_of(headers) if headers.get("content-type") == "application/json" else None


def read_heartbeat(body: bytes) -> HeartbeatRequest:
    """Parse a heartbeat from plain objects, which is faster than from bytes. Raise ValueError."""
    return HeartbeatRequest.model_validate(from_json(body))


def idle_heartbeat(headers: Mapping[str, str], body: bytes) -> IdleHeartbeat | None:
    token_sha256 = node_token_sha256(headers)
    if token_sha256 is None or _NO_ORDERS not in body:
        return None
    try:
        heartbeat = read_heartbeat(body)
    except ValueError:
        return None
    # A heartbeat that cannot be stored would fail the whole batch.
    if (
        heartbeat.orders
        or heartbeat.stuck
        or heartbeat.problem is not None
        or not is_storable(heartbeat.agent_instance)
    ):
        return None
    return IdleHeartbeat(token_sha256, heartbeat.agent_instance, heartbeat.clock, heartbeat.spool_bytes)


@dataclass
class IdleHeartbeats:
    """Stores idle heartbeats in batches: simultaneous ones, and those that arrived during the previous write."""

    state: State

    def __post_init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._writer: asyncio.Task[None] | None = None

    async def take(self, said: IdleHeartbeat) -> Response | None:
        waiting = _Waiting(said, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        return await waiting.answer

    async def _write(self) -> None:
        limiter = CapacityLimiter(1)
        while self._waiting:
            await asyncio.sleep(GATHERING_SECONDS)
            together, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
            try:
                answers = await to_thread.run_sync(self._answers, [each.said for each in together], limiter=limiter)
            except Exception as error:  # noqa: BLE001 - otherwise the waiting requests would hang
                # Each route handles its heartbeat and reports errors.
                _log.warning("idle_heartbeats_not_stored", heartbeats=len(together), error=str(error))
                answers = {}
            HEARTBEATS.inc(len(answers))
            for place, each in enumerate(together):
                if not each.answer.done():
                    each.answer.set_result(answers.get(place))

    def _answers(self, said: Sequence[IdleHeartbeat]) -> dict[int, Response]:
        now = CLOCK.of(self.state)()
        with DATABASE.of(self.state).heartbeats.transaction() as session:
            answered = idle_repository.store_idle_heartbeats(session, said, now, now - SILENT_AFTER)
            agents.publish_online_again(
                session, {node.node_id: node.cluster_id for node in answered if node.was_silent}
            )
        if not answered:
            return {}
        reply = HeartbeatReply(
            server_time=now,
            beat_seconds=idle_heartbeat_seconds(answered[0].node_count),
            orders=(),
            oldest_offer_seconds=None,
            hello_wanted=False,
        )
        spoken = {version: as_spoken(reply, version) for version in {node.wire_version for node in answered}}
        return {node.place: Response(spoken[node.wire_version], media_type="application/json") for node in answered}
