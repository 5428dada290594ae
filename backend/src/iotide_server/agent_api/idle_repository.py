"""SQL of idle nodes' heartbeats."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.clusters.agents.records import OWN_WORD
from iotide_wire.nodes import ClockReading

_DO_NOT_WAIT: Final = text("SET LOCAL synchronous_commit TO off")
_STORE_IDLE_HEARTBEATS: Final = text(
    """
    WITH said AS (
        SELECT * FROM unnest(CAST(:tokens AS text[]), CAST(:instances AS text[]), CAST(:offsets AS float[]),
                             CAST(:uncertainties AS float[]), CAST(:spools AS bigint[]))
                      WITH ORDINALITY AS said (token_sha256, agent_instance, clock_offset_seconds,
                                               clock_uncertainty_seconds, spool_bytes, place)
    ), heard AS (
        SELECT node.id, node.cluster_id, COALESCE(node.wire_version, 1) AS wire_version,
               node_beat.seen_at <= :seen_since AS was_silent, said.*
        FROM said JOIN node ON node.token_sha256 = said.token_sha256 AND node.agent_instance = said.agent_instance
                  JOIN node_beat ON node_beat.node_id = node.id
        WHERE node.retired_at IS NULL AND node.revoked_at IS NULL AND node.rotation_wanted_at IS NULL
          AND node.look_asked <= node.look_answered AND node.stuck IS NULL
          AND (node.problem IS NULL OR NOT starts_with(node.problem, :own_word))
          AND NOT EXISTS (SELECT FROM node_order WHERE node_order.node_id = node.id AND state = 'offered')
        FOR NO KEY UPDATE OF node_beat SKIP LOCKED
    ), written AS (
        UPDATE node_beat SET seen_at = GREATEST(node_beat.seen_at, :now),
               clock_offset_seconds = heard.clock_offset_seconds,
               clock_uncertainty_seconds = heard.clock_uncertainty_seconds, spool_bytes = heard.spool_bytes
        FROM heard WHERE node_beat.node_id = heard.id
    )
    SELECT place, id, cluster_id, wire_version, was_silent,
           -- An estimate: counting 10,000 rows costs more than the heartbeats.
           (SELECT reltuples FROM pg_class WHERE oid = CAST('node_beat' AS regclass)) AS node_count
    FROM heard
    """
)


class IdleHeartbeat(NamedTuple):
    token_sha256: str
    agent_instance: str
    clock: ClockReading | None
    spool_bytes: int | None


class StoredHeartbeat(NamedTuple):
    place: int
    node_id: int
    cluster_id: int
    wire_version: int
    was_silent: bool
    node_count: float


def store_idle_heartbeats(
    session: Session, said: Sequence[IdleHeartbeat], now: datetime, seen_since: datetime
) -> list[StoredHeartbeat]:
    """Store heartbeats that need only an acknowledgement, without waiting for the disk."""
    # Left out: agents that were superseded, have an offer or request, or reported a problem, and locked rows, so that
    # no heartbeat waits.
    session.execute(_DO_NOT_WAIT)
    rows = session.execute(
        _STORE_IDLE_HEARTBEATS,
        {
            "tokens": [heartbeat.token_sha256 for heartbeat in said],
            "instances": [heartbeat.agent_instance for heartbeat in said],
            "offsets": [heartbeat.clock and heartbeat.clock.offset_seconds for heartbeat in said],
            "uncertainties": [heartbeat.clock and heartbeat.clock.uncertainty_seconds for heartbeat in said],
            "spools": [heartbeat.spool_bytes for heartbeat in said],
            "now": now,
            "seen_since": seen_since,
            "own_word": OWN_WORD,
        },
    )
    return [
        StoredHeartbeat(row.place - 1, row.id, row.cluster_id, row.wire_version, row.was_silent, row.node_count)
        for row in rows
    ]
