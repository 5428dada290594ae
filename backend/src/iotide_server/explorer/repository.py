"""SQL of saved views."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from iotide_server.explorer.models import SavedView


def views_of(session: Session, user_id: int) -> Sequence[SavedView]:
    """A user's views by name."""
    statement = select(SavedView).where(SavedView.user_id == user_id)
    return session.scalars(statement.order_by(func.lower(SavedView.name), SavedView.id)).all()


def view_of(session: Session, user_id: int, view_id: int) -> SavedView | None:
    """One of the user's views, locked."""
    statement = select(SavedView).where(SavedView.id == view_id, SavedView.user_id == user_id)
    return session.scalar(statement.with_for_update())
