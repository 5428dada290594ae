"""Tables as downloads, in CSV or Parquet."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from io import BytesIO, StringIO
from typing import Annotated, Any, Final

from arro3.core import Array, DataType, Table
from arro3.io import write_parquet
from fastapi import Query, Response

Cell = str | int | float | bool | datetime | None


class FileFormat(StrEnum):
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


WrittenAs = Annotated[FileFormat, Query(alias="format", description="JSON, or a file with one row per line")]

_MEDIA_TYPES: Final = {FileFormat.CSV: "text/csv", FileFormat.PARQUET: "application/vnd.apache.parquet"}
FILES: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "content": {
            _MEDIA_TYPES[FileFormat.CSV]: {
                "schema": {"type": "string"},
                "example": "series_id,at,median\n7,2026-11-21T10:00:00+00:00,104857600.0\n",
            },
            _MEDIA_TYPES[FileFormat.PARQUET]: {"schema": {"type": "string", "format": "binary"}},
        }
    }
}
"""Pass to `responses=` of a route that has a format parameter."""

_TYPES: Final = {str: DataType.string(), int: DataType.int64(), float: DataType.float64(), bool: DataType.bool()}
_MICROSECONDS: Final = 1_000_000
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: type[str] | type[int] | type[float] | type[bool] | type[datetime]
    cells: Sequence[Cell]


def as_file(columns: Sequence[Column], written_as: FileFormat, name: str) -> Response:
    """Return the table as a download. It is built in memory: limit its rows."""
    content = _parquet(columns) if written_as is FileFormat.PARQUET else _csv(columns)
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.{written_as.value}"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content, media_type=_MEDIA_TYPES[written_as], headers=headers)


def as_text(value: object) -> object:
    """Prefix text that a spreadsheet would run as a formula."""
    # https://owasp.org/www-community/attacks/CSV_Injection
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value


def _csv(columns: Sequence[Column]) -> bytes:
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow([as_text(column.name) for column in columns])
    for row in zip(*(column.cells for column in columns), strict=True):
        writer.writerow([cell.isoformat() if isinstance(cell, datetime) else as_text(cell) for cell in row])
    return text.getvalue().encode()


def _parquet(columns: Sequence[Column]) -> bytes:
    buffer = BytesIO()
    table = Table.from_arrays([_array(column) for column in columns], names=[column.name for column in columns])
    write_parquet(table, buffer, compression="zstd(3)")
    return buffer.getvalue()


def _array(column: Column) -> Array:
    if column.kind is not datetime:
        return Array(column.cells, type=_TYPES[column.kind])
    microseconds = [
        round(cell.timestamp() * _MICROSECONDS) if isinstance(cell, datetime) else None for cell in column.cells
    ]
    # arro3 cannot build an array from datetimes.
    return Array(microseconds, type=DataType.int64()).cast(DataType.timestamp("us", tz="UTC"))
