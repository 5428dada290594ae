"""Tables of file systems under test."""

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from iotide_server.clusters.models import ONE_OR_MANY, Leasable
from iotide_server.kit.db import Base, Identified
from iotide_server.targets.mounts import Frozen


class Target(Identified, Leasable, Base):
    """A mounted file system or directory under test."""

    __tablename__ = "target"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id"))
    name: Mapped[str]
    path: Mapped[str]
    # `node` = private to each node (the node's lease covers it); `shared` = one file system behind many mounts (it has
    # leases of its own)
    scope: Mapped[str]
    reserve_bytes: Mapped[int | None]  # space that runs must leave free; None means the run's own need plus 10 %
    # a cell whose newest points look as if it had changed is run again by itself
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
    """A target of clients stands on a target of a storage node, whose facts go with its runs."""

    __tablename__ = "target_backing"

    target_id: Mapped[int] = mapped_column(ForeignKey("target.id", ondelete="CASCADE"), primary_key=True)
    backing_id: Mapped[int] = mapped_column(ForeignKey("target.id", ondelete="CASCADE"), primary_key=True)

    __table_args__ = (
        CheckConstraint("target_id <> backing_id", name="itself"),
        Index("ix_target_backing_backing_id", "backing_id"),
    )


class TargetMount(Base):
    """A target on one node, as the mount guard holds each run to it."""

    __tablename__ = "target_mount"

    target_id: Mapped[int] = mapped_column(ForeignKey("target.id", ondelete="CASCADE"), primary_key=True)
    node_id: Mapped[int] = mapped_column(ForeignKey("node.id", ondelete="CASCADE"), primary_key=True)
    path: Mapped[str]  # may be another on each node
    # fstype, source: as the kernel shows them
    fstype: Mapped[str]
    source: Mapped[str]
    # mount_point, root: where it is mounted, and which directory of the file system; None until an agent said so
    mount_point: Mapped[str | None]
    root: Mapped[str | None]
    # the file system's own name, as in the fact `fs.identity`; None where no probe found one
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
        """What the mount must be."""
        return Frozen(self.fstype, self.source, self.mount_point, self.root, self.identity)

    @property
    def directory(self) -> str | None:
        """Which directory of the file system it is; None where nobody said."""
        return self.frozen.directory(self.path)

    def freeze(self, mount: Frozen) -> None:
        """Hold each run to this mount."""
        for name, value in asdict(mount).items():
            setattr(self, name, value)
