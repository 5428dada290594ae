"""The table of news."""

from datetime import datetime

from sqlalchemy import Index, func
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified


class Change(Identified, Base):
    """Something that a browser may be showing has changed; kept for an hour."""

    __tablename__ = "change"

    at: Mapped[datetime] = mapped_column(server_default=func.now())
    # kind, subject_id: for instance `run` and its id; the browser fetches it again. 0: any of that kind
    kind: Mapped[str]
    subject_id: Mapped[int]
    cluster_id: Mapped[int | None]  # who may see it; None means every signed-in principal

    __table_args__ = (Index("ix_change_at", "at"),)
