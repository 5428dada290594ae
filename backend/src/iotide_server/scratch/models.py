"""Table of scratch sets."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.kit.db import Base, Identified, Json
from iotide_wire.scratch_sets import ScratchDisk, ScratchSet


class KnownSet(Identified, Base):
    """A scratch set that a node announced. Enabled if an admin saw exactly its present disks."""

    __tablename__ = "scratch_set"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"))
    node_id: Mapped[int] = mapped_column(ForeignKey("node.id", ondelete="CASCADE"))
    name: Mapped[str]
    announced: Mapped[Json]  # a `ScratchSet`, without disks if the node no longer announces it
    disks_sha256: Mapped[str]  # of the announced disks' identities
    seen_at: Mapped[datetime]
    # enabled_sha256, enabled_disks: as the admin saw them; None: not enabled
    enabled_sha256: Mapped[str | None]
    enabled_disks: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))
    enabled_at: Mapped[datetime | None]
    enabled_by: Mapped[str | None]
    allows_schedules: Mapped[bool] = mapped_column(server_default="false")
    allows_tokens: Mapped[bool] = mapped_column(server_default="false")
    # stays when the set is disabled, so that its series continue when it is enabled again
    target_id: Mapped[int | None] = mapped_column(ForeignKey("target.id", ondelete="SET NULL"))
    # campaign that uses it now, which others wait for; no foreign key, since campaigns are in a slice above
    campaign_id: Mapped[int | None]

    __table_args__ = (
        UniqueConstraint("node_id", "name"),
        CheckConstraint("num_nulls(enabled_sha256, enabled_disks, enabled_at, enabled_by) IN (0, 4)", name="enabled"),
        Index("ix_scratch_set_cluster_id", "cluster_id"),
        Index("ix_scratch_set_target_id", "target_id"),
    )

    @property
    def present(self) -> ScratchSet:
        return ScratchSet.model_validate(self.announced)

    @property
    def approved_disks(self) -> list[ScratchDisk]:
        """Return the disks that the admin saw when enabling the set."""
        return [ScratchDisk.model_validate(disk) for disk in self.enabled_disks or ()]

    @property
    def is_enabled(self) -> bool:
        return self.enabled_sha256 is not None and self.enabled_sha256 == self.disks_sha256

    def disable(self) -> None:
        self.enabled_sha256 = self.enabled_disks = self.enabled_at = self.enabled_by = None
        self.allows_schedules = self.allows_tokens = False
