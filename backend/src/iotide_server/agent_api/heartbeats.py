"""Heartbeats of agents, and the server's reply for each order."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row
from sqlalchemy.orm import Session

from iotide_server.agent_api import repository
from iotide_server.agent_api.repository import Moved
from iotide_server.agent_api.starts import Start, keep_acknowledged_start, meet
from iotide_server.agent_api.times import check_within, moved_curves, plausible
from iotide_server.change_feed import service as live
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.agents.heartbeats import beat_seconds
from iotide_server.kit.errors import IotideError
from iotide_server.results.errors import DAY_FULL
from iotide_server.results.ingest import service as results
from iotide_server.results.ingest.limits import DEFAULTS, ReportLimits
from iotide_server.runs import stuck
from iotide_server.runs.lifecycle import advanced
from iotide_server.runs.models import RunEvent
from iotide_wire.endpoint import Endpoint, NamedEndpoint
from iotide_wire.messages import HeartbeatReply, HeartbeatRequest, OrderHeartbeat, OrderState, OrderWord, Word


def answer_heartbeat(  # noqa: PLR0913 - the last two bound what is stored and waited for
    session: Session,
    node_id: int,
    request: HeartbeatRequest,
    now: datetime,
    limits: ReportLimits = DEFAULTS,
    *,
    waits: bool = True,
) -> HeartbeatReply:
    """Store a heartbeat. Repeated or late ones change nothing.

    Curves beyond the node's daily limit are dropped and logged. Raise AGENT_SUPERSEDED, InvalidInputError for invalid
    curves, and OperationalError if another transaction holds an order and `waits` is false.
    """
    begun = repository.begin_heartbeat(session, node_id)
    oldest = begun.oldest_offer_at
    said = {heartbeat.order_id: heartbeat for heartbeat in request.orders}
    known = repository.lock_known(session, node_id, list(said.values()), waits=waits) if said else []
    moved = {row.id: moved_by(row, said[row.id], now) for row in known}
    _write(session, known, moved, now)
    curve_bytes = 0
    for row in known:
        curves = moved_curves(said[row.id].curves, said[row.id].started_at, moved[row.id].started_at)
        check_within(curves, row.offered_at, now)
        order_limits, day_bytes = limits.of_order(row.offered_at, now), begun.day_bytes + curve_bytes
        try:
            curve_bytes += results.store_curves(session, row.id, curves, order_limits, day_bytes=day_bytes)
        except IotideError as error:
            if error.kind is not DAY_FULL:
                raise
            _log_left_out(session, row, error, now)
        heartbeat = said[row.id]
        if heartbeat.endpoint is not None:
            repository.keep_endpoint(session, row.id, heartbeat.endpoint)
        if heartbeat.go_heard is not None and heartbeat.go_heard != row.go_heard_at:
            keep_acknowledged_start(session, row.id, heartbeat.go_heard)
    starts = _starts(session, known, moved, now)
    if request.stuck is not None and (request.stuck or begun.is_stuck):
        instance, said_stuck = request.agent_instance, request.stuck
        stuck.take_report(session, node_id, instance, said_stuck, now, log_lines=limits.log_lines)
    # After the orders, because everything locks in this order. An error undoes all of the above.
    wanted = agents.heartbeat(
        session,
        node_id,
        request.agent_instance,
        now,
        clock=request.clock,
        is_idle=not said,
        spool_bytes=request.spool_bytes,
        problem=request.problem,
        curve_bytes=curve_bytes,
    )
    if wanted.hello and curve_bytes:
        results.count_day(session, node_id, curve_bytes, 0)
    by_id = {row.id: row for row in known}
    words = [
        word_on(heartbeat, by_id.get(heartbeat.order_id), moved.get(heartbeat.order_id), starts)
        for heartbeat in said.values()
    ]
    return HeartbeatReply(
        server_time=now,
        beat_seconds=beat_seconds((order.started_at for order in moved.values()), now, wanted.idle_seconds),
        orders=tuple(_with_endpoints(session, words)),
        oldest_offer_seconds=None if oldest is None else max(0.0, (now - oldest).total_seconds()),
        hello_wanted=wanted.hello,
        look=wanted.look,
        rotation_wanted=wanted.rotation,
    )


def moved_by(row: Row[Any], heartbeat: OrderHeartbeat, now: datetime) -> Moved:
    """Return the state of an order after the heartbeat. A late one moves nothing back."""
    state = advanced(OrderState(row.state), heartbeat.state)
    is_late = state is not heartbeat.state
    return Moved(
        order_id=row.id,
        state=state,
        progress=row.progress
        if is_late or heartbeat.progress is None
        else max(heartbeat.progress, row.progress or 0.0),
        phase=row.phase if is_late else heartbeat.phase,
        started_at=row.started_at or plausible(heartbeat.started_at, row.offered_at, now),
    )


def word_on(
    heartbeat: OrderHeartbeat, row: Row[Any] | None, moved: Moved | None, starts: Mapping[int, Start]
) -> OrderWord:
    word, moment = Word.CONTINUE, None
    if row is None or moved is None:
        word = Word.UNKNOWN
    elif row.cancel_wanted_at is not None:
        word = Word.CANCEL
    elif moved.state is OrderState.READY:
        start = starts.get(row.attempt_id)
        word = Word.GO if start is not None and start.agreed_at is not None else Word.CONTINUE
        moment = start.go_at if start is not None and start.is_gang else None
    return OrderWord(order_id=heartbeat.order_id, fence=heartbeat.fence, word=word, go_at=moment)


def _log_left_out(session: Session, row: Row[Any], error: IotideError, now: datetime) -> None:
    words = f"curves were left out, and the run continues: {error.message}; {error.remedy}"
    evidence = RunEvent(run_id=row.run_id, order_id=row.id, at=now, kind="curves_missing", text=words)
    if repository.log_lines(session, evidence) == 0:
        session.add(evidence)


def _with_endpoints(session: Session, words: Sequence[OrderWord]) -> list[OrderWord]:
    # Only gangs have a time; a single node needs no other.
    going = [word.order_id for word in words if word.word is Word.GO and word.go_at is not None]
    if not going:
        return list(words)
    endpoints, members = repository.endpoints_towards(session, going), repository.members_of(session, going)
    return [_with_endpoint(word, endpoints.get(word.order_id), members.get(word.order_id, ())) for word in words]


def _with_endpoint(word: OrderWord, endpoint: Endpoint | None, members: tuple[NamedEndpoint, ...] | None) -> OrderWord:
    """Hold back a head as long as not all of its members listen (`members` None)."""
    if members is None:
        return word.model_copy(update={"word": Word.CONTINUE})
    return word.model_copy(update={"endpoint": endpoint, "members": members})


def _write(session: Session, known: Sequence[Row[Any]], moved: Mapping[int, Moved], now: datetime) -> None:
    changed = [row for row in known if row.silent_since is not None or _differs(row, moved[row.id])]
    if not changed:
        return
    repository.move(session, [moved[row.id] for row in changed])
    entered = [row.id for row in changed if row.state != moved[row.id].state]
    if entered:
        repository.log_states(session, entered, now)
    live.publish_all(session, [("run", row.run_id, row.cluster_id) for row in changed])


def _differs(row: Row[Any], moved: Moved) -> bool:
    before = (row.state, row.progress, row.phase, row.started_at)
    return before != (moved.state, moved.progress, moved.phase, moved.started_at)


def _starts(
    session: Session, known: Sequence[Row[Any]], moved: Mapping[int, Moved], now: datetime
) -> Mapping[int, Start]:
    ready = [row.attempt_id for row in known if moved[row.id].state is OrderState.READY]
    return meet(session, ready, now) if ready else {}
