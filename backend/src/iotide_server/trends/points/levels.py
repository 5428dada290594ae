"""Levels of runs, the medians of their values in each series, in bounded memory.

A cell may have a thousand runs with 20,000 series each.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any, Final, NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.kit.db import any_of, in_parts
from iotide_server.results.ingest.gangs import in_own_series, node_totals
from iotide_server.results.ingest.keys import Label
from iotide_server.results.models import Series
from iotide_server.results.values import RunValue, values_by_run
from iotide_wire.measured import FlagCode
from iotide_wire.units import Unit

MOST_HELD: Final = 100_000  # more go to a temporary table

_NUMBERS_AT_ONCE: Final = 20_000
_SERIES_AT_ONCE: Final = 200
_STREAMED_AT_ONCE: Final = 2_000

_CREATE: Final = text(
    """
    CREATE TEMPORARY TABLE IF NOT EXISTS run_level (
        series_id bigint, run_id bigint, value float8, flags text, target_id bigint
    ) ON COMMIT DROP
    """
)
_EMPTY: Final = text("TRUNCATE run_level")
_PUT: Final = text(
    """
    INSERT INTO run_level SELECT * FROM unnest(CAST(:series_id AS bigint[]), CAST(:run_id AS bigint[]),
        CAST(:value AS float8[]), CAST(:flags AS text[]), CAST(:target_id AS bigint[]))
    """
)
_LEVELS: Final = text("SELECT series_id, run_id, value, flags, target_id FROM run_level ORDER BY series_id, run_id")


class Level(NamedTuple):
    series_id: int
    run_id: int
    value: float  # median of the values, in the series' base unit
    flags: frozenset[str]  # codes of flags that concern the first value
    target_id: int | None  # of the first value


@dataclass(frozen=True, slots=True)
class LevelSeries:
    id: int
    metric: str
    title: str
    unit: Unit
    labels: Mapping[str, Label]
    levels: Sequence[Level]


def run_levels(values: Iterable[RunValue]) -> list[Level]:
    alike: dict[tuple[int, int], list[RunValue]] = defaultdict(list)
    for value in values:
        alike[value.series_id, value.run_id].append(value)
    return [
        Level(*place, median(one.value for one in own), own[0].flags, own[0].target_id) for place, own in alike.items()
    ]


class CellLevels:
    """Includes sums over a gang's nodes."""

    def __init__(self, session: Session, cell_id: int, ignored_code: FlagCode) -> None:
        """Values are read once, ignoring flags of the code `ignored_code`."""
        self._session = session
        self._held: list[Level] = []
        self._is_stored = False
        values: list[RunValue] = []
        for of_run in values_by_run(session, [cell_id], ignored_code=ignored_code):
            values += of_run
            if len(values) >= _NUMBERS_AT_ONCE:
                self._add(cell_id, values)
                values = []
        self._add(cell_id, values)
        self._held.sort(key=lambda level: level[:2])

    def _add(self, cell_id: int, values: list[RunValue]) -> None:
        self._held += run_levels([*values, *in_own_series(self._session, cell_id, node_totals(self._session, values))])
        if len(self._held) > MOST_HELD or (self._is_stored and self._held):
            self._store()

    def _store(self) -> None:
        if not self._is_stored:
            self._session.execute(_CREATE)
            self._session.execute(_EMPTY)
            self._is_stored = True
        flags: dict[frozenset[str], str] = {}
        columns: dict[str, list[Any]] = dict(zip(Level._fields, map(list, zip(*self._held, strict=True)), strict=True))
        columns["flags"] = [flags.setdefault(codes, ",".join(sorted(codes))) for codes in columns["flags"]]
        self._session.execute(_PUT, columns)
        self._held = []

    def series(self) -> Iterator[LevelSeries]:
        """May be called repeatedly."""
        grouped = ((series_id, list(own)) for series_id, own in groupby(self._levels(), key=lambda level: level[0]))
        for some in in_parts(grouped, _SERIES_AT_ONCE):
            columns = select(Series.id, Series.metric, Series.title, Series.unit, Series.labels)
            named = columns.where(Series.id == any_of(series_id for series_id, _ in some))
            known = {row.id: row for row in self._session.execute(named)}
            for series_id, levels in some:
                row = known[series_id]
                yield LevelSeries(series_id, row.metric, row.title, Unit(row.unit), row.labels, levels)

    def _levels(self) -> Iterator[Level]:
        if not self._is_stored:
            yield from self._held
            return
        codes: dict[str, frozenset[str]] = {"": frozenset()}
        rows = self._session.execute(_LEVELS, execution_options={"yield_per": _STREAMED_AT_ONCE})
        for row in rows:
            if row.flags not in codes:
                codes[row.flags] = frozenset(row.flags.split(","))
            yield Level(row.series_id, row.run_id, row.value, codes[row.flags], row.target_id)
