from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from factories.measured import Measured, finish, sample
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Campaign, Cell
from iotide_server.results.models import Point, Series
from iotide_server.runs.models import Run
from iotide_server.targets.models import Target, TargetMount
from iotide_server.trends.peers.groups import PeerFilter
from iotide_server.trends.peers.marks import judge_peers, judge_together, mark_odd_runs
from iotide_server.trends.peers.repository import alike
from iotide_server.trends.points.service import JUDGED_AFTER, JUDGED_MEANWHILE, PEERS, recompute_points
from iotide_wire.measured import PeerKind

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
DAY_MINUTES = 1440
SET_BYTES_PER_SECOND = 400e6
"""A third of the best write rate of three RAID 5 sets as one LVM stripe (IRA 470/13, section 2.3)."""
SCATTER = (0.99, 1.0, 1.01, 1.02)


class RaidSets:
    """Three RAID sets of one server, and campaigns that measure them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.measured = Measured(session, NOW)
        self.targets = [self._target(number) for number in (1, 2, 3)]

    def _target(self, number: int) -> Target:
        cluster_id, path = self.measured.cluster.id, f"/raid{number}"
        target = Target(cluster_id=cluster_id, name=f"raid{number}", path=path, scope="node")
        self.session.add(target)
        self.session.flush()
        mount = TargetMount(
            target_id=target.id,
            node_id=self.measured.node.id,
            path=path,
            fstype="xfs",
            source=f"/dev/sd{number}",
            mount_options="rw",
            total_bytes=12 * 10**12,
            seen_at=NOW,
        )
        self.session.add(mount)
        self.session.flush()
        return target

    def measure(self, number: int, level: float, *, day: int, campaign: Campaign | None = None) -> Cell:
        """Measure four runs of one set at this share of the usual rate."""
        self.measured.target = self.targets[number - 1]
        cell = self.measured.cell(campaign)
        for share in SCATTER:
            value = sample(level * share * SET_BYTES_PER_SECOND, operation="write")
            self.measured.deliver(cell, finish(NOW, value), minutes=day * DAY_MINUTES + number)
        recompute_points(self.session, cell.id)
        return cell

    def night(self, day: int, *levels: float) -> list[Cell]:
        """Run one campaign over all sets, and judge it."""
        campaign = self.measured.campaign()
        cells = [self.measure(number, level, day=day, campaign=campaign) for number, level in enumerate(levels, 1)]
        judge_peers(self.session, campaign.id)
        return cells

    def marked(self, cells: Sequence[Cell]) -> list[int]:
        """Return how many runs of each cell have the flag."""
        self.session.expire_all()
        by_cell = [self.session.scalars(select(Run).where(Run.cell_id == cell.id)).all() for cell in cells]
        return [sum(flag["code"] == "PEER_ODD" for run in runs for flag in run.flags) for runs in by_cell]


@pytest.fixture
def sets(session: Session) -> RaidSets:
    return RaidSets(session)


def wanted(session: Session, kind: str) -> dict[int, int]:
    """Return how often the work was requested, by key."""
    return dict(session.execute(text("SELECT key, version FROM work WHERE kind = :kind"), {"kind": kind}).all())


def test_the_runs_of_the_lower_of_three_raid_sets_are_marked_and_the_others_not(
    session: Session, sets: RaidSets
) -> None:
    cells = sets.night(0, 1.0, 1.0, 0.77)
    assert sets.marked(cells) == [0, 0, 4]
    run = session.scalars(select(Run).where(Run.cell_id == cells[2].id).order_by(Run.id)).first()
    assert run is not None
    assert run.flags == [
        {
            "code": "PEER_ODD",
            "effect": "marked",
            "measured": "Write rate: 305 MB/s, 24.1 % below the 402 MB/s of 3 targets (4 runs, z -11.7)",
            "limit": "5 % from the group's median, and z 3.43",
            "labels": {"operation": "write"},
            "target_id": None,
            "peers": {
                "kind": "targets",
                "metric": "write_rate",
                "peer_count": 3,
                "difference_ratio": pytest.approx(-0.241, abs=0.001),
            },
        }
    ]
    recompute_points(session, cells[2].id)
    point = session.scalars(select(Point).where(Point.cell_id == cells[2].id)).one()
    assert (point.run_count, point.flags) == (4, ["PEER_ODD"])


def test_equal_sets_bear_no_mark(sets: RaidSets) -> None:
    assert sets.marked(sets.night(0, 1.0, 0.98, 1.01)) == [0, 0, 0]


def test_the_outlier_is_found_even_in_the_first_of_three_campaigns(session: Session, sets: RaidSets) -> None:
    cells = [sets.measure(3, 0.77, day=0), sets.measure(1, 1.0, day=0), sets.measure(2, 1.0, day=0)]
    assert set(wanted(session, PEERS)) == {cell.campaign_id for cell in cells}
    judge_peers(session, cells[0].campaign_id)
    judge_peers(session, cells[2].campaign_id)
    assert sets.marked(cells) == [4, 0, 0]


def test_judging_again_wants_nothing_more(session: Session, sets: RaidSets) -> None:
    cells = sets.night(0, 1.0, 1.0, 0.77)
    points = wanted(session, "points")
    for _ in range(2):
        recompute_points(session, cells[2].id)  # this adds its own marks after the others
        judge_peers(session, cells[2].campaign_id)
    assert wanted(session, "points") == points
    assert sets.marked(cells) == [0, 0, 4]


def test_older_runs_of_a_set_that_was_fixed_keep_the_mark_and_newer_ones_do_not_get_it(
    session: Session, sets: RaidSets
) -> None:
    before = sets.night(0, 1.0, 1.0, 0.77)
    still = sets.night(1, 1.0, 1.0, 0.78)
    after = sets.night(2, 1.0, 1.0, 1.0)
    assert [sets.marked(cells) for cells in (before, still, after)] == [[0, 0, 4], [0, 0, 4], [0, 0, 0]]
    for cells in (before, still, after):
        assert mark_odd_runs(session, cells[0].campaign_id).changed == []


def test_a_mark_goes_with_the_numbers_that_gave_it(session: Session, sets: RaidSets) -> None:
    cells = sets.night(0, 1.0, 1.0, 0.77)
    other = session.scalars(select(Run).where(Run.cell_id == cells[0].id)).all()
    other[0].validity = "rejected"  # three runs are too few to judge by, and so are two peers
    session.flush()
    recompute_points(session, cells[0].id)
    assert mark_odd_runs(session, cells[0].campaign_id).changed == [cells[2].id]
    assert sets.marked(cells) == [0, 0, 0]


def test_a_removed_campaign_needs_no_work(session: Session) -> None:
    judge_peers(session, 4711)
    assert wanted(session, "points") == {}


def test_campaigns_with_peers_are_judged_together(session: Session, sets: RaidSets) -> None:
    earlier = sets.night(0, 1.0, 1.0, 0.77)
    cells = [sets.measure(3, 0.77, day=1), sets.measure(1, 1.0, day=1), sets.measure(2, 1.0, day=1)]
    elsewhere = Measured(session, NOW, name="elsewhere").cell()
    campaigns = [cells[0].campaign_id, cells[1].campaign_id, cells[2].campaign_id]
    left = judge_together(session, [*campaigns, earlier[0].campaign_id, elsewhere.campaign_id])
    assert left == [earlier[0].campaign_id]  # judged by the facts of that time; nothing was measured elsewhere
    assert sets.marked(cells) == [4, 0, 0]
    assert cells[0].id in wanted(session, "points")


@pytest.mark.parametrize(("to_come", "after"), [(0, JUDGED_AFTER), (1, JUDGED_MEANWHILE)])
def test_peers_are_judged_at_a_full_minute_soon_after_the_last_run_of_a_cell_and_rarely_before_it(
    session: Session, sets: RaidSets, to_come: int, after: timedelta
) -> None:
    sets.measured.target = sets.targets[0]
    cell = sets.measured.cell()
    sets.measured.deliver(cell, finish(NOW, sample(SET_BYTES_PER_SECOND, operation="write")))
    for _ in range(to_come):
        sets.measured.run(cell)
    recompute_points(session, cell.id)
    (row,) = session.execute(text("SELECT due_at, now() AS now FROM work WHERE kind = :kind"), {"kind": PEERS})
    assert (row.due_at.second, row.due_at.microsecond) == (0, 0)
    assert after < row.due_at - row.now <= after + timedelta(minutes=1)


@pytest.mark.parametrize("kind", PeerKind)
def test_peers_of_no_cell_or_no_workload_are_none(session: Session, sets: RaidSets, kind: PeerKind) -> None:
    sets.night(1, 1.0, 1.0, 1.0)
    cluster_id = sets.measured.cluster.id
    assert sum(map(len, alike(session, PeerKind.TARGETS, cluster_id, PeerFilter()))) == 3
    for wanted in (PeerFilter(cell_ids=set()), PeerFilter(workloads=set()), PeerFilter(cell_ids=[])):
        assert list(alike(session, kind, cluster_id, wanted)) == []


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("UPDATE series SET metric = metric", PeerKind.TARGETS),
        ("UPDATE series SET metric = 'wait' WHERE id = :newest", None),
        ("UPDATE series SET labels = CAST('{}' AS jsonb) WHERE id = :newest", None),
        ("UPDATE series SET options_sha256 = 'other' WHERE id = :newest", None),
        (
            "UPDATE series SET labels = labels || jsonb_build_object('ost', id), target_ids = CAST('{}' AS bigint[])",
            PeerKind.OSTS,
        ),
    ],
)
def test_series_that_differ_in_one_property_are_alike(
    session: Session, sets: RaidSets, change: str, kind: PeerKind | None
) -> None:
    sets.night(0, 1.0, 1.0, 1.0)
    newest = session.scalar(select(func.max(Series.id)))
    session.execute(text(change), {"newest": newest} if ":newest" in change else {})
    found = {one: list(map(len, alike(session, one, sets.measured.cluster.id, PeerFilter()))) for one in PeerKind}
    assert found == {one: [3] if one is kind else [] for one in PeerKind}
