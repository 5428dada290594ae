"""The numbers that count: those of valid finished runs, without what a flag rejects on its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from iotide_server.results.keys import Label
from iotide_server.results.models import Sample, Series
from iotide_server.runs.models import Attempt, Order, Run
from iotide_wire.measured import Flag, FlagEffect


@dataclass(frozen=True, slots=True)
class RunValue:
    """One number of a valid finished run.

    Attributes:
        order_id: of the node that gave it.
        target_id: which of the run's targets it is about; None for all of them together.
        flags: codes of the run's flags that concern it.
    """

    cell_id: int
    series_id: int
    labels: Mapping[str, Label]
    run_id: int
    order_id: int
    target_id: int | None
    started_at: datetime
    flags: frozenset[str]
    value: float


def run_values(
    session: Session, cell_ids: Sequence[int], metric: str | None = None, *, run_id: int | None = None
) -> Iterator[RunValue]:
    """The numbers of the cells' valid finished runs, or of one run, as they came, of one metric or of all.

    Those of attempts that did not finish are left out, and those that a flag rejects on their own.
    """
    started_at = func.coalesce(Run.started_at, Run.created_at).label("started_at")
    statement = (
        select(Sample, Series.labels, Run.cell_id, started_at, Run.flags)
        .join(Series, Series.id == Sample.series_id)
        .join(Run, Run.id == Sample.run_id)
        .join(Order, Order.id == Sample.order_id)
        .join(Attempt, Attempt.id == Order.attempt_id)
        .where(Run.cell_id.in_(cell_ids), Run.state == "finished", Run.validity == "valid", Attempt.state == "finished")
        .order_by(Sample.id)
    )
    if metric is not None:
        statement = statement.where(Series.metric == metric)
    if run_id is not None:
        statement = statement.where(Run.id == run_id)
    for sample, labels, cell_id, started_at_, flags in session.execute(statement):
        concerning = [flag for flag in map(Flag.model_validate, flags) if flag.concerns(labels, sample.target_id)]
        if all(flag.effect is not FlagEffect.REJECTED for flag in concerning):
            codes = frozenset(flag.code for flag in concerning)
            yield RunValue(
                cell_id=cell_id,
                series_id=sample.series_id,
                labels=labels,
                run_id=sample.run_id,
                order_id=sample.order_id,
                target_id=sample.target_id,
                started_at=started_at_,
                flags=codes,
                value=sample.value,
            )
