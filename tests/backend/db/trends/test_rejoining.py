"""A catalogue entry is undone: the series that it split continue, and all measurements stay."""

import pytest
from factories.announced import NOW
from factories.clusters import make_node
from factories.measured import DEFAULTS, Measured, finish, sample
from factories.measured import announced_again as again
from factories.people import ADMIN
from factories.raised import raised
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.accounts.models import AuditEntry
from iotide_server.campaigns.models import Cell
from iotide_server.kit.digests import canonical_sha256
from iotide_server.results.ingest.repository import measured_cell
from iotide_server.results.ingest.series import Measured as SeriesMeasured
from iotide_server.results.ingest.series import series_ids
from iotide_server.results.ingest.superseded import Superseded
from iotide_server.results.models import Point, RunHeadline, Sample, Series
from iotide_server.trends.points.rejoining import CATALOGUE_ENTRY_IN_USE, CATALOGUE_ENTRY_NOT_FOUND, undo
from iotide_server.trends.points.service import recompute_points
from iotide_server.trends.points.superseding import settle_superseded
from iotide_server.workloads.key_options import KeyOptions
from iotide_server.workloads.models import Catalogue, NodeWorkload, Workload, WorkloadBaseline
from iotide_server.workloads.repository import freeze_baseline
from iotide_server.workloads.service import baseline


@pytest.fixture
def measured(session: Session) -> Measured:
    """Make a cluster with its own plug-in."""
    made = Measured(session, NOW)
    made.workload.name = "copy"
    made.workload.cluster_id = made.cluster.id
    session.add(WorkloadBaseline(name=f"copy@{made.cluster.id}", option_defaults=DEFAULTS))
    session.flush()
    return made


def measure(measured: Measured, workload: Workload, *values: float, **options: object) -> Cell:
    """Deliver runs of a cell of this revision, and store its points."""
    cell = measured.cell(None, **options)
    cell.workload_id = workload.id
    frozen = baseline(measured.session, workload)
    cell.options_sha256 = canonical_sha256(KeyOptions(frozen.option_defaults).chosen(cell.options))
    measured.session.flush()
    for minutes, value in enumerate(values):
        measured.deliver(cell, finish(NOW, sample(value)), minutes=cell.id * 10 + minutes)
    recompute_points(measured.session, cell.id)
    return cell


def freeze(session: Session, workload: Workload) -> Workload:
    freeze_baseline(session, Catalogue(workload.cluster_id), workload.name, workload.option_defaults)
    session.expire_all()
    return workload


def settle(session: Session, *cells: Cell) -> None:
    """Do the worker's part of undoing an entry."""
    assert wanted(session, "points") >= {cell.id for cell in cells}
    for cell in cells:
        recompute_points(session, cell.id)
    settle_superseded(session, 0)
    session.expire_all()


def series_of(session: Session, cell: Cell) -> Series:
    return session.scalars(
        select(Series).join(Point, Point.series_id == Series.id).where(Point.cell_id == cell.id)
    ).one()


def wanted(session: Session, kind: str) -> set[int]:
    return set(session.scalars(text("SELECT key FROM work WHERE kind = :kind"), {"kind": kind}))


def test_series_that_an_entry_split_are_one_again(session: Session, measured: Measured) -> None:
    before = measure(measured, measured.workload, 100.0)
    entry = again(measured, 2, digest="bad", breaks_series=True, series_revision=2)
    honest = again(measured, 2, digest="good", series_revision=2)
    after = [measure(measured, honest, 101.0), measure(measured, honest, 102.0, 103.0)]
    former, split = series_of(session, before), series_of(session, after[0])
    assert former.id != split.id
    session.execute(text("DELETE FROM work"))

    (undone,) = undo(session, ADMIN, [entry.id], NOW)
    assert (undone.workload, undone.revision, undone.series_count, undone.is_kept) == ("copy", 2, 1, False)
    assert session.get(Workload, entry.id) is None
    session.refresh(honest)
    assert honest.series_revision == 1
    assert wanted(session, "points") == {cell.id for cell in after}
    assert wanted(session, "superseded") == {0}
    for cell in after:
        recompute_points(session, cell.id)
    settle_superseded(session, 0)
    session.expire_all()
    assert list(session.scalars(select(Point.median).where(Point.series_id == former.id).order_by(Point.at))) == [
        100.0,
        101.0,
        102.5,
    ]
    for table in (Sample, Point, RunHeadline):
        assert session.scalars(select(table.series_id).where(table.series_id == split.id)).all() == []
    assert split.superseded == "rejoined"
    entry_of_audit = session.scalars(select(AuditEntry).where(AuditEntry.action == "catalogue_entry_undone")).one()
    assert entry_of_audit.after == {"series_rejoined": 1, "defaults": [], "kept": False}
    assert series_of(session, measure(measured, honest, 104.0)).id == former.id


def test_series_that_only_began_after_it_keep_their_ids_and_points(session: Session, measured: Measured) -> None:
    entry = again(measured, 2, digest="bad", breaks_series=True, series_revision=2)
    honest = again(measured, 3, digest="good", series_revision=2)
    cell = measure(measured, honest, 1.0)
    series = series_of(session, cell)
    assert undo(session, ADMIN, [entry.id], NOW)[0].series_count == 1
    session.expire_all()
    assert (series_of(session, cell).id, series.series_revision, series.superseded) == (series.id, 1, "")
    assert series_of(session, measure(measured, honest, 2.0)).id == series.id


def test_an_entry_that_campaigns_measured_with_stays_and_breaks_nothing(session: Session, measured: Measured) -> None:
    before = measure(measured, measured.workload, 100.0)
    entry = again(measured, 2, digest="bad", breaks_series=True, series_revision=2)
    own = measure(measured, entry, 50.0)
    assert undo(session, ADMIN, [entry.id], NOW)[0].is_kept
    recompute_points(session, own.id)
    settle_superseded(session, 0)
    session.refresh(entry)
    assert (entry.breaks_series, entry.series_revision) == (False, 1)
    assert series_of(session, own).id == series_of(session, before).id


def test_an_entry_that_is_announced_again_is_undone_again(session: Session, measured: Measured) -> None:
    former = series_of(session, measure(measured, measured.workload, 100.0))
    for revision in (3, 4):
        entry = again(measured, 2, digest="bad", breaks_series=True, series_revision=2)
        honest = again(measured, revision, digest="good", series_revision=2)
        cell = measure(measured, honest, 101.0)
        assert series_of(session, cell).id != former.id
        assert undo(session, ADMIN, [entry.id], NOW)[0].series_count == 1
        recompute_points(session, cell.id)
        settle_superseded(session, 0)
        session.expire_all()
        assert series_of(session, cell).id == former.id


def test_split_series_that_differ_only_by_the_superseding_entry_are_rejoined(
    session: Session, measured: Measured
) -> None:
    metric = sample(0.0).metric
    both = [SeriesMeasured(metric, {}), SeriesMeasured(metric, {}, superseded=Superseded.NODE_CLOCK)]
    former = series_ids(session, measured_cell(session, measure(measured, measured.workload, 1.0).id), both)
    entry = again(measured, 2, digest="bad", breaks_series=True, series_revision=2)
    honest = again(measured, 2, digest="good", series_revision=2)
    cell_id = measure(measured, honest, 2.0).id
    assert not set(series_ids(session, measured_cell(session, cell_id), both)) & set(former)
    assert undo(session, ADMIN, [entry.id], NOW)[0].series_count == 2
    session.expire_all()
    assert series_ids(session, measured_cell(session, cell_id), both) == former


def test_series_of_other_clusters_are_unchanged(session: Session, measured: Measured) -> None:
    other = Measured(session, NOW, name="lake")
    other.workload.name, other.workload.cluster_id = "copy", other.cluster.id
    session.add(WorkloadBaseline(name=f"copy@{other.cluster.id}", option_defaults={}))
    theirs = again(other, 2, digest="theirs", breaks_series=True, series_revision=2)
    cell = measure(other, theirs, 1.0)
    series = series_of(session, cell)
    entry = again(measured, 2, digest="bad", breaks_series=True, series_revision=2)
    assert undo(session, ADMIN, [entry.id], NOW)[0].series_count == 0
    session.expire_all()
    assert (series_of(session, cell).id, series.series_revision) == (series.id, 2)


def split_before_the_upgrade(session: Session, entry: Workload, other: Measured) -> tuple[Series, Series, Cell]:
    """Measure in another cluster, where the entry split the next revision: until 0.2.0 all clusters shared one
    catalogue.
    """
    other.workload.name, other.workload.cluster_id = "copy", other.cluster.id
    session.add(WorkloadBaseline(name=f"copy@{other.cluster.id}", option_defaults=DEFAULTS))
    former = series_of(session, measure(other, other.workload, 1.0))
    theirs = again(other, 3, digest="theirs", series_revision=entry.revision)
    cell = measure(other, theirs, 2.0)
    return former, series_of(session, cell), cell


def test_series_of_other_clusters_that_it_split_before_the_upgrade_are_one_again(
    session: Session, measured: Measured
) -> None:
    entry = again(measured, 2, digest="bad", breaks_series=True, series_revision=2)
    former, split, cell = split_before_the_upgrade(session, entry, Measured(session, NOW, name="lake"))
    assert former.id != split.id
    assert undo(session, ADMIN, [entry.id], NOW)[0].series_count == 1
    settle(session, cell)
    assert series_of(session, cell).id == former.id
    assert split.superseded == "rejoined"


def test_an_entry_that_was_announced_after_the_upgrade_split_no_other_cluster(
    session: Session, measured: Measured
) -> None:
    entry = again(measured, 2, digest="bad", breaks_series=True, series_revision=2, announced_by="liar")
    _, split, cell = split_before_the_upgrade(session, entry, Measured(session, NOW, name="lake"))
    assert undo(session, ADMIN, [entry.id], NOW)[0].series_count == 0
    assert series_of(session, cell).id == split.id


def test_defaults_that_an_entry_froze_are_those_of_the_next_entry(session: Session, measured: Measured) -> None:
    former = series_of(session, measure(measured, measured.workload, 100.0))
    entry = freeze(session, again(measured, 2, digest="bad", option_defaults=DEFAULTS | {"sync": "all"}))
    honest = freeze(session, again(measured, 3, digest="good", option_defaults=DEFAULTS | {"sync": "none"}))
    usual, chosen = (measure(measured, honest, value, sync=sync) for value, sync in ((101.0, "none"), (7.0, "all")))
    assert series_of(session, usual).id != former.id
    assert series_of(session, chosen).id == former.id
    session.execute(text("DELETE FROM work"))

    (undone,) = undo(session, ADMIN, [entry.id], NOW)
    assert (undone.defaults, undone.series_count) == (["sync"], 2)
    settle(session, usual, chosen)
    assert baseline(session, honest).option_defaults == DEFAULTS | {"sync": "none"}
    assert series_of(session, usual).id == former.id
    assert series_of(session, chosen).options == {"sync": "all"}
    assert series_of(session, measure(measured, honest, 102.0, sync="none")).id == former.id
    assert series_of(session, measure(measured, honest, 8.0, sync="all")).id == series_of(session, chosen).id


def test_a_default_that_no_other_entry_has_is_no_longer_frozen(session: Session, measured: Measured) -> None:
    entry = freeze(session, again(measured, 2, digest="bad", option_defaults=DEFAULTS | {"sync": "all"}))
    assert undo(session, ADMIN, [entry.id], NOW)[0].defaults == ["sync"]
    assert baseline(session, measured.workload).option_defaults == DEFAULTS


def test_the_defaults_of_a_name_go_with_its_last_entry(session: Session, measured: Measured) -> None:
    key = f"copy@{measured.cluster.id}"
    other = again(measured, 2, digest="bad")
    undo(session, ADMIN, [measured.workload.id, other.id], NOW)
    assert session.scalars(select(WorkloadBaseline.name).where(WorkloadBaseline.name == key)).all() == []


def test_all_of_several_entries_are_undone_or_none(session: Session, measured: Measured) -> None:
    node = make_node(session, measured.cluster, "liar")
    entries = [again(measured, revision, digest=f"bad{revision}", breaks_series=True) for revision in (2, 3)]
    session.add(NodeWorkload(node_id=node.id, workload_id=entries[1].id, available=True))
    session.flush()
    ids = [entry.id for entry in entries]
    with raised(CATALOGUE_ENTRY_IN_USE), session.begin_nested():
        undo(session, ADMIN, ids, NOW)
    assert session.get(Workload, ids[0]) is not None
    node.revoked_at = NOW
    session.flush()
    assert [undone.revision for undone in undo(session, ADMIN, ids, NOW)] == [2, 3]


def test_a_still_announced_entry_is_not_undone(session: Session, measured: Measured) -> None:
    node = make_node(session, measured.cluster, "liar")
    session.add(NodeWorkload(node_id=node.id, workload_id=measured.workload.id, available=True))
    session.flush()
    with raised(CATALOGUE_ENTRY_IN_USE, match="is announced by liar"):
        undo(session, ADMIN, [measured.workload.id], NOW)
    node.retired_at = NOW
    session.flush()
    assert not undo(session, ADMIN, [measured.workload.id], NOW)[0].is_kept


def test_missing_and_built_in_entries_are_not_undone(session: Session, measured: Measured) -> None:
    with raised(CATALOGUE_ENTRY_NOT_FOUND):
        undo(session, ADMIN, [measured.workload.id + 1], NOW)
