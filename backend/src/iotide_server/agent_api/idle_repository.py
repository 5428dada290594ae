"""SQL of the beats of idle nodes: many in one statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.clusters.agents.records import OWN_WORD
from iotide_wire.nodes import ClockReading

_DO_NOT_WAIT: Final = text("SET LOCAL synchronous_commit TO off")
_TAKE_IDLE_BEATS: Final = text(
    """
    WITH said AS (
        SELECT * FROM unnest(CAST(:tokens AS text[]), CAST(:instances AS text[]), CAST(:offsets AS float[]),
                             CAST(:uncertainties AS float[]), CAST(:spools AS bigint[]))
                      WITH ORDINALITY AS said (token_sha256, agent_instance, clock_offset_seconds,
                                               clock_uncertainty_seconds, spool_bytes, place)
    ), heard AS (
        SELECT node.id, node.cluster_id, COALESCE(node.wire_version, 1) AS wire_version,
               node_beat.seen_at <= :heard_since AS was_silent, said.*
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


class IdleBeat(NamedTuple):
    """What an agent says that holds no order."""

    token_sha256: str  # of the node's token, which proves who speaks
    agent_instance: str
    clock: ClockReading | None
    spool_bytes: int | None


class HeardNode(NamedTuple):
    """Names a node whose beat was stored."""

    place: int  # of the beat in the list
    node_id: int
    cluster_id: int
    wire_version: int
    was_silent: bool  # it was last heard of before `heard_since`
    node_count: float  # how many nodes were ever heard of, as the database's statistics know it


def take_idle_beats(
    session: Session, said: Sequence[IdleBeat], now: datetime, heard_since: datetime
) -> list[HeardNode]:
    """Store those heartbeats whose answer says nothing but that they came, without waiting for the disk."""
    # Left out are those of who is no node's present agent, is offered an order or asked for something, or reported a
    # problem before, and nodes that somebody has locked: nobody waits for anybody here.
    session.execute(_DO_NOT_WAIT)
    rows = session.execute(
        _TAKE_IDLE_BEATS,
        {
            "tokens": [beat.token_sha256 for beat in said],
            "instances": [beat.agent_instance for beat in said],
            "offsets": [beat.clock and beat.clock.offset_seconds for beat in said],
            "uncertainties": [beat.clock and beat.clock.uncertainty_seconds for beat in said],
            "spools": [beat.spool_bytes for beat in said],
            "now": now,
            "heard_since": heard_since,
            "own_word": OWN_WORD,
        },
    )
    return [
        HeardNode(row.place - 1, row.id, row.cluster_id, row.wire_version, row.was_silent, row.node_count)
        for row in rows
    ]
