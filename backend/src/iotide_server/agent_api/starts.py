"""Start times of loads: a single node starts when it is ready, a gang at an agreed time.

Once all nodes of a gang are ready, the server proposes a time, which each node acknowledges with its next heartbeat.
If one does not in time, the server proposes a later one. A node that loses the server before agreement delays its
gang. One that loses it afterwards starts late.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

BARRIER: Final = timedelta(seconds=3)
"""From proposal to start: a heartbeat to acknowledge, one to learn that all did, and time to empty caches."""
AGREED_AHEAD: Final = timedelta(seconds=1.5)  # minimum time between the last acknowledgement and the start
MOST_BARRIERS: Final = 8
"""Each further proposal doubles the lead time, up to this many barriers, for slow nodes."""

_LOCK: Final = text(
    "SELECT id FROM attempt WHERE id = ANY(:attempt_ids) AND state = 'open' ORDER BY id FOR NO KEY UPDATE"
)
_GATHERED: Final = text(
    # An already running agent of an earlier release counts as having acknowledged. A member is ready once its head
    # can reach it.
    """
    SELECT attempt.id, attempt.go_at, attempt.go_agreed_at, attempt.go_put_offs, count(*) AS loads,
           bool_and(node_order.state IN ('ready', 'running', 'uploading')
                    AND (node_order.endpoint IS NOT NULL OR part.step_role IS DISTINCT FROM 'member')) AS are_ready,
           bool_and(node_order.state <> 'ready' OR node_order.go_heard_at IS NOT DISTINCT FROM attempt.go_at)
               AS have_acknowledged
    FROM attempt JOIN node_order ON node_order.attempt_id = attempt.id AND node_order.role = 'load'
    JOIN run ON run.id = attempt.run_id
    LEFT JOIN cell_node AS part ON part.cell_id = run.cell_id AND part.node_id = node_order.node_id
    WHERE attempt.id = ANY(:attempt_ids) GROUP BY attempt.id ORDER BY attempt.id
    """
)
_KEEP: Final = text(
    "UPDATE attempt SET go_at = :go_at, go_agreed_at = :agreed_at, go_put_offs = :put_offs WHERE id = :attempt_id"
)
_ACKNOWLEDGED: Final = text("UPDATE node_order SET go_heard_at = :go_at WHERE id = :order_id")


@dataclass(frozen=True, slots=True)
class Start:
    go_at: datetime
    agreed_at: datetime | None
    put_offs: int = 0  # previous proposals that not all nodes acknowledged in time
    is_gang: bool = True  # False: a single node, which starts at once


def next_start(known: Start | None, load_count: int, now: datetime, *, have_acknowledged: bool) -> Start:
    """Return the start of an attempt whose nodes are all ready. `known` is the last proposal."""
    if load_count == 1:
        return Start(now, now, is_gang=False)
    if known is None:
        return Start(now + BARRIER, None)
    if now > known.go_at - AGREED_AHEAD:
        put_offs = known.put_offs + 1
        return Start(now + BARRIER * min(MOST_BARRIERS, 2**put_offs), None, put_offs)
    return Start(known.go_at, now, known.put_offs) if have_acknowledged else known


def meet(session: Session, attempt_ids: Sequence[int], now: datetime) -> Mapping[int, Start]:
    """Propose and agree on starts. Attempts that still wait for a node are left out."""
    # Lock them first, so that the next statement sees what other nodes' heartbeats wrote.
    locked = session.scalars(_LOCK, {"attempt_ids": sorted(set(attempt_ids))}).all()
    starts = {}
    for row in session.execute(_GATHERED, {"attempt_ids": locked}).all():
        known = None if row.go_at is None else Start(row.go_at, row.go_agreed_at, row.go_put_offs, row.loads > 1)
        if known is not None and known.agreed_at is not None:
            starts[row.id] = known
        elif row.are_ready:
            starts[row.id] = next_start(known, row.loads, now, have_acknowledged=row.have_acknowledged)
            if starts[row.id] != known:
                _keep(session, row.id, starts[row.id])
    return starts


def keep_acknowledged_start(session: Session, order_id: int, go_at: datetime) -> None:
    session.execute(_ACKNOWLEDGED, {"order_id": order_id, "go_at": go_at})


def _keep(session: Session, attempt_id: int, start: Start) -> None:
    if start.agreed_at is not None:
        # Loads start by it, so it must survive a crash of the database.
        session.execute(text("SET LOCAL synchronous_commit = on"))
    values = {"go_at": start.go_at, "agreed_at": start.agreed_at, "put_offs": start.put_offs}
    session.execute(_KEEP, {"attempt_id": attempt_id, **values})
