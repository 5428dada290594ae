"""Tables of retention: the one rule of an installation, and the campaigns that it leaves alone."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base


class Retention(Base):
    """The rule; without a row, and where a number of days is None, everything is kept for ever."""

    __tablename__ = "retention"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    raw_output_days: Mapped[int | None]
    curve_days: Mapped[int | None]

    __table_args__ = (
        CheckConstraint("id = 1", name="one"),
        CheckConstraint("raw_output_days >= 1 AND curve_days >= 1", name="days"),
    )


class KeptCampaign(Base):
    """A campaign of which everything is kept, whatever its age."""

    __tablename__ = "kept_campaign"

    campaign_id: Mapped[int] = mapped_column(
        ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
