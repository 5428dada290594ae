"""Samples of a campaign as CSV."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from io import StringIO

from iotide_server.kit.db import EXPORT_STATEMENT_SECONDS, Database
from iotide_server.kit.files import as_text
from iotide_server.results import queries
from iotide_server.results.queries import AnyRow

_PIECE_LINES = 1000
_SPREAD = {"options": "option_", "labels": "label_"}
"""Columns with several values, and the prefix of their names."""

_Names = Mapping[str, Sequence[str]]


def campaign_samples_csv(database: Database, campaign_id: int) -> Iterator[str]:
    with database.transaction(statement_seconds=EXPORT_STATEMENT_SECONDS) as session:
        names: _Names = dict(zip(_SPREAD, queries.campaign_names(session, campaign_id), strict=True))
    last: AnyRow | None = None
    while True:
        with database.transaction(statement_seconds=EXPORT_STATEMENT_SECONDS) as session:
            samples = queries.campaign_samples(session, campaign_id, last, _PIECE_LINES)
            columns, rows = tuple(samples.keys()), samples.all()
        if last is None:
            yield _lines([_header(columns, names)])
        if rows:
            yield _lines(_fields(columns, row, names) for row in rows)
            last = rows[-1]
        if len(rows) < _PIECE_LINES:
            return


def _header(columns: Sequence[str], names: _Names) -> list[str]:
    # Without the sample's id, which only marks where the next piece continues.
    spread = ([f"{_SPREAD[name]}{key}" for key in names[name]] if name in _SPREAD else [name] for name in columns[:-1])
    return [field for fields in spread for field in fields]


def _fields(columns: Sequence[str], row: AnyRow, names: _Names) -> list[object]:
    fields: list[object] = []
    for name in columns[:-1]:
        value = row._mapping[name]
        fields += [_value(value.get(key)) for key in names[name]] if name in _SPREAD else [_value(value)]
    return fields


def _lines(rows: Iterable[Sequence[object]]) -> str:
    lines = StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue()


def _value(value: object) -> object:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return json.dumps(value, sort_keys=True)
        case list():
            return as_text(" ".join(map(str, value)))
        case datetime():
            return value.isoformat()
        case _:
            return as_text(value)
