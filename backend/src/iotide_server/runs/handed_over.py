"""Import of runs that ended before iotide knew them."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.runs.repository import NewRuns
from iotide_wire.messages import FinishRequest, Outcome
from iotide_wire.plan import Exclusivity

_HAND_OVER: Final = text(
    """
    WITH started AS (
        UPDATE run SET state = 'active', attempts_made = 1 WHERE campaign_id = :campaign_id RETURNING id, cell_id
    ), opened AS (
        INSERT INTO attempt (run_id, ordinal, fence, go_at, opened_at) SELECT id, 1, id, :now, :now FROM started
        RETURNING id, run_id
    ), orders AS (
        INSERT INTO node_order (attempt_id, run_id, node_id, role, state, offers_made, offered_at, next_offer_at,
                                claimed_at, claimed_by, claimed_boot_id)
        SELECT opened.id, opened.run_id, cell_node.node_id, 'load', 'uploading', 1, :now, NULL, :now, :instance, :boot
        FROM opened JOIN started ON started.id = opened.run_id JOIN cell_node ON cell_node.cell_id = started.cell_id
        RETURNING id, run_id, node_id
    )
    SELECT orders.id AS order_id, orders.run_id AS fence, orders.node_id, cell.ordinal
    FROM orders JOIN run ON run.id = orders.run_id JOIN cell ON cell.id = run.cell_id ORDER BY run.id
    """
)

_UNRECORDED: Final[Mapping[str, object]] = {
    **dict.fromkeys(("reason_code", "reason", "started_at")),
    **dict.fromkeys(("steps", "samples", "flags", "artefacts", "not_judged", "curves"), ()),
    "environment": {},
}


def past_runs(
    campaign_id: int,
    cluster_id: int,
    at: datetime,
    *,
    exclusive: Exclusivity = Exclusivity.NONE,
    time_limit_seconds: float = 1.0,
) -> NewRuns:
    return NewRuns(campaign_id, cluster_id, exclusive, at.timestamp(), time_limit_seconds, 0.0, 1, at)


def past_result(order: Row[Any], instance: str, ended_at: datetime, measured: object, **known: object) -> FinishRequest:
    """Return an order's result as its agent would send it; the digest covers `measured`."""
    digest = hashlib.sha256(f"{order.order_id} {measured}".encode()).hexdigest()
    sent = {"fence": order.fence, "agent_instance": instance, "digest": digest, "ended_at": ended_at}
    return FinishRequest.model_validate({"outcome": Outcome.FINISHED, **_UNRECORDED, **sent, **known})


def hand_over(session: Session, campaign_id: int, now: datetime, instance: str, boot: str) -> Sequence[Row[Any]]:
    """Advance the runs of a new campaign to `uploading`, without leases.

    Return order_id, fence, node_id and the cell's ordinal of each order, claimed by `instance` and `boot`.
    """
    values = {"campaign_id": campaign_id, "now": now, "instance": instance, "boot": boot}
    return session.execute(_HAND_OVER, values).all()
