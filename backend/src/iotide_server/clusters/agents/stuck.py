"""Loads that no signal can kill."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.change_feed import service as live
from iotide_server.clusters.models import Node
from iotide_server.kit.clock import written
from iotide_server.kit.wake import wake_scheduler


@dataclass(frozen=True, slots=True)
class StuckLoad:
    process: str  # name, pid, state and kernel function, as the agent reported it
    since: datetime
    order_id: int | None
    run_id: int | None
    targets: Sequence[str]

    @property
    def sentence(self) -> str:
        of_run = "" if self.run_id is None else f"run {self.run_id}"
        names = ", ".join(f"target {name}" for name in self.targets)
        where = ", ".join(filter(None, [of_run, names]))
        return f"{self.process}, unkillable since {written(self.since)}" + (f" ({where})" if where else "")


def loads_in(stored: Sequence[dict[str, Any]] | None) -> list[StuckLoad]:
    return [StuckLoad(**load | {"since": datetime.fromisoformat(load["since"])}) for load in stored or ()]


def problem_of(stored: Sequence[dict[str, Any]] | None) -> str | None:
    loads = loads_in(stored)
    return f"stuck: {'; '.join(load.sentence for load in loads)}" if loads else None


def locked_node(session: Session, node_id: int) -> Node:
    statement = select(Node).where(Node.id == node_id).with_for_update(key_share=True)
    return session.scalars(statement, execution_options={"populate_existing": True}).one()


def write(session: Session, node: Node, loads: Sequence[StuckLoad]) -> None:
    """A known load keeps its earlier time."""
    since = {load.order_id: load.since for load in loads_in(node.stuck)}
    kept = [replace(load, since=min(load.since, since.get(load.order_id, load.since))) for load in loads]
    stored = [asdict(load) | {"since": load.since.isoformat(), "targets": list(load.targets)} for load in kept]
    if (stored or None) == node.stuck:
        return
    node.stuck = stored or None
    session.flush()
    live.publish(session, "node", node.id, node.cluster_id)
    if not stored:
        wake_scheduler(session, "node")
