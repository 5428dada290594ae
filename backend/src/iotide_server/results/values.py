"""The numbers that count: those of valid finished runs, without what a flag rejects on its own."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from iotide_server.kit.db import any_of
from iotide_server.results.checks import LARGEST_VALUE
from iotide_server.results.keys import Label
from iotide_server.results.models import Sample, Series
from iotide_server.runs.models import Attempt, Order, Run
from iotide_wire.measured import Flag, FlagEffect

_ROWS_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class RunValue:
    """One number of a valid finished run.

    Attributes:
        rejected_by: code of the flag that rejects it on its own; None for a number that counts.
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
    rejected_by: str | None = None


def run_values(
    session: Session,
    cell_ids: Sequence[int],
    metric: str | None = None,
    *,
    run_id: int | None = None,
    series_ids: Collection[int] | None = None,
) -> Iterator[RunValue]:
    """The numbers of the cells' valid finished runs, or of one run, as they came, of one metric or series or of all.

    Those of attempts that did not finish are left out, those that a flag rejects on their own, and superseded ones.
    """
    found = all_values(session, cell_ids, metric, run_id=run_id, series_ids=series_ids)
    return (value for value in found if value.rejected_by is None)


def all_values(
    session: Session,
    cell_ids: Sequence[int],
    metric: str | None = None,
    *,
    run_id: int | None = None,
    series_ids: Collection[int] | None = None,
) -> Iterator[RunValue]:
    """As `run_values`, with those that a flag rejects on their own."""
    started_at = func.coalesce(Run.started_at, Run.created_at).label("started_at")
    # Columns, not rows of the mapper, no labels with each number, and not all rows at once: a cell may have thousands.
    of_sample = (Sample.series_id, Sample.run_id, Sample.order_id, Sample.target_id, Sample.value)
    statement = (
        select(*of_sample, Run.cell_id, started_at)
        .join(Run, Run.id == Sample.run_id)
        .join(Order, Order.id == Sample.order_id)
        .join(Attempt, Attempt.id == Order.attempt_id)
        .where(
            Run.cell_id == any_of(cell_ids),
            Run.state == "finished",
            Run.validity == "valid",
            Attempt.state == "finished",
            # Release 0.2 and those before it stored any number, and a sum of such ones is none.
            Sample.value.between(-LARGEST_VALUE, LARGEST_VALUE),
        )
        .order_by(Sample.id)
    )
    if metric is not None:
        statement = statement.join(Series, Series.id == Sample.series_id).where(Series.metric == metric)
    if series_ids is not None:
        statement = statement.where(Sample.series_id == any_of(series_ids))
    if run_id is not None:
        statement = statement.where(Run.id == run_id)
    labels: dict[int, Mapping[str, Label] | None] = {}
    flags: dict[int, list[Flag]] = {}
    same: dict[frozenset[str], frozenset[str]] = {}
    for rows in session.execute(statement).partitions(_ROWS_AT_ONCE):
        labels |= _labels(session, {row.series_id for row in rows} - labels.keys())
        flags |= flags_of(session, {row.run_id for row in rows} - flags.keys())
        for row in rows:
            own_labels = labels[row.series_id]
            if own_labels is None:
                continue
            concerning = [flag for flag in flags[row.run_id] if flag.concerns(own_labels, row.target_id)]
            codes = frozenset(flag.code for flag in concerning)
            yield RunValue(
                cell_id=row.cell_id,
                series_id=row.series_id,
                labels=own_labels,
                run_id=row.run_id,
                order_id=row.order_id,
                target_id=row.target_id,
                started_at=row.started_at,
                flags=same.setdefault(codes, codes),
                value=row.value,
                rejected_by=next((flag.code for flag in concerning if flag.effect is FlagEffect.REJECTED), None),
            )


def _labels(session: Session, series_ids: Collection[int]) -> dict[int, Mapping[str, Label] | None]:
    """The labels of series; None of superseded ones."""
    if not series_ids:
        return {}
    columns = (Series.id, Series.labels, Series.superseded)
    rows = session.execute(select(*columns).where(Series.id == any_of(series_ids)))
    return {row.id: None if row.superseded else row.labels for row in rows}


def flags_of(session: Session, run_ids: Collection[int]) -> dict[int, list[Flag]]:
    """The flags of each of these runs."""
    if not run_ids:
        return {}
    runs = session.execute(select(Run.id, Run.flags).where(Run.id == any_of(run_ids)))
    return {run_id: [Flag.model_validate(flag) for flag in flags] for run_id, flags in runs}
