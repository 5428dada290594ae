"""Removal of catalogue entries; the series that they split are joined again."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, exists, func, or_, select, text, update
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns.models import Cell, CellNode
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json, any_of, set_fields
from iotide_server.kit.digests import canonical_sha256
from iotide_server.kit.errors import ErrorKind
from iotide_server.kit.work import want_all, want_work
from iotide_server.results.ingest.keys import key_sha256
from iotide_server.results.ingest.service import POINTS
from iotide_server.results.ingest.superseded import Superseded
from iotide_server.results.models import Sample, Series
from iotide_server.runs.models import Run
from iotide_server.trends.points.superseding import SUPERSEDED
from iotide_server.workloads.key_options import KeyOptions
from iotide_server.workloads.models import EVERYWHERE, Catalogue, NodeWorkload, Workload, WorkloadBaseline
from iotide_server.workloads.repository import IN_SERVICE, REJECTED, remove
from iotide_server.workloads.service import is_shipped
from iotide_wire.built_in import FIRST_REVISION, breaking_revisions, built_in, frozen_defaults
from iotide_wire.measured import StepRole

_READ_AT_ONCE: Final = 1000
_SET_DIGESTS: Final = text(
    """
    UPDATE cell SET options_sha256 = new.options_sha256
    FROM unnest(CAST(:ids AS bigint[]), CAST(:digests AS text[])) AS new (id, options_sha256)
    WHERE cell.id = new.id
    """
)

CATALOGUE_ENTRY_NOT_FOUND = ErrorKind(404, "catalogue_entry_not_found", field="id", shows="entry_id").says(
    "no cluster's catalogue has an entry {entry_id}", "list the entries with `iotide-server catalogue`"
)
CATALOGUE_ENTRY_IN_USE = ErrorKind(409, "catalogue_entry_in_use", field="id", shows="entry_id").says(
    "entry {entry_id} is announced by {nodes:names}",
    "revoke or retire these nodes, or remove the plug-in there and restart their agents",
)


@dataclass(frozen=True, slots=True)
class Undone:
    # workload and revision of the entry
    workload: str
    revision: int
    defaults: Sequence[str]
    series_count: int
    is_kept: bool  # cells were measured with it, so the entry stays, but no longer breaks series


def undo(session: Session, principal: Principal, entry_ids: Collection[int], now: datetime) -> list[Undone]:
    """Remove entries, all or none, and rejoin the series that they split.

    Raises:
        CATALOGUE_ENTRY_NOT_FOUND: unknown, or shipped with iotide.
        CATALOGUE_ENTRY_IN_USE: a node in service announces it.
    """
    return [_undo(session, principal, entry_id, now) for entry_id in sorted(set(entry_ids))]


def _undo(session: Session, principal: Principal, entry_id: int, now: datetime) -> Undone:
    entry = session.get(Workload, entry_id, with_for_update=True)
    if entry is None or is_shipped(entry):
        raise CATALOGUE_ENTRY_NOT_FOUND(entry_id=entry_id)
    nodes = _announcing(session, entry_id)
    if nodes:
        raise CATALOGUE_ENTRY_IN_USE(entry_id=entry_id, nodes=nodes)
    before = {"name": entry.name, "revision": entry.revision, "digest": entry.digest, "breaks": entry.breaks_series}
    name, revision, cluster_id = entry.name, entry.revision, entry.cluster_id
    entry.breaks_series = False
    session.flush()
    count = _rejoin(session, entry, now)
    defaults: set[str] = set()
    for catalogue in _reached(session, entry):
        thawed, moved_count = _thaw(session, entry, catalogue, now)
        defaults |= thawed
        count += moved_count
    session.execute(delete(NodeWorkload).where(NodeWorkload.workload_id == entry_id))
    session.flush()
    remove(session, [entry_id])
    is_kept = session.scalar(select(Workload.id).where(Workload.id == entry_id)) is not None
    if not is_kept:
        session.expunge(entry)
    after = {"series_rejoined": count, "defaults": sorted(defaults), "kept": is_kept}
    undone = Action("catalogue_entry_undone", "workload", entry_id, cluster_id, before=before, after=after)
    audit.record(session, principal, undone)
    return Undone(name, revision, sorted(defaults), count, is_kept)


def _announcing(session: Session, entry_id: int) -> list[str]:
    in_service = (
        select(Node.name)
        .join(NodeWorkload, NodeWorkload.node_id == Node.id)
        .where(NodeWorkload.workload_id == entry_id, IN_SERVICE)
        .order_by(Node.name)
    )
    return list(session.scalars(in_service))


def _is_of_all(entry: Workload) -> bool:
    """Check that the entry is older than catalogues of clusters, so that it affected all clusters."""
    return entry.cluster_id is None or entry.announced_by is None


def _rejoin(session: Session, entry: Workload, now: datetime) -> int:
    """Recompute the series revision of the other entries, and move the values there."""
    broken = entry.revision
    others = select(Workload).where(Workload.name == entry.name, Workload.series_revision == broken)
    if not _is_of_all(entry):
        others = others.where(or_(Workload.cluster_id == entry.cluster_id, Workload.cluster_id.is_(None)))
    known_by: dict[int | None, int] = {}
    for row in session.scalars(others.order_by(Workload.id)):
        row.series_revision = known_by[row.cluster_id] = _known_by(session, row)
    session.flush()
    split = session.scalars(
        select(Series)
        .where(
            Series.workload == entry.name, Series.series_revision == broken, Series.superseded != Superseded.REJOINED
        )
        .order_by(Series.id)
        .with_for_update()
    ).all()
    shipped = known_by.get(None, broken) if entry.name in built_in() else broken
    count = 0
    for series in split:
        revision = known_by.get(series.cluster_id, shipped)
        if revision != broken:
            _move(session, series, {"series_revision": revision}, now)
            count += 1
    return count


def _known_by(session: Session, row: Workload) -> int:
    if is_shipped(row):
        return max((one for one in breaking_revisions(row.name) if one <= row.revision), default=FIRST_REVISION)
    last = select(func.max(Workload.revision)).where(
        Workload.name == row.name,
        Workload.breaks_series,
        Workload.revision <= row.revision,
        Workload.cluster_id.is_not_distinct_from(row.cluster_id),
    )
    return session.scalar(last) or FIRST_REVISION


def _reached(session: Session, entry: Workload) -> list[Catalogue]:
    if not _is_of_all(entry):
        return [Catalogue(entry.cluster_id)]
    clusters = session.scalars(select(Workload.cluster_id).where(Workload.name == entry.name).distinct()).all()
    return [Catalogue(cluster_id) for cluster_id in {None, *clusters}]


def _thaw(session: Session, entry: Workload, catalogue: Catalogue, now: datetime) -> tuple[set[str], int]:
    """Pass frozen defaults to the next entry and re-key cells and series; return the options and moved series."""
    frozen = session.get(WorkloadBaseline, catalogue.key(entry.name), with_for_update=True)
    if frozen is None:
        return set(), 0
    left = _frozen_without(session, entry, catalogue, frozen.option_defaults)
    before = frozen.option_defaults
    thawed = {name for name, value in before.items() if name not in left or left[name] != value}
    if not thawed:
        return set(), 0
    frozen.option_defaults = left
    session.flush()
    identities = dict(_changed_cells(session, catalogue, frozen, entry.name))
    digests = [identity["options_sha256"] for identity in identities.values()]
    session.execute(_SET_DIGESTS, {"ids": list(identities), "digests": digests})
    return thawed, _rekey(session, identities, now)


def _frozen_without(session: Session, entry: Workload, catalogue: Catalogue, frozen: Json) -> Json:
    others: list[Mapping[str, Any]] = list(
        session.scalars(
            select(Workload.option_defaults)
            .where(
                Workload.name == entry.name,
                Workload.cluster_id.is_not_distinct_from(catalogue.cluster_id),
                Workload.revision > REJECTED,
                Workload.id != entry.id,
            )
            .order_by(Workload.first_seen_at, Workload.id)
        )
    )
    if catalogue == EVERYWHERE and entry.name in built_in():
        others = [frozen_defaults(entry.name)]
    if not others:
        return frozen
    left = dict(frozen)
    for name, value in entry.option_defaults.items():
        if name not in left or left[name] != value:
            continue
        following = [other[name] for other in others if name in other]
        if following:
            left[name] = following[0]
        else:
            del left[name]
    return left


def _changed_cells(
    session: Session, catalogue: Catalogue, frozen: WorkloadBaseline, name: str
) -> Iterator[tuple[int, Json]]:
    """Yield each cell with a new digest of options, and its series' new columns."""
    nodes = select(func.count()).where(CellNode.cell_id == Cell.id).scalar_subquery()
    sends = exists().where(CellNode.cell_id == Cell.id, CellNode.step_role == StepRole.SENDER)
    is_gang = (nodes > 1) & ~sends
    cells = (
        select(Cell.id, Cell.options, Cell.options_sha256, Workload.own_programs, is_gang.label("is_gang"))
        .join(Workload, Workload.id == Cell.workload_id)
        .where(Workload.name == name, Workload.cluster_id.is_not_distinct_from(catalogue.cluster_id))
        .order_by(Cell.id)
    )
    for cell in session.execute(cells.execution_options(yield_per=_READ_AT_ONCE)):
        key = KeyOptions.of(frozen.option_defaults, cell.own_programs, is_gang=cell.is_gang)
        options = key.chosen(cell.options)
        digest = canonical_sha256(options)
        if digest != cell.options_sha256:
            yield cell.id, {"options": options, "options_sha256": digest}


def _rekey(session: Session, identities: Mapping[int, Json], now: datetime) -> int:
    by_digest = {identity["options_sha256"]: identity for identity in identities.values()}
    touched = session.execute(
        select(Sample.series_id, Cell.options_sha256, func.array_agg(Cell.id.distinct()).label("cell_ids"))
        .join(Run, Run.id == Sample.run_id)
        .join(Cell, Cell.id == Run.cell_id)
        .where(Cell.id == any_of(identities))
        .group_by(Sample.series_id, Cell.options_sha256)
        .order_by(Sample.series_id, Cell.options_sha256)
    ).all()
    for row in touched:
        series = session.get_one(Series, row.series_id, with_for_update=True)
        _move(session, series, by_digest[row.options_sha256], now, row.cell_ids)
    return len({row.series_id for row in touched})


def _move(session: Session, series: Series, to: Json, now: datetime, of_cells: Collection[int] | None = None) -> None:
    """Give the series these columns, or move its values (`of_cells` None: all) to the series with them."""
    key = _key(series, **to)
    cell_ids = _cells_of(session, series)
    is_whole = of_cells is None or cell_ids <= set(of_cells)
    former = session.scalar(select(Series.id).where(Series.key_sha256 == key))
    if former is None and is_whole:
        set_fields(series, to | {"key_sha256": key})
        session.flush()
        return
    if former is None:
        separate = Series(**_columns(series) | to | {"key_sha256": key})
        session.add(separate)
        session.flush()
        former = separate.id
    moved = cell_ids if of_cells is None else cell_ids & set(of_cells)
    runs = select(Run.id).where(Run.cell_id == any_of(moved))
    session.execute(
        update(Sample).where(Sample.series_id == series.id, Sample.run_id.in_(runs)).values(series_id=former)
    )
    if is_whole:
        superseded = f"{Superseded.REJOINED}:{series.id}"
        series.superseded = Superseded.REJOINED
        # With the id, because several series may be rejoined, some repeatedly.
        series.key_sha256 = _key(series, superseded=superseded)
        session.flush()
        want_work(session, SUPERSEDED, 0, now)
    want_all(session, POINTS, moved, now)


def _cells_of(session: Session, series: Series) -> set[int]:
    cells = select(Run.cell_id).join(Sample, Sample.run_id == Run.id).where(Sample.series_id == series.id).distinct()
    return set(session.scalars(cells))


def _columns(series: Series) -> Json:
    return {column.key: getattr(series, column.key) for column in Series.__table__.columns if column.key != "id"}


def _key(series: Series, **other: object) -> str:
    return key_sha256(_columns(series) | other)
