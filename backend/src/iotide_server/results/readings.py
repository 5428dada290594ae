"""SQL of readings: who read an order's raw output when, and what those said that were superseded."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json
from iotide_server.results.models import Reading, Sample, Series
from iotide_server.runs.models import Order, Run
from iotide_server.workloads.models import Workload


def put_first(session: Session, order: Order, flags: list[Json], now: datetime) -> None:
    """What the node's own agent read, in place of what it may have sent before."""
    session.execute(delete(Reading).where(Reading.order_id == order.id))
    revision = session.scalars(
        select(Workload.revision)
        .join(Cell, Cell.workload_id == Workload.id)
        .join(Run, Run.cell_id == Cell.id)
        .where(Run.id == order.run_id)
    ).one()
    version = session.get_one(Node, order.node_id).agent_version
    session.add(
        Reading(
            run_id=order.run_id,
            order_id=order.id,
            ordinal=1,
            workload_revision=revision,
            parser_version=version,
            read_at=now,
            read_by=None,
            flags=flags,
            samples=None,
        )
    )
    session.flush()


def current(session: Session, order_id: int) -> Reading | None:
    """The reading whose numbers count; None for orders of before readings were kept."""
    statement = select(Reading).where(Reading.order_id == order_id).order_by(Reading.ordinal.desc()).limit(1)
    return session.scalar(statement)


def samples(session: Session, order: Order) -> list[Json]:
    """The numbers that count now, as they are kept once they are superseded."""
    statement = (
        select(Sample.value, Sample.target_id, Series.metric, Series.title, Series.unit, Series.better, Series.labels)
        .join(Series, Series.id == Sample.series_id)
        .where(Sample.run_id == order.run_id, Sample.order_id == order.id)
        .order_by(Sample.id)
    )
    return [dict(row._mapping) for row in session.execute(statement)]  # noqa: SLF001 - its public API


def of_run(session: Session, run_id: int) -> Sequence[Reading]:
    """All readings of a run, the newest of each order first."""
    statement = select(Reading).where(Reading.run_id == run_id)
    return session.scalars(statement.order_by(Reading.order_id, Reading.ordinal.desc())).all()


def visible(session: Session, reading_id: int) -> tuple[Reading, int] | None:
    """A reading and the cluster of its run."""
    statement = select(Reading, Run.cluster_id).join(Run, Run.id == Reading.run_id).where(Reading.id == reading_id)
    return session.execute(statement).one_or_none()
