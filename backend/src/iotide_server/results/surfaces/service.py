"""Surfaces and their comparison."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Query
from pydantic import StringConstraints
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns import reading as campaigns
from iotide_server.campaigns.models import Campaign, Cell
from iotide_server.kit.errors import IotideError
from iotide_server.results.errors import (
    METRIC_NOT_MEASURED,
    NO_SURFACE,
    OPERATION_NOT_MEASURED,
    SURFACE_CELL_NOT_FOUND,
    SURFACE_TOO_LARGE,
)
from iotide_server.results.figures.bases import MeasuredRunValue, MeasuredSide, with_bases
from iotide_server.results.ingest.gangs import NODES, node_totals
from iotide_server.results.surfaces import grid as layout
from iotide_server.results.surfaces import queries
from iotide_server.results.surfaces.caches import SizeAxis, caches_of, cliffs_of, limits_of
from iotide_server.results.surfaces.grid import Grid, PartKey, Place, UntimedGap, gap_at, gaps_of, sizes_of
from iotide_server.results.surfaces.queries import AnyRow
from iotide_server.results.surfaces.schemas import (
    CacheSize,
    Surface,
    SurfaceDifference,
    SurfaceMetric,
    SurfacePart,
    SurfaceSide,
    SurfaceSource,
    Unlike,
    Unmeasured,
)
from iotide_server.results.values import RunValue, flags_of, run_values
from iotide_server.runs.errors import RUN_NOT_FOUND
from iotide_server.runs.models import Run
from iotide_server.statistics.comparison import Sides

_PATTERN: Final = r"^(run-[1-9][0-9]{0,17}|campaign-[1-9][0-9]{0,17}(\.[1-9][0-9]{0,5}){0,300})$"
SourceName = Annotated[
    str,
    StringConstraints(pattern=_PATTERN, max_length=2000),
    Query(description="A run, a campaign, or cells of a campaign by ordinal", examples=["run-12", "campaign-5.1.2"]),
]


@dataclass(frozen=True, slots=True)
class SourceQuery:
    side: str
    name: str
    # exactly one of both
    run_id: int | None
    campaign_id: int | None
    ordinals: frozenset[int]


def source_of(side: str, name: str) -> SourceQuery:
    kind, _, rest = name.partition("-")
    first, *ordinals = (int(number) for number in rest.split("."))
    is_run = kind == "run"
    return SourceQuery(side, name, first if is_run else None, None if is_run else first, frozenset(ordinals))


def campaign_source(campaign_id: int, ordinals: list[int]) -> str:
    return ".".join([f"campaign-{campaign_id}", *map(str, ordinals)])


MOST_PLACES: Final = 40_000
"""File sizes x record sizes. IOzone's full matrix has 300; a node could invent millions."""


@dataclass(frozen=True, slots=True)
class SurfaceChoice:
    a: SourceName
    b: SourceName | None = None
    operation: Annotated[str | None, Query(max_length=200, examples=["random_read"])] = None
    metric: Annotated[str | None, Query(max_length=100, examples=["throughput"])] = None


@dataclass(frozen=True, slots=True)
class _Origin:
    source: SourceQuery
    campaign: Campaign
    cells: Sequence[AnyRow]
    metrics: Sequence[AnyRow]


@dataclass(frozen=True, slots=True)
class _Axes:
    operation: str
    files: Sequence[int]
    records: Sequence[int]
    is_rate: bool


@dataclass(frozen=True, slots=True)
class _Side:
    origin: _Origin
    key: PartKey
    cells: Sequence[AnyRow]
    grids: Mapping[str, Grid]
    parts: Mapping[PartKey, Sequence[AnyRow]]
    gaps: Sequence[UntimedGap]


def sources(session: Session, principal: Principal) -> list[SurfaceSource]:
    """Newest first."""
    visible = principal.visible_clusters()
    found = []
    for row in queries.matrices(session, visible):
        source = campaign_source(row.campaign_id, [row.ordinal])
        if not row.has_rejected or _is_surface(session, principal, source):
            found.append(SurfaceSource(**row._mapping, source=source))
    for row in queries.sweeps(session, visible):
        source = campaign_source(row.campaign_id, [])
        found.append(SurfaceSource(**row._mapping, source=source, variant="", run_ids=[]))
    return sorted(found, key=lambda one: one.started_at, reverse=True)


def _is_surface(session: Session, principal: Principal, name: str) -> bool:
    """Check that enough remains without rejected values."""
    try:
        origin = _origin(session, principal, source_of("a", name))
        _side(session, origin, origin.metrics[0].metric)
    except IotideError as error:
        if error.kind is not NO_SURFACE:
            raise
        return False
    return True


def surface(session: Session, principal: Principal, wanted: SurfaceChoice) -> Surface:
    """Return the surface of A, and optionally of B with the differences.

    Raises:
        RUN_NOT_FOUND, CAMPAIGN_NOT_FOUND, SURFACE_CELL_NOT_FOUND: unknown or not visible.
        NO_SURFACE, METRIC_NOT_MEASURED, OPERATION_NOT_MEASURED: there are no such values.
        SURFACE_TOO_LARGE: there are too many sizes.
    """
    named = [("a", wanted.a), *([("b", wanted.b)] if wanted.b else [])]
    origins = [_origin(session, principal, source_of(side, name)) for side, name in named]
    metrics = {row.metric: row for origin in origins for row in origin.metrics}
    if wanted.metric is not None and wanted.metric not in metrics:
        raise METRIC_NOT_MEASURED(metric=wanted.metric, measured=list(metrics))
    metric = metrics[wanted.metric or next(iter(metrics))]
    sides = [_side(session, origin, metric.metric) for origin in origins]
    operations = list(dict.fromkeys(name for side in sides for name in side.grids))
    operation = wanted.operation or operations[0]
    if operation not in operations:
        raise OPERATION_NOT_MEASURED(operation=operation, measured=operations)
    return _surface(session, sides, metrics.values(), metric, (operations, operation))


def _origin(session: Session, principal: Principal, source: SourceQuery) -> _Origin:
    cell_id = None
    campaign_id = source.campaign_id
    if source.run_id is not None:
        row = session.get(Run, source.run_id)
        run = principal.require_row(Role.VIEWER, row, RUN_NOT_FOUND(run_id=source.run_id))
        campaign_id, cell_id = run.campaign_id, run.cell_id
    campaign = campaigns.visible_campaign(session, principal, campaign_id or 0)
    cells = [
        row
        for row in queries.cells(session, campaign.id, cell_id)
        if not source.ordinals or row.ordinal in source.ordinals
    ]
    absent = source.ordinals - {row.ordinal for row in cells}
    if absent:
        raise SURFACE_CELL_NOT_FOUND(side=source.side, source=source.name, missing=min(absent))
    metrics = queries.metrics(session, [row.id for row in cells], source.run_id)
    if not metrics:
        raise NO_SURFACE(side=source.side, source=source.name)
    return _Origin(source, campaign, cells, metrics)


def _side(session: Session, origin: _Origin, metric: str) -> _Side:
    """Return the first part with a surface of the metric."""
    by_id = {row.id: row for row in origin.cells}
    everything = list(run_values(session, list(by_id), metric, run_id=origin.source.run_id, with_rejected=True))
    values = [value for value in everything if value.rejected_by is None]
    totals = node_totals(session, values)
    together = {total.cell_id for total in totals}
    values = [*totals, *(value for value in values if value.cell_id not in together)]
    members: dict[PartKey, list[AnyRow]] = {}
    for row in origin.cells:
        members.setdefault(layout.part_key(row), []).append(row)
    found = {key: layout.grids(_placed(values, rows)) for key, rows in members.items()}
    found = {key: grids for key, grids in found.items() if grids}
    if not found:
        raise NO_SURFACE(side=origin.source.side, source=origin.source.name)
    key = next(iter(found))
    flags = flags_of(
        session, {value.run_id for value in everything if value.cell_id in {row.id for row in members[key]}}
    )
    rejected = [value for value in everything if value.rejected_by is not None]
    gaps = gaps_of(_placed(rejected, members[key]), flags.values())
    return _Side(origin, key, members[key], found[key], {one: members[one] for one in found}, gaps)


def _placed(values: Iterable[RunValue], rows: Sequence[AnyRow]) -> Iterable[tuple[str, Place, RunValue]]:
    by_id = {row.id: row for row in rows}
    for value in values:
        row = by_id.get(value.cell_id)
        place = row and layout.place_of(value.labels, row.options)
        if row and place:
            several = len(row.targets or {}) > 1 and value.target_id is not None
            target = row.targets[str(value.target_id)] if several else None
            yield layout.operation_of(value.labels, target), place, value


def _surface(
    session: Session,
    sides: Sequence[_Side],
    metrics: Iterable[AnyRow],
    metric: AnyRow,
    choice: tuple[list[str], str],
) -> Surface:
    operations, operation = choice
    grids = [side.grids.get(operation, {}) for side in sides]
    named_sizes = [sizes_of(side.gaps, operation) for side in sides]
    files, records = (
        sorted({place[axis] for grid in grids for place in grid}.union(*(sizes[axis] for sizes in named_sizes)))
        for axis in (0, 1)
    )
    if len(files) * len(records) > MOST_PLACES:
        raise SURFACE_TOO_LARGE(operation=operation, files=len(files), records=len(records), most=MOST_PLACES)
    axes = _Axes(operation, files, records, is_rate=metric.better == "higher")
    shown = [_shown_side(session, side, grid, axes) for side, grid in zip(sides, grids, strict=True)]
    has_both = len(sides) > 1
    return Surface(
        metrics=[SurfaceMetric.model_validate(row) for row in metrics],
        **metric._mapping,
        operations=operations,
        operation=operation,
        file_sizes_bytes=files,
        record_sizes_bytes=records,
        a=shown[0],
        b=shown[1] if has_both else None,
        unlike=_unlike(shown[0], shown[1]) if has_both else [],
        differences=_differences(session, sides, grids, metric.metric, axes) if has_both else None,
        only_a=layout.only_in(grids[0], grids[1]) if has_both else [],
        only_b=layout.only_in(grids[1], grids[0]) if has_both else [],
    )


def _differences(
    session: Session, sides: Sequence[_Side], grids: Sequence[Grid], metric: str, axes: _Axes
) -> list[list[SurfaceDifference | None]]:
    a, b = zip(sides, grids, strict=True)

    def bases(places: Sequence[Place]) -> list[Sides]:
        return with_bases(session, [(_measured(*a, metric, place), _measured(*b, metric, place)) for place in places])

    return layout.differences(a[1], b[1], (axes.files, axes.records), bases)


def _measured(side: _Side, grid: Grid, metric: str, place: Place) -> MeasuredSide:
    values = {run_id: own[0] for run_id, own in grid[place].items()}
    first = next(iter(values.values()))
    # On scratch disks, each cell is of one make.
    is_on_scratch = side.origin.campaign.plan.get("scratch") is not None
    runs = [
        MeasuredRunValue(value, None, of_run.started_at, of_run.cell_id if is_on_scratch else None)
        for value, of_run in ((value, values[run_id]) for run_id, value in layout.runs_of(grid, place).items())
    ]
    campaign, workload = side.origin.campaign, side.key[0]
    cell_ids = tuple(dict.fromkeys(value.cell_id for value in values.values()))
    return MeasuredSide(cell_ids, campaign.id, campaign.cluster_id, workload, metric, first.labels, runs)


def _shown_side(session: Session, side: _Side, grid: Grid, axes: _Axes) -> SurfaceSide:
    values = [value for own in grid.values() for of_run in own.values() for value in of_run]
    run_ids = {value.run_id for value in values}
    newest = queries.newest_run(session, list(run_ids)) if run_ids else None
    facts = (newest and newest.facts) or {}
    is_write = any("write" in str(value.labels.get("operation")) for value in values[:1])
    is_direct = any(value.labels.get("direct") is True for value in values[:1])
    part = _part(side.origin, side.key, side.cells)
    caches = caches_of(facts, part.node_names, is_write=is_write, is_direct=is_direct)
    cells = [[layout.cell_of(grid, (file, record)) for record in axes.records] for file in axes.files]
    by_axis: Mapping[SizeAxis, Sequence[int]] = {"file_size": axes.files, "record_size": axes.records}
    suiting: Mapping[SizeAxis, Sequence[CacheSize]] = {"file_size": caches, "record_size": limits_of(facts)}
    return SurfaceSide(
        **part.model_dump(),
        campaign_id=side.origin.campaign.id,
        campaign_name=side.origin.campaign.name,
        cluster_id=side.origin.campaign.cluster_id,
        run_id=side.origin.source.run_id,
        options=_common_options(side.cells),
        started_at=newest and newest.started_at,
        run_count=len(run_ids),
        is_total=any(NODES in value.labels for value in values[:1]),
        parts=[_part(side.origin, key, rows) for key, rows in side.parts.items()],
        caches=caches,
        cells=cells,
        unmeasured=_unmeasured(side, grid, axes),
        cliffs=cliffs_of(cells, by_axis, suiting) if axes.is_rate and cells else [],
    )


def _unmeasured(side: _Side, grid: Grid, axes: _Axes) -> list[Unmeasured]:
    empty = ((file, record) for file in axes.files for record in axes.records if (file, record) not in grid)
    reasons = ((place, gap_at(side.gaps, axes.operation, place)) for place in empty)
    return [
        Unmeasured(file_size_bytes=place[0], record_size_bytes=place[1], flag=flag) for place, flag in reasons if flag
    ]


def _part(origin: _Origin, key: PartKey, rows: Sequence[AnyRow]) -> SurfacePart:
    workload, variant, nodes, targets, _ = key
    of_campaign = campaign_source(origin.campaign.id, [row.ordinal for row in rows])
    return SurfacePart(
        source=origin.source.name if origin.source.run_id is not None else of_campaign,
        workload=workload,
        node_names=list(nodes),
        target_names=list(targets),
        variant=variant,
    )


def _common_options(cells: Sequence[AnyRow | Cell]) -> dict[str, Any]:
    first, *others = (cell.options for cell in cells)
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _unlike(a: SurfaceSide, b: SurfaceSide) -> list[Unlike]:
    of_a, of_b = (_described(side) for side in (a, b))
    names = [name for name in dict.fromkeys([*of_a, *of_b]) if of_a.get(name) != of_b.get(name)]
    return [Unlike(name=name, a=of_a.get(name), b=of_b.get(name)) for name in names]


def _described(side: SurfaceSide) -> dict[str, Any]:
    return {
        "workload": side.workload,
        "nodes": ", ".join(side.node_names),
        "targets": ", ".join(side.target_names),
        "variant": side.variant,
        **{f"options.{name}": value for name, value in side.options.items()},
    }
