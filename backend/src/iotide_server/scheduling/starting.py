"""Scheduler pass: reads queues and free resources, decides in a pure function, starts the runs."""

import gc
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog
from psycopg.errors import QueryCanceled
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from iotide_server.campaigns import stages, windows
from iotide_server.clusters.drains import service as drains
from iotide_server.kit.db import PASS_STATEMENT_SECONDS, Database, after_commit, limit_statements
from iotide_server.kit.meters import RUNS_STARTED
from iotide_server.scheduling import repository
from iotide_server.scheduling.matching import WaitingRun, match
from iotide_server.scheduling.queues import NodeQueues, occupancy
from iotide_server.scheduling.repository import Offer

LARGEST_BATCH = 200  # runs started in one transaction, to share its cost and keep locks short

_log = structlog.get_logger(__name__)


def start_runs(database: Database, lines: NodeQueues, now: datetime) -> Iterator[list[Offer]]:
    """Yield the committed offers of each batch."""
    yield from start(database, decide(database, lines, now), now)


def decide(
    database: Database, lines: NodeQueues, now: datetime, statement_seconds: float = PASS_STATEMENT_SECONDS
) -> list[WaitingRun]:
    # Pass the same `lines` every time. A pass with a statement longer than `statement_seconds` starts no run.
    with _uncollected(), database.transaction() as session:
        drains.resume_due(session, now)
        stages.advance(session, now)
        windows.turn(session, now)
        try:
            with session.begin_nested():
                limit_statements(session, statement_seconds)
                return _decide(session, lines, now)
        except OperationalError as error:
            if not isinstance(error.orig, QueryCanceled):
                raise
    words = "no run started, because reading the queues took too long"
    _log.error("pass_took_too_long", statement_seconds=statement_seconds, not_done=words)
    return []


def _decide(session: Session, lines: NodeQueues, now: datetime) -> list[WaitingRun]:
    found = lines.candidates(session, now)
    if not found.waiting:
        return []
    return lines.confirmed(session, match(found.waiting, occupancy(session, found, now), now))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the garbage collector: a pass makes no cycles, but enough objects to trigger it many times."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def start(database: Database, runs: Sequence[WaitingRun], now: datetime) -> Iterator[list[Offer]]:
    for first in range(0, len(runs), LARGEST_BATCH):
        yield _start(database, runs[first : first + LARGEST_BATCH], now)


def _start(database: Database, runs: Sequence[WaitingRun], now: datetime) -> list[Offer]:
    """Start the runs together, or one by one if the database refuses that."""
    # A refusal because another scheduler was faster is no error.
    fences = {run.run_id: 1 + secrets.randbelow(2**63 - 1) for run in runs}
    try:
        with database.transaction() as session:
            offers = repository.start(session, runs, fences, now)
            if not offers:
                return []
            after_commit(session, lambda: _note(runs, fences, offers))
            return hand_over(session, [run.run_id for run in runs], offers)
    except (IntegrityError, OperationalError) as error:
        if isinstance(error, OperationalError) and error.connection_invalidated:
            raise
        if len(runs) == 1:
            _log.info("start_refused", run_id=runs[0].run_id, reason=str(error.orig).splitlines()[0])
            return []
    return [offer for run in runs for offer in _start(database, [run], now)]


def _note(runs: Sequence[WaitingRun], fences: Mapping[int, int], offers: Sequence[Offer]) -> None:
    RUNS_STARTED.inc(len({offer.fence for offer in offers}))
    for run in runs:
        order_ids = [offer.order_id for offer in offers if offer.fence == fences[run.run_id]]
        if order_ids:
            _log.info("run_offered", run_id=run.run_id, order_ids=order_ids)


_HAND_OVER: Final = text(
    # Gateways poll for their jobs, so these orders need no repeated offers and are not withdrawn as unclaimed.
    """
    WITH handed AS (
        INSERT INTO batch_job (attempt_id, cluster_id, system)
        SELECT attempt.id, cluster.id, cluster.launcher
        FROM run JOIN cluster ON cluster.id = run.cluster_id AND cluster.launcher <> 'direct'
        JOIN attempt ON attempt.run_id = run.id AND attempt.state = 'open'
        WHERE run.id = ANY(:run_ids) ORDER BY attempt.id
        RETURNING attempt_id, cluster_id
    )
    UPDATE node_order SET next_offer_at = NULL FROM handed
    WHERE node_order.attempt_id = handed.attempt_id AND node_order.role = 'load'
    RETURNING node_order.id, (
        SELECT node.id FROM node LEFT JOIN node_beat ON node_beat.node_id = node.id
        WHERE node.cluster_id = handed.cluster_id AND node.role = 'gateway' AND node.retired_at IS NULL
        ORDER BY node_beat.seen_at DESC NULLS LAST, node.id LIMIT 1) AS gateway_id
    """
)


def hand_over(session: Session, run_ids: Sequence[int], offers: Sequence[Offer]) -> list[Offer]:
    """Give runs to their cluster's batch system, if any; return the offers to send."""
    rows = session.execute(_HAND_OVER, {"run_ids": list(run_ids)})
    return _to_gateways(offers, {row.id: row.gateway_id for row in rows})


def _to_gateways(offers: Sequence[Offer], gateways: Mapping[int, int | None]) -> list[Offer]:
    woken: dict[tuple[int, int], Offer] = {}
    for offer in offers:
        if offer.order_id not in gateways:
            woken[offer.order_id, offer.node_id] = offer
        elif (gateway_id := gateways[offer.order_id]) is not None:
            woken.setdefault((offer.fence, gateway_id), replace(offer, gateway_id=gateway_id))
    return list(woken.values())
