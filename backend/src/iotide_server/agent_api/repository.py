"""SQL of the agents' most frequent requests."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, func, select, text
from sqlalchemy.orm import Session

from iotide_server.clusters.maintenance import START_TAKES
from iotide_server.runs.models import RunEvent
from iotide_wire.endpoint import DATA_ADDRESS, Endpoint, NamedEndpoint
from iotide_wire.messages import ClaimRequest, OrderHeartbeat, OrderState

_CLAIM: Final = text(
    """
    UPDATE node_order
    SET state = 'claimed', claimed_at = :now, claimed_by = :instance, claimed_boot_id = :boot_id, next_offer_at = NULL
    FROM attempt
    WHERE node_order.id = :order_id AND node_order.node_id = :node_id AND node_order.state = 'offered'
      AND attempt.id = node_order.attempt_id AND attempt.fence = :fence AND attempt.state = 'open'
    RETURNING node_order.id
    """
)
_ORDER: Final = text(
    """
    SELECT node_order.run_id, attempt.ordinal AS attempt, attempt.fence, node_order.role, campaign.name AS campaign,
           run.repeat, run.cluster_id, run.exclusive, run.time_limit_seconds,
           coalesce(campaign.plan ->> 'cache', 'drop') AS cache, coalesce(campaign.plan ->> 'quiet', 'flag') AS quiet,
           -- A run that waits for an idle node must not start later than the scheduler would start it.
           CASE WHEN campaign.plan ->> 'quiet' = 'wait' THEN greatest(0, least(
               CAST(campaign.plan ->> 'quiet_wait_seconds' AS float8),
               (SELECT CASE WHEN is_open THEN extract(epoch FROM start_by - :now) ELSE 0 END
                FROM campaign_window WHERE campaign_id = campaign.id),
               (SELECT extract(epoch FROM min(starts_at) - :now) FROM blackout
                WHERE blackout.cluster_id = run.cluster_id AND ends_at > :now)
                   - run.time_limit_seconds - :start_seconds)) ELSE 0 END AS quiet_wait_seconds,
           workload.name AS workload,
           workload.revision AS workload_revision, split_part(workload.schema_sha256, '@', 1) AS digest,
           cell.options, node_order.state,
           node_order.claimed_by, node_order.claimed_boot_id, node_order.outcome, attempt.reason_code, attempt.reason,
           coalesce(cell_node.step_role, 'client') AS step_role,
           ARRAY(SELECT target_id FROM cell_target WHERE cell_id = cell.id ORDER BY target_id) AS target_ids,
           EXISTS (SELECT FROM node_workload WHERE node_workload.node_id = node_order.node_id
                   AND node_workload.workload_id = cell.workload_id) AS has_workload
    FROM node_order
    JOIN attempt ON attempt.id = node_order.attempt_id
    JOIN run ON run.id = node_order.run_id
    JOIN cell ON cell.id = run.cell_id
    JOIN campaign ON campaign.id = run.campaign_id
    JOIN workload ON workload.id = cell.workload_id
    LEFT JOIN cell_node ON cell_node.cell_id = cell.id AND cell_node.node_id = node_order.node_id
    WHERE node_order.id = :order_id AND node_order.node_id = :node_id
    """
)
_KNOWN: Final = text(
    """
    SELECT node_order.id, node_order.run_id, run.cluster_id, node_order.attempt_id, node_order.state,
           node_order.progress, node_order.phase, node_order.offered_at, node_order.started_at, node_order.silent_since,
           node_order.cancel_wanted_at, node_order.go_heard_at, attempt.fence, attempt.go_at, attempt.go_agreed_at
    FROM unnest(CAST(:order_ids AS bigint[]), CAST(:fences AS bigint[])) AS said (order_id, fence)
    JOIN node_order ON node_order.id = said.order_id AND node_order.node_id = :node_id
    JOIN attempt ON attempt.id = node_order.attempt_id AND attempt.fence = said.fence
    JOIN run ON run.id = node_order.run_id
    WHERE node_order.state <> 'ended'
    ORDER BY node_order.id FOR NO KEY UPDATE OF node_order
    """
)
# NOWAIT for orders only: NOTIFY holds a lock at each commit, which normal heartbeats would meet.
_KNOWN_AT_ONCE: Final = text(f"{_KNOWN.text} NOWAIT")
_BEGIN_HEARTBEAT: Final = text(
    """
    SELECT set_config('synchronous_commit', 'off', true),
           (SELECT min(offered_at) FROM node_order WHERE node_id = :node_id AND state = 'offered') AS oldest_offer_at,
           EXISTS (SELECT FROM node WHERE id = :node_id AND stuck IS NOT NULL) AS is_stuck,
           coalesce((SELECT raw_bytes FROM node_beat WHERE node_id = :node_id
                     AND raw_on = CAST(now() AT TIME ZONE 'UTC' AS date)), 0) AS day_bytes
    """
)
_MOVE: Final = text(
    """
    UPDATE node_order SET state = moved.state, progress = moved.progress, phase = moved.phase,
           started_at = moved.started_at, silent_since = NULL
    FROM unnest(CAST(:order_ids AS bigint[]), CAST(:states AS text[]), CAST(:progress AS float[]),
                CAST(:phases AS text[]), CAST(:started AS timestamptz[]))
         AS moved (order_id, state, progress, phase, started_at)
    WHERE node_order.id = moved.order_id
    """
)
_LOG_STATES: Final = text(
    """
    INSERT INTO run_event (run_id, order_id, at, kind, text)
    SELECT node_order.run_id, node_order.id, :now, node_order.state, node.name || ': ' || node_order.state
    FROM node_order JOIN node ON node.id = node_order.node_id WHERE node_order.id = ANY(:order_ids)
    """
)
_GANG: Final = text(
    # Ranks are in this order: the head's, then those of the other nodes by their ids, the same in each attempt.
    """
    SELECT node_order.id AS order_id, node.name, node.facts ->> :data_address AS address
    FROM node_order AS own JOIN node_order ON node_order.attempt_id = own.attempt_id AND node_order.role = 'load'
    JOIN run ON run.id = own.run_id
    JOIN cell_node ON cell_node.cell_id = run.cell_id AND cell_node.node_id = node_order.node_id
    JOIN node ON node.id = node_order.node_id
    WHERE own.id = :order_id AND cell_node.step_role IN ('head', 'member')
    ORDER BY cell_node.step_role <> 'head', node.id
    """
)
_KEEP_ENDPOINT: Final = text(
    """
    UPDATE node_order SET endpoint = CAST(:endpoint AS jsonb)
    FROM run JOIN cell_node USING (cell_id)
    WHERE node_order.id = :order_id AND node_order.endpoint IS NULL AND node_order.role = 'load'
      AND run.id = node_order.run_id AND cell_node.node_id = node_order.node_id
      AND cell_node.step_role IN ('receiver', 'member')
    """
)
_MEMBERS: Final = text(
    """
    SELECT own.id AS order_id, node.name, other.endpoint
    FROM node_order AS own JOIN run ON run.id = own.run_id
    JOIN cell_node AS own_part ON own_part.cell_id = run.cell_id AND own_part.node_id = own.node_id
    JOIN node_order AS other ON other.attempt_id = own.attempt_id AND other.role = 'load'
    JOIN cell_node AS part ON part.cell_id = run.cell_id AND part.node_id = other.node_id
    JOIN node ON node.id = other.node_id
    WHERE own.id = ANY(:order_ids) AND own.role = 'load' AND own_part.step_role = 'head' AND part.step_role = 'member'
    ORDER BY own.id, node.id
    """
)
_ENDPOINTS: Final = text(
    """
    SELECT own.id AS order_id, other.endpoint
    FROM node_order AS own JOIN node_order AS other ON other.attempt_id = own.attempt_id AND other.id <> own.id
    JOIN run ON run.id = other.run_id
    JOIN cell_node ON cell_node.cell_id = run.cell_id AND cell_node.node_id = other.node_id
    WHERE own.id = ANY(:order_ids) AND own.role = 'load' AND other.endpoint IS NOT NULL
      AND other.role = 'load' AND cell_node.step_role = 'receiver'
    """
)


@dataclass(frozen=True, slots=True)
class Moved:
    order_id: int
    state: OrderState
    progress: float | None
    phase: str
    started_at: datetime | None


def claim(session: Session, node_id: int, order_id: int, request: ClaimRequest, now: datetime) -> bool:
    """One of several concurrent claims succeeds."""
    claimed = session.execute(
        _CLAIM,
        {
            "order_id": order_id,
            "node_id": node_id,
            "fence": request.fence,
            "instance": request.agent_instance,
            "boot_id": request.boot_id,
            "now": now,
        },
    )
    return claimed.one_or_none() is not None


def speaks_for_node(session: Session, node_id: int, agent_instance: str) -> bool:
    current = session.scalars(text("SELECT agent_instance FROM node WHERE id = :id FOR SHARE"), {"id": node_id})
    return bool(current.one() == agent_instance)


def order(session: Session, node_id: int, order_id: int, now: datetime) -> Row[Any] | None:
    start_seconds = START_TAKES.total_seconds()
    values = {"order_id": order_id, "node_id": node_id, "now": now, "start_seconds": start_seconds}
    return session.execute(_ORDER, values).one_or_none()


def lock_known(
    session: Session, node_id: int, heartbeats: Sequence[OrderHeartbeat], *, waits: bool = True
) -> Sequence[Row[Any]]:
    """Lock and return the node's unended orders with these fences. Raise OperationalError unless `waits`."""
    return session.execute(
        _KNOWN if waits else _KNOWN_AT_ONCE,
        {
            "node_id": node_id,
            "order_ids": [heartbeat.order_id for heartbeat in heartbeats],
            "fences": [heartbeat.fence for heartbeat in heartbeats],
        },
    ).all()


def move(session: Session, moved: Sequence[Moved]) -> None:
    session.execute(
        _MOVE,
        {
            "order_ids": [order.order_id for order in moved],
            "states": [order.state for order in moved],
            "progress": [order.progress for order in moved],
            "phases": [order.phase for order in moved],
            "started": [order.started_at for order in moved],
        },
    )


def log_states(session: Session, order_ids: Sequence[int], now: datetime) -> None:
    session.execute(_LOG_STATES, {"order_ids": list(order_ids), "now": now})


def log_lines(session: Session, like: RunEvent) -> int:
    same = (RunEvent.run_id == like.run_id, RunEvent.order_id == like.order_id, RunEvent.kind == like.kind)
    return session.scalar(select(func.count()).select_from(RunEvent).where(*same)) or 0


def keep_endpoint(session: Session, order_id: int, endpoint: Endpoint) -> None:
    """Store the endpoint of a locked order if its node is a receiver or member. The first one stays."""
    session.execute(_KEEP_ENDPOINT, {"order_id": order_id, "endpoint": endpoint.model_dump_json()})


def endpoints_towards(session: Session, order_ids: Sequence[int]) -> dict[int, Endpoint]:
    """Return the receiver's endpoint in the same attempt, by order that sends to it."""
    rows = session.execute(_ENDPOINTS, {"order_ids": list(order_ids)})
    return {row.order_id: Endpoint.model_validate(row.endpoint) for row in rows}


def gang_of(session: Session, order_id: int) -> Sequence[Row[Any]]:
    """Return `order_id`, `name` and `address` of all nodes of one program, in the order of ranks; none for others."""
    return session.execute(_GANG, {"order_id": order_id, "data_address": DATA_ADDRESS}).all()


def members_of(session: Session, order_ids: Sequence[int]) -> dict[int, tuple[NamedEndpoint, ...] | None]:
    """Return the endpoints of a head's members in the same attempt, by its order; None: not all are there."""
    by_head: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for row in session.execute(_MEMBERS, {"order_ids": list(order_ids)}):
        by_head[row.order_id].append(row)
    return {
        order_id: None
        if any(row.endpoint is None for row in rows)
        else tuple(NamedEndpoint(node=row.name, endpoint=Endpoint.model_validate(row.endpoint)) for row in rows)
        for order_id, rows in by_head.items()
    }


def begin_heartbeat(session: Session, node_id: int) -> Row[Any]:
    """Return `oldest_offer_at` (of the node's unclaimed offers), `is_stuck`, and `day_bytes`, sent today.

    One statement, because it is frequent. The commit does not wait for the disk, since the next heartbeat repeats it.
    """
    return session.execute(_BEGIN_HEARTBEAT, {"node_id": node_id}).one()
