"""When the loads of an attempt start: a node alone as soon as it is ready, a gang at a moment on which it agreed.

A moment is proposed to all nodes of a gang once the last of them is ready; each says with its next beat that it heard
of it, and only when all have is it the start. Where one did not in time, a later moment is proposed. So a node that
loses the server in between delays its gang instead of missing the start; one that loses it after that starts late.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

BARRIER: Final = timedelta(seconds=3)
"""Between a proposal and its moment: time for a beat of each node, which says that it heard, for another one, by which
it learns that all did, and for emptying its caches."""
AGREED_AHEAD: Final = timedelta(seconds=1.5)  # so long before the moment at least all must have heard of it
MOST_BARRIERS: Final = 8
"""Each further proposal is twice as far ahead as the one before, up to so many barriers: some nodes are slow."""

_LOCK: Final = text(
    "SELECT id FROM attempt WHERE id = ANY(:attempt_ids) AND state = 'open' ORDER BY id FOR NO KEY UPDATE"
)
_GATHERED: Final = text(
    # What an agent of an earlier release let run counts as heard: it starts at the first moment that it is told.
    """
    SELECT attempt.id, attempt.go_at, attempt.go_agreed_at, attempt.go_put_offs, count(*) AS loads,
           bool_and(node_order.state IN ('ready', 'running', 'uploading')) AS are_ready,
           bool_and(node_order.state <> 'ready' OR node_order.go_heard_at IS NOT DISTINCT FROM attempt.go_at)
               AS have_heard
    FROM attempt JOIN node_order ON node_order.attempt_id = attempt.id AND node_order.role = 'load'
    WHERE attempt.id = ANY(:attempt_ids) GROUP BY attempt.id ORDER BY attempt.id
    """
)
_KEEP: Final = text(
    "UPDATE attempt SET go_at = :go_at, go_agreed_at = :agreed_at, go_put_offs = :put_offs WHERE id = :attempt_id"
)
_HEARD: Final = text("UPDATE node_order SET go_heard_at = :go_at WHERE id = :order_id")


@dataclass(frozen=True, slots=True)
class Start:
    """The moment at which the loads of an attempt start."""

    go_at: datetime
    agreed_at: datetime | None  # when each node had heard of it; None: it is proposed
    put_offs: int = 0  # moments before it of which not all had heard in time
    is_gang: bool = True  # several nodes start at it; a node alone starts when it hears that it may


def next_start(known: Start | None, load_count: int, now: datetime, *, have_heard: bool) -> Start:
    """Return the start of an attempt of which every node is ready; `known` is the one proposed last."""
    if load_count == 1:
        return Start(now, now, is_gang=False)
    if known is None:
        return Start(now + BARRIER, None)
    if now > known.go_at - AGREED_AHEAD:
        put_offs = known.put_offs + 1
        return Start(now + BARRIER * min(MOST_BARRIERS, 2**put_offs), None, put_offs)
    return Start(known.go_at, now, known.put_offs) if have_heard else known


def meet(session: Session, attempt_ids: Sequence[int], now: datetime) -> Mapping[int, Start]:
    """Propose and agree on the starts of attempts of which a load waits; without those that wait for a node."""
    # Locked by a statement of its own: the next one then sees what the last beat of another node wrote.
    locked = session.scalars(_LOCK, {"attempt_ids": sorted(set(attempt_ids))}).all()
    starts = {}
    for row in session.execute(_GATHERED, {"attempt_ids": locked}).all():
        known = None if row.go_at is None else Start(row.go_at, row.go_agreed_at, row.go_put_offs, row.loads > 1)
        if known is not None and known.agreed_at is not None:
            starts[row.id] = known
        elif row.are_ready:
            starts[row.id] = next_start(known, row.loads, now, have_heard=row.have_heard)
            if starts[row.id] != known:
                _keep(session, row.id, starts[row.id])
    return starts


def keep_heard(session: Session, order_id: int, go_at: datetime) -> None:
    """Keep of which moment a locked order's node says that it heard."""
    session.execute(_HEARD, {"order_id": order_id, "go_at": go_at})


def _keep(session: Session, attempt_id: int, start: Start) -> None:
    if start.agreed_at is not None:
        # Loads start by it, so this one must survive a crash of the database.
        session.execute(text("SET LOCAL synchronous_commit = on"))
    values = {"go_at": start.go_at, "agreed_at": start.agreed_at, "put_offs": start.put_offs}
    session.execute(_KEEP, {"attempt_id": attempt_id, **values})
