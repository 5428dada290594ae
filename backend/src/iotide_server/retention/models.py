"""Retention rule and exempt campaigns."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base


class Retention(Base):
    """Without a row, or with None, everything is kept forever."""

    __tablename__ = "retention"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    raw_output_days: Mapped[int | None]
    curve_days: Mapped[int | None]

    __table_args__ = (
        CheckConstraint("id = 1", name="one"),
        CheckConstraint("raw_output_days >= 1 AND curve_days >= 1", name="days"),
    )


class KeptCampaign(Base):
    __tablename__ = "kept_campaign"

    campaign_id: Mapped[int] = mapped_column(
        ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
