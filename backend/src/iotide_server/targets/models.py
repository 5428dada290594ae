"""Tables of file systems under test."""

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.clusters.models import ONE_OR_MANY, Leasable
from iotide_server.kit.db import Base, Identified
from iotide_server.targets.mounts import Frozen


class Target(Identified, Leasable, Base):
    __tablename__ = "target"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    path: Mapped[str]
    # `node`: private to each node, covered by the node's lease; `shared`: one file system with its own leases
    scope: Mapped[str]
    reserve_bytes: Mapped[int | None]  # space that runs must leave free; None: the run's own need plus 10 %
    # runs its cells again if their newest points suggest a change
    confirms_suspects: Mapped[bool] = mapped_column(server_default="false")
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    retired_at: Mapped[datetime | None]

    __table_args__ = (
        Index(
            "uq_target_cluster_id_name", "cluster_id", "name", unique=True, postgresql_where=text("retired_at IS NULL")
        ),
        Index("ix_target_cooling_until", "cooling_until", postgresql_where=text("cooling_until IS NOT NULL")),
        CheckConstraint(ONE_OR_MANY, name="leases"),
        CheckConstraint("scope IN ('node', 'shared')", name="scope"),
        CheckConstraint("reserve_bytes >= 0", name="reserve_bytes"),
    )


class TargetBacking(Base):
    __tablename__ = "target_backing"

    target_id: Mapped[int] = mapped_column(ForeignKey("target.id", ondelete="CASCADE"), primary_key=True)
    backing_id: Mapped[int] = mapped_column(ForeignKey("target.id", ondelete="CASCADE"), primary_key=True)

    __table_args__ = (
        CheckConstraint("target_id <> backing_id", name="itself"),
        Index("ix_target_backing_backing_id", "backing_id"),
    )


class TargetMount(Base):
    __tablename__ = "target_mount"

    target_id: Mapped[int] = mapped_column(ForeignKey("target.id", ondelete="CASCADE"), primary_key=True)
    node_id: Mapped[int] = mapped_column(ForeignKey("node.id", ondelete="CASCADE"), primary_key=True)
    path: Mapped[str]
    fstype: Mapped[str]
    source: Mapped[str]
    # mount_point, root: mount point and directory of the file system; None until reported
    mount_point: Mapped[str | None]
    root: Mapped[str | None]
    # as in the fact `fs.identity`; None if no probe found one
    identity: Mapped[str | None]
    mount_options: Mapped[str]
    total_bytes: Mapped[int | None]
    free_bytes: Mapped[int | None]
    seen_at: Mapped[datetime]
    problem: Mapped[str | None]

    __table_args__ = (
        Index("ix_target_mount_node_id", "node_id"),
        Index("ix_target_mount_problem", "node_id", postgresql_where=text("problem IS NOT NULL")),
    )

    @property
    def frozen(self) -> Frozen:
        return Frozen(self.fstype, self.source, self.mount_point, self.root, self.identity)

    @property
    def directory(self) -> str | None:
        return self.frozen.directory(self.path)

    def freeze(self, mount: Frozen) -> None:
        for name, value in asdict(mount).items():
            setattr(self, name, value)
