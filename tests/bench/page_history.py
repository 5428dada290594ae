"""A million numbers for `page.py`: some weeks by the ordinary ingest, then copied to later weeks by statements."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from itertools import product
from math import ceil, log2
from typing import Any, Final

from private_database import vacuum
from sqlalchemy import Column, DateTime, Table, case, insert, literal, select, text
from sqlalchemy.orm import Session
from sqlalchemy.schema import AddConstraint, DropConstraint
from sqlalchemy.sql import ColumnElement, func

from iotide_server.campaigns.models import Campaign, Cell, CellNode, CellTarget
from iotide_server.change_feed import service as live
from iotide_server.demo_history.loading import HistoryPlan, load_history
from iotide_server.demo_history.sites import Figure, Labels, Routine, SampleCluster, SampleLoad, SampleTarget
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Base, Database
from iotide_server.results.models import Point, RunHeadline, Sample, Series
from iotide_server.runs.models import Attempt, Order, Run, RunEvent
from iotide_server.schedules.models import Firing
from iotide_server.trends.changes.analysis import analyse_series
from iotide_wire.facts import FactValue
from iotide_wire.units import GIB, KIB, MIB, TIB

SAMPLES: Final = 1_000_000
_DAYS: Final = 56
_TIMES: Final = 37
"""Number of copies of the days: they give 2,000 nights and 5,000 runs."""
_SLOW_TIMES: Final = (15, 22)
"""Measurements in these weeks are slower, so that there are changes to detect."""
_SLOWER: Final = 0.82
_SPARE: Final = "g3"
"""Cells of the matrices, since a node has one noise curve for a workload on a target."""

_REPEATS: Final = text("""
    INSERT INTO sample (run_id, order_id, series_id, target_id, value)
    SELECT run_id, order_id, series_id, target_id, value * (1 + sign * step * 0.0005)
    FROM sample, generate_series(1, :steps) AS step, (VALUES (-1), (1)) AS signs (sign)
    ORDER BY run_id, sample.id
""")
"""Spread around each number that keeps the run's median, and all values computed from it."""

_SAID_AGAIN: Final[tuple[type[Base], ...]] = (
    *(Campaign, Cell, CellNode, CellTarget, Run, Attempt, Order, RunEvent, Firing),
    *(Sample, Point, RunHeadline),
)
_MEASURED: Final = {"sample.value", "point.median", "point.low", "point.high", "run_headline.value"}


def fill(database: Database) -> None:
    """Generate the history, ending today."""
    began_ago = timedelta(days=_DAYS * (_TIMES - 1))
    load_history(database, HistoryPlan(seed=1, days=_DAYS, sites=sites()), lambda: system_clock() - began_ago)
    with database.transaction() as session:
        live.mute(session)
        count = session.execute(text("SELECT count(*) FROM sample")).scalar_one()
        with _checked_at_once(session, Base.metadata.tables[Sample.__tablename__]):
            session.execute(_REPEATS, {"steps": ceil((SAMPLES / (count * _TIMES) - 1) / 2)})
            say_again(session)
    vacuum(database)
    with database.transaction() as session:
        series_ids = session.scalars(select(Series.id).order_by(Series.id)).all()
    for series_id in series_ids:
        with database.transaction() as session:
            live.mute(session)
            analyse_series(session, series_id)


@contextmanager
def _checked_at_once(session: Session, table: Table) -> Iterator[None]:
    """Check the references of all rows together: row by row, a million of them take minutes."""
    for constraint in table.foreign_key_constraints:
        session.execute(DropConstraint(constraint))
    yield
    for constraint in table.foreign_key_constraints:
        session.execute(AddConstraint(constraint))


def say_again(session: Session) -> None:
    """Copy all rows of campaigns for each later period, with shifted times and new ids."""
    tables = [Base.metadata.tables[model.__tablename__] for model in _SAID_AGAIN]
    strides = {table.name: session.scalar(select(func.max(table.c.id))) or 0 for table in tables if "id" in table.c}
    times = func.generate_series(1, _TIMES - 1).table_valued("time", name="times").render_derived()
    for table in tables:
        later = [_later(column, times.c.time, strides) for column in table.c]
        rows = select(*later).select_from(table).join(times, literal(value=True))
        ordered = rows.order_by(times.c.time, *table.primary_key)
        session.execute(insert(table).from_select(list(table.c), ordered, include_defaults=False))
        if table.name in strides:
            sequence = func.pg_get_serial_sequence(table.name, "id")
            session.execute(select(func.setval(sequence, _TIMES * strides[table.name])))


def _later(column: Column[Any], time: ColumnElement[int], strides: Mapping[str, int]) -> ColumnElement[Any]:
    """Return the SQL expression of a column in this copy."""
    # `run.campaign_id` is a copy that has no foreign key.
    tables = {key.column.table.name for key in column.foreign_keys} | {column.name.removesuffix("_id")}
    if column.name == "id":
        tables.add(column.table.name)
    for name in tables & strides.keys():
        return column + time * strides[name]
    if isinstance(column.type, DateTime):
        return column + time * literal(timedelta(days=_DAYS))
    if str(column) in _MEASURED:
        level = case((time.between(*_SLOW_TIMES), _SLOWER), else_=1.0)
        return column * level * (1 + 0.01 * func.sin(time))
    return column


def sites() -> tuple[SampleCluster, ...]:
    """Two clusters of 200 series; once in their days, a whole IOzone matrix."""
    few = (64 * MIB, 256 * MIB, GIB), (64 * KIB, MIB, 16 * MIB)
    all_sizes = tuple(_powers(64 * KIB, 512 * MIB)), tuple(_powers(4 * KIB, 16 * MIB))
    nodes, servers = ("c01", "c02", "c03", "c04"), ("g1", "g2")
    all_servers = (*servers, _SPARE)
    nightly = Routine("nightly", 1, 2, 1, loads=(_dd("c01", "scratch"),))
    iozones = (_iozone(nodes[:1], name, *few) for name in ("scratch", "home", "nvme"))
    monthly = Routine("monthly", 28, 4, 4, loads=(*iozones, _fio(nodes, "nvme")))
    archived = Routine("monthly", 28, 3, 4, loads=(_iozone(servers, "gpfs", *few), _fio(servers, "gpfs")))
    whole = Routine("matrix", None, 6, 1, loads=(_iozone((_SPARE,), "gpfs", *all_sizes),))
    hpc = (
        _mounted("scratch", "lustre", "shared", nodes),
        _mounted("home", "nfs4", "shared", nodes),
        _mounted("nvme", "xfs", "node", nodes),
    )
    return (
        _site("page-hpc", nodes, hpc, (nightly, monthly)),
        _site("page-archive", all_servers, (_mounted("gpfs", "gpfs", "shared", all_servers),), (archived, whole)),
    )


def _site(
    name: str, nodes: tuple[str, ...], targets: tuple[SampleTarget, ...], routines: tuple[Routine, ...]
) -> SampleCluster:
    facts: dict[str, FactValue] = {"kernel.release": "5.14.0", "cpu.count": 64, "memory.total_bytes": 256 * GIB}
    return SampleCluster(name, "For the bench of pages.", dict.fromkeys(nodes, "compute"), facts, targets, routines)


def _mounted(name: str, fstype: str, scope: str, nodes: tuple[str, ...]) -> SampleTarget:
    return SampleTarget(name, f"/{name}", scope, nodes, fstype, f"{name}:/", "rw", 100 * TIB, {"mount.fstype": fstype})


def _powers(least: int, most: int) -> list[int]:
    return [least << step for step in range(int(log2(most // least)) + 1)]


def _dd(node: str, target: str) -> SampleLoad:
    labels: Labels = {"file_size_bytes": 64 * GIB, "direct": False}
    rates = {"write": 1.9e9, "read": 2.3e9}
    figures = tuple(Figure("throughput", rate, {"operation": name, **labels}) for name, rate in rates.items())
    options = {"file_size_bytes": 64 * GIB, "operations": list(rates)}
    return SampleLoad("dd", (node,), target, figures, options)


def _iozone(nodes: tuple[str, ...], target: str, files: tuple[int, ...], records: tuple[int, ...]) -> SampleLoad:
    """Return a rate that is high while a file fits into memory, and low with small records."""
    figures = tuple(
        Figure(
            "throughput",
            rate * (1 if size < 256 * MIB else 0.4) * record / (record + 32 * KIB),
            {"operation": operation, "file_size_bytes": size, "record_size_bytes": record, "direct": False},
        )
        for (operation, rate), size, record in product({"write": 1.2e9, "read": 2.9e9}.items(), files, records)
        if record <= size
    )
    options = {
        "mode": "auto",
        "min_file_size_bytes": files[0],
        "file_size_bytes": files[-1],
        "min_record_size_bytes": records[0],
        "max_record_size_bytes": records[-1],
        "tests": ["write", "read"],
    }
    return SampleLoad("iozone", nodes, target, figures, options)


def _fio(nodes: tuple[str, ...], target: str) -> SampleLoad:
    percentiles = {
        "p50": 150e-6,
        "p90": 240e-6,
        "p95": 290e-6,
        "p99": 410e-6,
        "p99.9": 2e-3,
        "p99.99": 9e-3,
        "max": 0.02,
    }
    figures: list[Figure] = []
    for operation in ("read", "write"):
        labels: Labels = {"job": "iotide", "operation": operation, "direct": True}
        figures += [
            Figure("iops", 90_000.0, labels),
            Figure("throughput", 90_000.0 * 4096, labels),
            *(
                Figure("latency", seconds, {**labels, "percentile": name}, variation=0.05, is_time=True)
                for name, seconds in percentiles.items()
            ),
        ]
    options = {"rw": "randrw", "block_size_bytes": 4096, "file_size_bytes": 8 * GIB, "runtime_seconds": 60.0}
    return SampleLoad("fio", nodes, target, tuple(figures), options)
