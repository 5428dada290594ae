"""Table of the change feed."""

from datetime import datetime

from sqlalchemy import Index, func
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified


class Change(Identified, Base):
    """Row of a changed subject; kept for an hour."""

    __tablename__ = "change"

    at: Mapped[datetime] = mapped_column(server_default=func.now())
    # kind, subject_id: for instance `run` and its id; 0: any of the kind
    kind: Mapped[str]
    subject_id: Mapped[int]
    cluster_id: Mapped[int | None]  # None: all signed-in users

    __table_args__ = (Index("ix_change_at", "at"),)
