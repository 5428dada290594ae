"""Tables of where published results were printed."""

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json


class PublishedSource(Identified, Base):
    """An article, report or page with numbers.

    Attributes:
        edition_sha256: of the file of published results that it was loaded from.
        printed: the `Source` without its tables.
    """

    __tablename__ = "published_source"

    key: Mapped[str] = mapped_column(unique=True)
    edition_sha256: Mapped[str]
    printed: Mapped[Json]


class PublishedCampaign(Base):
    """A campaign that holds what a source printed."""

    __tablename__ = "published_campaign"

    campaign_id: Mapped[int] = mapped_column(
        ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    source_id: Mapped[int] = mapped_column(ForeignKey("published_source.id", ondelete="CASCADE"), index=True)
