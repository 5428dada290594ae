"""SQL of readings."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, Select, select, text
from sqlalchemy.orm import Session

from iotide_server.kit.db import Json
from iotide_server.results.models import Reading, Sample, Series
from iotide_server.runs.models import Order, Run

_PUT_FIRST: Final = text(
    """
    WITH later AS (DELETE FROM reading WHERE order_id = :order_id AND ordinal > 1)
    INSERT INTO reading (run_id, order_id, ordinal, workload_revision, parser_version, read_at, flags)
    SELECT :run_id, :order_id, 1, :revision, agent_version, :now, CAST(:flags AS jsonb)
    FROM node WHERE id = :node_id
    ON CONFLICT (order_id, ordinal) DO UPDATE
        SET workload_revision = excluded.workload_revision, parser_version = excluded.parser_version,
            read_at = excluded.read_at, read_by = NULL, flags = excluded.flags, samples = NULL
    """
)
_FORGET_OLDER: Final = text(
    """
    DELETE FROM reading WHERE order_id = :order_id AND ordinal > 1
      AND ordinal <= (SELECT max(ordinal) FROM reading WHERE order_id = :order_id) - :most
    """
)
MOST_READINGS: Final = 20  # per order: the node's own and the newest


def put_first(session: Session, order: Order, revision: int, flags: list[Json], now: datetime) -> None:
    values = {"run_id": order.run_id, "order_id": order.id, "node_id": order.node_id, "revision": revision, "now": now}
    session.execute(_PUT_FIRST, {**values, "flags": json.dumps(flags)})


def current(session: Session, order_id: int) -> Reading | None:
    """Return None for orders older than readings."""
    statement = select(Reading).where(Reading.order_id == order_id).order_by(Reading.ordinal.desc()).limit(1)
    return session.scalar(statement)


def samples(session: Session, order: Order) -> list[Json]:
    """Return the values that count, in the form of superseded readings."""
    statement = (
        select(Sample.value, Sample.target_id, Series.metric, Series.title, Series.unit, Series.better, Series.labels)
        .join(Series, Series.id == Sample.series_id)
        .where(Sample.run_id == order.run_id, Sample.order_id == order.id)
        .order_by(Sample.id)
    )
    return [dict(row._mapping) for row in session.execute(statement)]


def forget_older(session: Session, order_id: int) -> None:
    session.execute(_FORGET_OLDER, {"order_id": order_id, "most": MOST_READINGS - 1})


def of_run(session: Session, run_id: int) -> Sequence[Reading]:
    statement = select(Reading).where(Reading.run_id == run_id)
    return session.scalars(statement.order_by(Reading.order_id, Reading.ordinal.desc())).all()


def visible(session: Session, reading_id: int) -> Row[*tuple[Any, ...]] | None:
    statement: Select[*tuple[Any, ...]] = select(Reading, Run.cluster_id).join(Run, Run.id == Reading.run_id)
    return session.execute(statement.where(Reading.id == reading_id)).one_or_none()
