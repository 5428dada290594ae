"""Schedules as rows."""

from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.schedules.models import Schedule


def add_schedule(
    session: Session,
    cluster_id: int,
    next_at: datetime,
    *,
    state: str = "active",
    name: str = "nightly",
    removed_at: datetime | None = None,
) -> Schedule:
    """Store a schedule that fires once a day, next at `next_at` where it is active."""
    due_at = next_at if state == "active" else None
    made = Schedule(
        cluster_id=cluster_id,
        name=name,
        plan={},
        cron="0 10 * * *",
        time_zone="UTC",
        random_offset_seconds=0,
        missed="skip",
        state=state,
        planned_at=due_at,
        due_at=due_at,
        removed_at=removed_at,
    )
    session.add(made)
    session.flush()
    return made
