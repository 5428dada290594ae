"""The beats of idle nodes, which are nearly all requests there are: those that come together are taken down together.

A beat of a known agent that holds no order, to which nothing is offered and of which nothing is wanted says only that
it is alive. Many of these are one statement and one commit; each is answered after that commit. Every other beat, and
one whose row somebody else has locked, is left out.
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
from iotide_server.agent_api.idle_repository import IdleBeat
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.agents.beats import idle_beat_seconds
from iotide_server.clusters.agents.rules import token_sha256_of
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.clock import CLOCK
from iotide_server.kit.db import DATABASE
from iotide_server.kit.meters import HEARTBEATS
from iotide_server.kit.web import is_storable
from iotide_wire.messages import BeatReply, BeatRequest
from iotide_wire.versions import as_spoken

IDLE_BEATS: Final[AppValue["IdleBeats"]] = AppValue("idle_beats")


GATHERING_SECONDS: Final = 0.02  # so long a beat waits for others: nobody waits for the answer to it
MOST_TOGETHER: Final = 500
_NO_ORDERS: Final = b'"orders":[]'
_log = structlog.get_logger(__name__)


class _Waiting(NamedTuple):
    said: IdleBeat
    answer: "asyncio.Future[Response | None]"


def node_token_sha256(headers: Mapping[str, str]) -> str | None:
    """The digest of the node token that a request in JSON came with; None: it came otherwise."""
    return token_sha256_of(headers) if headers.get("content-type") == "application/json" else None


def read_beat(body: bytes) -> BeatRequest:
    """Return a heartbeat by way of plain objects, which cost less than from bytes; raise ValueError."""
    return BeatRequest.model_validate(from_json(body))


def idle_beat(headers: Mapping[str, str], body: bytes) -> IdleBeat | None:
    """Return what an agent says that holds no order and reports no stuck load; None for any other beat."""
    token_sha256 = node_token_sha256(headers)
    if token_sha256 is None or _NO_ORDERS not in body:
        return None
    try:
        beat = read_beat(body)
    except ValueError:
        return None
    # One that cannot be stored would fail those that are stored with it.
    if beat.orders or beat.stuck or beat.problem is not None or not is_storable(beat.agent_instance):
        return None
    return IdleBeat(token_sha256, beat.agent_instance, beat.clock, beat.spool_bytes)


@dataclass
class IdleBeats:
    """Takes down idle beats, those together that came within a moment or while the former ones were written."""

    state: State  # of the application, with its `database` and `clock`

    def __post_init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._writer: asyncio.Task[None] | None = None

    async def take(self, said: IdleBeat) -> Response | None:
        """The answer to the beat once it is in the database; None: it was not taken down."""
        waiting = _Waiting(said, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        return await waiting.answer

    async def _write(self) -> None:
        limiter = CapacityLimiter(1)  # beside the threads of requests, all of which may be waiting
        while self._waiting:
            await asyncio.sleep(GATHERING_SECONDS)
            together, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
            try:
                answers = await to_thread.run_sync(self._answers, [each.said for each in together], limiter=limiter)
            except Exception as error:  # noqa: BLE001 - else those who wait would wait for ever
                # Each goes the usual way, and fails there if it has to, with the words for it.
                _log.warning("idle_beats_not_taken", beats=len(together), error=str(error))
                answers = {}
            HEARTBEATS.inc(len(answers))
            for place, each in enumerate(together):
                if not each.answer.done():
                    each.answer.set_result(answers.get(place))

    def _answers(self, said: Sequence[IdleBeat]) -> dict[int, Response]:
        """By place in the list."""
        now = CLOCK.of(self.state)()
        with DATABASE.of(self.state).beats.transaction() as session:
            heard = idle_repository.take_idle_beats(session, said, now, now - SILENT_AFTER)
            agents.tell_heard_again(session, {node.node_id: node.cluster_id for node in heard if node.was_silent})
        if not heard:
            return {}
        reply = BeatReply(
            server_time=now,
            beat_seconds=idle_beat_seconds(heard[0].node_count),
            orders=(),
            oldest_offer_seconds=None,
            hello_wanted=False,
        )
        spoken = {version: as_spoken(reply, version) for version in {node.wire_version for node in heard}}
        return {node.place: Response(spoken[node.wire_version], media_type="application/json") for node in heard}
