from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from factories.measured import Measured, finish, sample
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.kit.db import Database
from iotide_server.results import reading
from iotide_server.results.ingest import service as results
from iotide_server.results.models import Point
from iotide_server.runs.models import Run
from iotide_server.trends.points.service import recompute_points
from iotide_wire.facts import FactValue
from iotide_wire.measured import Flag, FlagCode, FlagEffect, SampleMessage
from iotide_wire.messages import Outcome

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
REJECTION = Flag(code=FlagCode.ERRORS, effect=FlagEffect.REJECTED, measured="1 error", limit="none")
MARK = Flag(code=FlagCode.DURATION, effect=FlagEffect.MARKED, measured="12 s", limit="30 s")


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def points(session: Session) -> list[Point]:
    session.expire_all()
    return list(session.scalars(select(Point).order_by(Point.at)))


def flag_codes(session: Session, run: Run) -> list[str]:
    session.refresh(run)
    return [flag["code"] for flag in run.flags]


def test_a_point_is_the_median_and_range_of_the_runs_of_its_cell(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    for minutes, value in enumerate([104.0, 100.0, 102.0, 101.0]):
        measured.deliver(cell, finish(NOW, sample(value)), minutes=minutes + 5)
    recompute_points(session, cell.id)
    (point,) = points(session)
    assert (point.median, point.low, point.high, point.run_count) == (101.5, 100.0, 104.0, 4)
    assert point.at == NOW + timedelta(minutes=5)
    assert (point.cell_id, point.campaign_id) == (cell.id, cell.campaign_id)
    assert point.variation_ratio == pytest.approx(0.01678, abs=1e-5)
    assert point.flags == []


def test_each_campaign_adds_a_point_to_the_series(session: Session, measured: Measured) -> None:
    for day, value in enumerate([100.0, 90.0]):
        cell = measured.cell()
        measured.deliver(cell, finish(NOW, sample(value)), minutes=day * 1440)
        recompute_points(session, cell.id)
    before, after = points(session)
    assert before.series_id == after.series_id
    assert (before.median, after.median) == (100.0, 90.0)


def test_computing_again_changes_nothing(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    measured.deliver(cell, finish(NOW, sample(1.0), flags=(MARK,)))
    recompute_points(session, cell.id)
    once = [(point.id, point.median, point.flags) for point in points(session)]
    recompute_points(session, cell.id)
    assert [(point.id, point.median, point.flags) for point in points(session)] == once


def test_rejected_runs_do_not_count_and_marked_ones_do(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    measured.deliver(cell, finish(NOW, sample(1000.0), flags=(REJECTION,)))
    measured.deliver(cell, finish(NOW, sample(100.0), flags=(MARK,)))
    recompute_points(session, cell.id)
    (point,) = points(session)
    assert (point.median, point.run_count, point.flags) == (100.0, 1, ["DURATION"])


def test_a_flag_of_the_first_rank_removes_its_numbers_also_if_a_node_only_marks_them(
    session: Session, measured: Measured
) -> None:
    cell = measured.cell()
    too_fast = Flag(
        code=FlagCode.TOO_FAST, effect=FlagEffect.MARKED, measured="0", limit="1 KiB/s", labels={"operation": "read"}
    )
    numbers = sample(100.0, operation="write"), sample(9e9, operation="read")
    run = measured.deliver(cell, finish(NOW, *numbers, flags=(too_fast,)))
    recompute_points(session, cell.id)
    assert [point.median for point in points(session)] == [100.0]
    assert run.validity == "valid"


def test_a_flag_of_nearly_all_earlier_runs_is_usual_in_a_series(session: Session, measured: Measured) -> None:
    usual = Flag(code=FlagCode.ZEROES, effect=FlagEffect.MARKED, measured="zeroes", limit="random data")
    for day in range(5):
        cell = measured.cell()
        flags = () if day == 4 else (usual,)
        for run in range(4):
            more = (MARK,) if run == 0 else ()  # one of four runs of each campaign, so never usual
            measured.deliver(cell, finish(NOW, sample(100.0 + run), flags=(*flags, *more)), minutes=1440 * day)
        recompute_points(session, cell.id)
        recompute_points(session, cell.id)
    found = points(session)
    assert [point.usual_flags for point in found] == [[], [], [], ["ZEROES"], ["ZEROES"]]  # from ten runs on
    assert (found[-1].flags, found[-1].flag_runs) == (["DURATION"], {"DURATION": 1})
    assert found[0].flag_runs == {"DURATION": 1, "ZEROES": 4}
    session.refresh(cell)
    assert cell.usual_flags == ["ZEROES"]


def test_flags_of_points_of_the_previous_release_count_for_all_their_runs(session: Session, measured: Measured) -> None:
    usual = Flag(code=FlagCode.ZEROES, effect=FlagEffect.MARKED, measured="zeroes", limit="random data")
    cells = []
    for day in range(4):
        cells.append(measured.cell())
        for run in range(4):
            measured.deliver(cells[-1], finish(NOW, sample(100.0 + run), flags=(usual,)), minutes=1440 * day)
    for cell in cells[:3]:
        recompute_points(session, cell.id)
    session.execute(text("UPDATE point SET flag_runs = NULL"))
    recompute_points(session, cells[3].id)
    assert points(session)[-1].usual_flags == ["ZEROES"]


def test_a_flag_of_some_numbers_removes_only_these(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    too_short = REJECTION.model_copy(update={"labels": {"operation": "write"}})
    mark_of_reads = MARK.model_copy(update={"labels": {"operation": "read"}})
    samples = (sample(1.0, operation="write"), sample(2.0, operation="read"), sample(3.0, operation="seek"))
    measured.deliver(cell, finish(NOW, *samples, flags=(too_short, mark_of_reads)))
    recompute_points(session, cell.id)
    assert sorted((point.median, point.flags) for point in points(session)) == [(2.0, ["DURATION"]), (3.0, [])]


def test_a_point_is_removed_when_its_last_valid_run_is_rejected(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    run = measured.deliver(cell, finish(NOW, sample(100.0)))
    recompute_points(session, cell.id)
    run.validity = "rejected"
    session.flush()
    recompute_points(session, cell.id)
    assert points(session) == []


def test_partial_numbers_of_a_failed_attempt_do_not_count_after_the_retry(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    run = measured.run(cell)
    cut = measured.order(run, 1)
    results.ingest(session, cut, finish(NOW, sample(5.0), outcome=Outcome.FAILED), NOW)
    measured.end(run, cut, "failed")
    whole = measured.order(run, 2)
    results.ingest(session, whole, finish(NOW, sample(100.0)), NOW)
    measured.end(run, whole)
    recompute_points(session, cell.id)
    (point,) = points(session)
    assert (point.median, point.run_count) == (100.0, 1)


def test_several_numbers_of_one_run_count_as_one(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    run = measured.run(cell)
    order = measured.order(run)
    results.ingest(session, order, finish(NOW, sample(1.0), sample(2.0), sample(9.0)), NOW)
    measured.end(run, order)
    recompute_points(session, cell.id)
    (point,) = points(session)
    assert (point.median, point.run_count) == (2.0, 1)


def test_runs_that_scatter_flag_their_point(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    for value in (100.0, 120.0, 90.0, 110.0):
        measured.deliver(cell, finish(NOW, sample(value)))
    recompute_points(session, cell.id)
    assert points(session)[0].flags == ["CV"]


def test_a_run_far_from_the_others_of_its_cell_is_marked_and_counts(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    runs = [
        measured.deliver(cell, finish(NOW, sample(value, operation="write"), sample(1.0, operation="read")))
        for value in (100e6, 101e6, 99e6, 40e6)
    ]
    for _ in range(2):
        recompute_points(session, cell.id)
        assert [flag_codes(session, run) for run in runs] == [[], [], [], ["OUTLIER"]]
    assert runs[3].flags == [
        {
            "code": "OUTLIER",
            "effect": "marked",
            "measured": "Write rate: 40 MB/s",
            "limit": "51.4 MB/s to 148 MB/s (median 99.5 MB/s of 4 runs \u00b1 48.1 MAD)",
            "labels": {"operation": "write"},
            "target_id": None,
            "peers": None,
        }
    ]
    written = next(point for point in points(session) if point.run_count == 4 and point.low == 40e6)
    assert written.flags == ["CV", "OUTLIER"]
    measured.deliver(cell, finish(NOW, sample(41e6, operation="write")))
    measured.deliver(cell, finish(NOW, sample(42e6, operation="write")))
    recompute_points(session, cell.id)
    assert flag_codes(session, runs[3]) == []  # it is no longer alone


def test_a_run_that_is_slow_in_everything_is_reported_once(session: Session, measured: Measured) -> None:
    cell = measured.cell()

    def numbers(value: float) -> list[SampleMessage]:
        return [sample(value - writer, writer=writer) for writer in range(21)]

    for value in (1000.0, 1010.0, 990.0):
        measured.deliver(cell, finish(NOW, *numbers(value)))
    slow = measured.deliver(cell, finish(NOW, *numbers(500.0)))
    recompute_points(session, cell.id)
    session.refresh(slow)
    [flag] = slow.flags
    assert (flag["code"], flag["labels"]) == ("OUTLIER", {})
    assert flag["measured"].startswith("21 values of the run, furthest: Write rate: ")


def test_the_first_run_after_a_change_of_the_environment_is_marked(session: Session, measured: Measured) -> None:
    old: dict[str, FactValue] = {"kernel.release": "6.1.0-11", "mount.options": "rw,noatime"}
    new = old | {"kernel.release": "6.1.0-12"}
    first = measured.deliver(measured.cell(), finish(NOW, sample(1.0), environment=old), minutes=0)
    cell = measured.cell()
    changed = measured.deliver(cell, finish(NOW, sample(1.0), environment=new), minutes=10)
    after = measured.deliver(cell, finish(NOW, sample(1.0), environment=new), minutes=20)
    recompute_points(session, cell.id)
    recompute_points(session, cell.id)
    session.refresh(changed)
    assert changed.flags == [
        {
            "code": "ENV_CHANGED",
            "effect": "marked",
            "measured": "kernel.release = 6.1.0-12",
            "limit": f"as in run {first.id}: kernel.release = 6.1.0-11",
            "labels": {},
            "target_id": None,
            "peers": None,
        }
    ]
    assert flag_codes(session, first) == flag_codes(session, after) == []
    assert points(session)[-1].flags == ["ENV_CHANGED"]


def test_another_series_does_not_count_as_the_run_before(session: Session, measured: Measured) -> None:
    measured.deliver(
        measured.cell(file_size_bytes=4096), finish(NOW, sample(1.0), environment={"kernel.release": "5"}), minutes=0
    )
    cell = measured.cell()
    run = measured.deliver(cell, finish(NOW, sample(1.0), environment={"kernel.release": "6"}), minutes=10)
    recompute_points(session, cell.id)
    assert flag_codes(session, run) == []


def test_browsers_are_notified_which_series_changed(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    measured.deliver(cell, finish(NOW, sample(1.0)))
    recompute_points(session, cell.id)
    updates = session.execute(text("SELECT subject_id, cluster_id FROM change WHERE kind = 'series'")).all()
    assert [tuple(row) for row in updates] == [(points(session)[0].series_id, measured.cluster.id)]


def test_a_removed_cell_needs_no_points(session: Session) -> None:
    recompute_points(session, 999)
    assert points(session) == []


def test_computing_at_once_makes_one_point(database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        cell = measured.cell()
        for value in (1.0, 2.0, 3.0):
            measured.deliver(cell, finish(NOW, sample(value)))

    def compute(_: int) -> None:
        with database.transaction() as session:
            recompute_points(session, cell.id)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(compute, range(16)))
    with database.transaction() as session:
        assert [(point.median, point.run_count) for point in points(session)] == [(2.0, 3)]


def test_results_have_the_primary_metrics_first_and_no_spread_below_the_clock(
    session: Session, measured: Measured
) -> None:
    cell = measured.cell()
    for ticks in (0, 1, 0, 2):
        wait = sample(ticks * 0.01, metric="wait", part="user")
        measured.deliver(cell, finish(NOW, wait, sample(100e6 + ticks, operation="write")))
    recompute_points(session, cell.id)
    rate, user = reading.cell_results(session, [cell.id])[cell.id]
    assert (rate.metric, user.metric) == ("write_rate", "wait")
    assert rate.variation_ratio is not None
    assert (user.n, user.median, user.variation_ratio, user.robust_spread_ratio) == (4, 0.005, None, None)
    assert all("CV" not in point.flags for point in points(session))
