"""Undoes an entry of a catalogue: it goes, and series that it split go on as before."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from iotide_server.accounts import audit
from iotide_server.accounts.audit import Action
from iotide_server.accounts.principal import Principal
from iotide_server.campaigns.models import Cell
from iotide_server.clusters.models import Node
from iotide_server.kit.errors import ConflictError, NotFoundError
from iotide_server.kit.work import want_all, want_work
from iotide_server.results.keys import SeriesKey
from iotide_server.results.models import Sample, Series
from iotide_server.results.service import POINTS
from iotide_server.results.superseded import Superseded
from iotide_server.runs.models import Run
from iotide_server.trends.superseding import SUPERSEDED
from iotide_server.workloads.models import NodeWorkload, Workload
from iotide_server.workloads.service import is_shipped
from iotide_wire.built_in import FIRST_REVISION, breaking_revisions


class EntryNotFoundError(NotFoundError):
    """No catalogue of a cluster has such an entry."""

    code = "catalogue_entry_not_found"

    def __init__(self, entry_id: int) -> None:
        super().__init__(
            f"no cluster's catalogue has an entry {entry_id}",
            field="id",
            value=entry_id,
            remedy="`iotide-server catalogue` lists them",
        )


class EntryInUseError(ConflictError):
    """Nodes still announce it, and would do so again."""

    code = "catalogue_entry_in_use"

    def __init__(self, entry_id: int, nodes: Sequence[str]) -> None:
        super().__init__(
            f"entry {entry_id} is announced by {', '.join(nodes)}",
            field="id",
            value=entry_id,
            remedy="revoke or retire these nodes, or remove the plug-in there and restart their agents",
        )


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of an entry.

    Attributes:
        workload, revision: of it.
        series_count: series whose numbers are again where they were before.
        is_kept: cells were measured by it, so the entry stays, and breaks no series any more.
    """

    workload: str
    revision: int
    series_count: int
    is_kept: bool


def undo(session: Session, principal: Principal, entry_id: int, now: datetime) -> Undone:
    """Take an entry out of its catalogue, and move the numbers of series that it split back to their former ones.

    Raises:
        EntryNotFoundError: there is none, or it is of a workload that iotide ships.
        EntryInUseError: a node in service still has it.
    """
    entry = session.get(Workload, entry_id, with_for_update=True)
    if entry is None or is_shipped(entry):
        raise EntryNotFoundError(entry_id)
    nodes = _announcing(session, entry_id)
    if nodes:
        raise EntryInUseError(entry_id, nodes)
    before = {"name": entry.name, "revision": entry.revision, "digest": entry.digest, "breaks": entry.breaks_series}
    entry.breaks_series = False
    session.flush()
    count = _rejoin(session, entry, now)
    session.execute(delete(NodeWorkload).where(NodeWorkload.workload_id == entry_id))
    is_kept = session.scalar(select(Cell.id).where(Cell.workload_id == entry_id).limit(1)) is not None
    if not is_kept:
        session.delete(entry)
        session.flush()
    after = {"series_rejoined": count, "kept": is_kept}
    undone = Action("catalogue_entry_undone", "workload", entry_id, entry.cluster_id, before=before, after=after)
    audit.record(session, principal, undone)
    return Undone(entry.name, entry.revision, count, is_kept)


def _announcing(session: Session, entry_id: int) -> list[str]:
    in_service = (
        select(Node.name)
        .join(NodeWorkload, NodeWorkload.node_id == Node.id)
        .where(NodeWorkload.workload_id == entry_id, Node.retired_at.is_(None), Node.revoked_at.is_(None))
        .order_by(Node.name)
    )
    return list(session.scalars(in_service))


def _rejoin(session: Session, entry: Workload, now: datetime) -> int:
    """Find what the other revisions are known by without the entry, and move the numbers of its series there."""
    broken = entry.revision
    others = select(Workload).where(
        Workload.name == entry.name, Workload.series_revision == broken, Workload.breaks_series.is_(False)
    )
    if entry.cluster_id is not None:
        # Those that iotide ships as well: before each cluster had its own catalogue, an entry split them everywhere.
        others = others.where(or_(Workload.cluster_id == entry.cluster_id, Workload.cluster_id.is_(None)))
    known_by: dict[int | None, int] = {}
    for row in session.scalars(others):
        row.series_revision = known_by[row.cluster_id] = _known_by(session, row)
    session.flush()
    split = session.scalars(
        select(Series)
        .where(
            Series.workload == entry.name, Series.series_revision == broken, Series.superseded != Superseded.REJOINED
        )
        .order_by(Series.id)
        .with_for_update()
    )
    count = 0
    for series in split:
        revision = known_by.get(series.cluster_id, known_by.get(None, broken))
        if revision != broken:
            _move(session, series, revision, now)
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


def _move(session: Session, series: Series, revision: int, now: datetime) -> None:
    """Give the series its former key; where a series has that already, give that one the numbers."""
    key_sha256 = _key(series, revision, series.superseded)
    former = session.scalar(select(Series.id).where(Series.key_sha256 == key_sha256))
    if former is None:
        series.series_revision, series.key_sha256 = revision, key_sha256
        session.flush()
        return
    cell_ids = set(
        session.scalars(select(Run.cell_id).join(Sample, Sample.run_id == Run.id).where(Sample.series_id == series.id))
    )
    session.execute(update(Sample).where(Sample.series_id == series.id).values(series_id=former))
    series.superseded = Superseded.REJOINED
    # With its id: other series of this revision may be rejoined as well, and this one again after a later split.
    series.key_sha256 = _key(series, series.series_revision, f"{Superseded.REJOINED}:{series.id}")
    session.flush()
    want_all(session, POINTS, cell_ids, now)
    want_work(session, SUPERSEDED, 0, now)


def _key(series: Series, revision: int, superseded: str) -> str:
    return SeriesKey(
        cluster_id=series.cluster_id,
        node_ids=frozenset(series.node_ids),
        target_ids=frozenset(series.target_ids),
        workload=series.workload,
        series_revision=revision,
        options_sha256=series.options_sha256,
        metric=series.metric,
        labels=series.labels,
        variant=series.variant,
        superseded=superseded,
    ).sha256
