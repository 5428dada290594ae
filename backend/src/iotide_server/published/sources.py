"""Published results that come with iotide."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Final

from pydantic import Field, model_validator

from iotide_wire.base import Message, Name, Text
from iotide_wire.catalogue import MetricSpec, WorkloadName
from iotide_wire.facts import FactValue

Printed = str | int | float

_SIZES: Final[Mapping[str, tuple[str, int]]] = {
    "file_size_gb": ("file_size_bytes", 10**9),
    "file_size_mb": ("file_size_bytes", 10**6),
    "record_kb": ("record_size_bytes", 10**3),
}
_OPTIONS: Final = frozenset({"file_size_bytes"})
_NUMBERS: Final[Mapping[str, tuple[str, float, Mapping[str, str]]]] = {
    "throughput_mb_s": ("throughput", 1e6, {}),
    "throughput_mbit_s": ("throughput", 125_000.0, {}),
    **{f"{part}_s": ("duration", 1.0, {"part": part}) for part in ("real", "user", "sys", "wait")},
}
"""By column: metric, base units per unit, labels."""
_FACTS: Final = frozenset({"interconnect", "storage", "disks", "raid"})
_PLACES: Final = frozenset({"target", "fs"})
_LABELS: Final = frozenset({"operation"})
COLUMNS: Final = _SIZES.keys() | _NUMBERS.keys() | _FACTS | _PLACES | _LABELS


class Table(Message):
    cluster: Name
    campaign: Name
    workload: WorkloadName
    columns: tuple[str, ...]
    same: dict[str, Printed] = Field(default_factory=dict)
    rows: Annotated[tuple[tuple[Printed, ...], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _is_regular(self) -> "Table":
        unknown = ({*self.columns} | self.same.keys()) - COLUMNS
        if unknown or any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"{self.campaign}: columns {sorted(unknown)} are unknown, or a row has other columns")
        return self

    def fields(self) -> Iterator[dict[str, Printed]]:
        """Leave out empty fields."""
        for row in self.rows:
            named = {**self.same, **dict(zip(self.columns, row, strict=True))}
            yield {name: value for name, value in named.items() if value != ""}


class Claim(Message):
    words: Text
    ratio: Annotated[float, Field(gt=0)]
    # of the values; for times, the ratio is the time of `target` over that of `against`
    metric: str
    labels: dict[str, str]
    target: Name
    against: Name


class PublishedReference(Message):
    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,60}$")]
    authors: Text
    title: Text
    place: Text
    url: Text | None = None  # None: no permanent address
    published_on: date | None = None  # None: not stated
    shows: Text
    caution: Text
    claim: Claim | None = None
    tables: Annotated[tuple[Table, ...], Field(min_length=1)]

    @property
    def cited(self) -> str:
        return f"{self.authors}: {self.title}, {self.place}"


class Edition(Message):
    clusters: dict[Name, Text]
    sources: Annotated[tuple[PublishedReference, ...], Field(min_length=1)]


@dataclass(slots=True)
class PublishedCell:
    target: str
    fstype: str
    options: dict[str, int]
    facts: dict[str, FactValue]
    # metric, labels and value in base units
    values: list[tuple[str, dict[str, Printed], float]] = field(default_factory=list)


def cells_of(table: Table, metrics: Mapping[str, MetricSpec]) -> Sequence[PublishedCell]:
    """Rows that differ only in values are one cell."""
    cells: dict[tuple[object, ...], PublishedCell] = {}
    for row in table.fields():
        sizes = {name: int(row[column]) * factor for column, (name, factor) in _SIZES.items() if column in row}
        options = {name: size for name, size in sizes.items() if name in _OPTIONS}
        target = str(row["target"])
        facts: dict[str, FactValue] = {f"published.{name}": row[name] for name in sorted(_FACTS & row.keys())}
        new = PublishedCell(target, str(row.get("fs", "")), options, facts)
        cell = cells.setdefault((target, *options.items()), new)
        about = {**sizes, **{name: row[name] for name in _LABELS & row.keys()}}
        for column, (metric, factor, labels) in _NUMBERS.items():
            if column in row:
                declared = metrics[metric].labels
                own = {name: value for name, value in {**about, **labels}.items() if name in declared}
                cell.values.append((metric, own, float(row[column]) * factor))
    return list(cells.values())


@cache
def read_edition() -> tuple[Edition, str]:
    content = files(__package__).joinpath("sources.toml").read_bytes()
    return Edition.model_validate(tomllib.loads(content.decode())), sha256(content).hexdigest()
