"""Values that count: those of valid finished runs, except individually rejected ones."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Row, Select, case, func, select, text
from sqlalchemy.orm import Session

from iotide_server.kit.db import any_of
from iotide_server.results.concerned import concerns
from iotide_server.results.ingest.checks import LARGEST_VALUE
from iotide_server.results.ingest.keys import Label
from iotide_server.results.models import Sample, Series
from iotide_server.runs.models import Attempt, Order, Run
from iotide_wire.measured import Flag, FlagCode

_ROWS_AT_ONCE: Final = 500
_STREAMED_AT_ONCE: Final = 2_000
_MOST_LABELS: Final = 50_000  # series kept in memory
_FEW_FLAGS: Final = 50  # above this, read one run at a time


@dataclass(frozen=True, slots=True)
class RunValue:
    cell_id: int
    series_id: int
    labels: Mapping[str, Label]
    run_id: int
    order_id: int
    target_id: int | None
    started_at: datetime
    flags: frozenset[str]
    value: float
    rejected_by: str | None = None  # rejecting flag's code; None: the value counts


def run_values(
    session: Session,
    cell_ids: Collection[int],
    metric: str | None = None,
    *,
    run_id: int | None = None,
    with_rejected: bool = False,
) -> Iterator[RunValue]:
    """Yield values in stored order, without superseded ones; individually rejected ones only with `with_rejected`."""
    statement = _numbers(cell_ids, None).order_by(Sample.id)
    if metric is not None:
        statement = statement.join(Series, Series.id == Sample.series_id).where(Series.metric == metric)
    if run_id is not None:
        statement = statement.where(Run.id == run_id)
    found = _read(session, session.execute(statement).partitions(_ROWS_AT_ONCE))
    return (value for value in found if with_rejected or value.rejected_by is None)


def values_by_run(
    session: Session,
    cell_ids: Collection[int],
    series_ids: Collection[int] | None = None,
    ignored_code: FlagCode | None = None,
) -> Iterator[list[RunValue]]:
    """Yield `run_values` by run, ignoring flags of the code `ignored_code`."""
    # PostgreSQL plans for the whole answer, not for its first rows.
    session.execute(text("SELECT set_config('cursor_tuple_fraction', '1', true)"))
    statement = _numbers(cell_ids, series_ids).order_by(Sample.run_id, Sample.id)
    rows = session.execute(statement, execution_options={"yield_per": _STREAMED_AT_ONCE})
    found = _read(session, rows.partitions(), ignored_code)
    for _, values in groupby(found, key=lambda value: value.run_id):
        yield [value for value in values if value.rejected_by is None]


def _numbers(cell_ids: Collection[int], series_ids: Collection[int] | None) -> Select[*tuple[Any, ...]]:
    started_at = func.coalesce(Run.started_at, Run.created_at).label("started_at")
    # Streamed columns, without labels: a cell may have thousands.
    of_sample = (Sample.series_id, Sample.run_id, Sample.order_id, Sample.target_id, Sample.value)
    statement: Select[*tuple[Any, ...]] = (
        select(*of_sample, Run.cell_id, started_at)
        .join(Run, Run.id == Sample.run_id)
        .join(Order, Order.id == Sample.order_id)
        .join(Attempt, Attempt.id == Order.attempt_id)
        .where(
            Run.cell_id == any_of(cell_ids),
            Run.state == "finished",
            Run.validity == "valid",
            Attempt.state == "finished",
            # Releases up to 0.2 stored values of any size.
            Sample.value.between(-LARGEST_VALUE, LARGEST_VALUE),
        )
    )
    return statement if series_ids is None else statement.where(Sample.series_id == any_of(series_ids))


def _read(
    session: Session, parts: Iterable[Sequence[Row[Any]]], ignored_code: FlagCode | None = None
) -> Iterator[RunValue]:
    labels: dict[int, Mapping[str, Label] | None] = {}
    flags: dict[int, list[Flag] | None] = {}
    many: dict[int, list[Flag]] = {}
    for rows in parts:
        if len(labels) > _MOST_LABELS:
            labels.clear()
        labels |= _labels(session, {row.series_id for row in rows} - labels.keys())
        flags = {run_id: flags[run_id] for run_id in {row.run_id for row in rows} & flags.keys()}
        flags |= _few_flags(session, {row.run_id for row in rows} - flags.keys())
        for run_id, of_run in groupby(rows, key=lambda row: row.run_id):
            own = flags[run_id]
            if own is None:
                if run_id not in many:
                    many = flags_of(session, [run_id])
                own = many[run_id]
            counted = [(row, known) for row in of_run if (known := labels[row.series_id]) is not None]
            judging = [flag for flag in own if flag.code != ignored_code]
            said = concerns(judging, [(known, row.target_id) for row, known in counted])
            for (row, known), concern in zip(counted, said, strict=True):
                yield RunValue(
                    cell_id=row.cell_id,
                    series_id=row.series_id,
                    labels=known,
                    run_id=row.run_id,
                    order_id=row.order_id,
                    target_id=row.target_id,
                    started_at=row.started_at,
                    flags=concern.codes,
                    value=row.value,
                    rejected_by=concern.rejected_by,
                )


def _labels(session: Session, series_ids: Collection[int]) -> dict[int, Mapping[str, Label] | None]:
    """None for superseded series."""
    if not series_ids:
        return {}
    columns = (Series.id, Series.labels, Series.superseded)
    rows = session.execute(select(*columns).where(Series.id == any_of(series_ids)))
    return {row.id: None if row.superseded else row.labels for row in rows}


def flags_of(session: Session, run_ids: Collection[int]) -> dict[int, list[Flag]]:
    if not run_ids:
        return {}
    runs = session.execute(select(Run.id, Run.flags).where(Run.id == any_of(run_ids)))
    return {run_id: [Flag.model_validate(flag) for flag in flags] for run_id, flags in runs}


def _few_flags(session: Session, run_ids: Collection[int]) -> dict[int, list[Flag] | None]:
    """Return the flags of each run; None if there are too many."""
    if not run_ids:
        return {}
    few = case((func.jsonb_array_length(Run.flags) <= _FEW_FLAGS, Run.flags))
    runs = session.execute(select(Run.id, few).where(Run.id == any_of(run_ids)))
    return {run_id: flags and [Flag.model_validate(flag) for flag in flags] for run_id, flags in runs}
