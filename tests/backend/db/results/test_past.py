"""Past runs of targets, for a forecast."""

from datetime import UTC, datetime

import pytest
from factories.measured import Measured, finish, sample
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Cell
from iotide_server.results.forecast.past import last_rates, past_cells, repeated_series
from iotide_server.trends.points.service import recompute_points

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def cell_with(measured: Measured, value: float, *, minutes: float = 0, **options: object) -> Cell:
    cell = measured.cell(**options)
    measured.deliver(cell, finish(NOW, sample(value)), minutes=minutes)
    recompute_points(measured.session, cell.id)
    return cell


def test_the_last_rate_of_a_target_is_that_of_the_same_workload_first(session: Session, measured: Measured) -> None:
    target = measured.target.id
    cell_with(measured, 100.0, minutes=0)
    cell_with(measured, 200.0, minutes=10)
    assert last_rates(session, [target], "dd") == {target: (target, "dd", 200.0)}
    assert last_rates(session, [target], "fio") == {target: (target, "dd", 200.0)}


def test_several_rates_of_a_cell_count_by_the_time_that_their_bytes_take(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    measured.deliver(cell, finish(NOW, sample(100.0, operation="write"), sample(300.0, operation="read")))
    recompute_points(session, cell.id)
    rate = last_rates(session, [measured.target.id], "dd")[measured.target.id]
    assert rate.bytes_per_second == pytest.approx(150.0)


def test_the_rate_of_one_writer_is_not_that_of_all(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    of_writers = [sample(100.0, operation="write", writer=number) for number in (1, 2)]
    measured.deliver(cell, finish(NOW, *of_writers, sample(180.0, operation="write")))
    recompute_points(session, cell.id)
    assert last_rates(session, [measured.target.id], "dd")[measured.target.id].bytes_per_second == 180.0


def test_a_target_that_nothing_measured_has_no_rate_and_no_cells(session: Session, measured: Measured) -> None:
    assert last_rates(session, [measured.target.id], "dd") == {}
    assert past_cells(session, [measured.target.id], "dd") == {}


def test_cells_come_newest_first_with_the_median_time_of_their_runs(session: Session, measured: Measured) -> None:
    old = measured.cell()
    for seconds in (10, 30, 20):
        run = measured.deliver(old, finish(NOW, sample(1.0)))
        run.started_at, run.ended_at = NOW, NOW.replace(second=seconds)
    new = measured.cell(file_size_bytes=4096)
    run = measured.deliver(new, finish(NOW, sample(1.0)))
    run.started_at, run.ended_at = NOW, NOW.replace(second=5)
    session.flush()
    found = past_cells(session, [measured.target.id], "dd")[measured.target.id]
    assert [(cell.options_sha256, cell.seconds) for cell in found] == [
        (new.options_sha256, 5.0),
        (old.options_sha256, 20.0),
    ]


def test_series_with_repeated_runs_show_how_they_scatter(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    for value in (100.0, 102.0):
        measured.deliver(cell, finish(NOW, sample(value, operation="write"), sample(2 * value, operation="read")))
    recompute_points(session, cell.id)
    cell_with(measured, 100.0, minutes=10, file_size_bytes=4096)  # one run
    cluster_id, target_id = measured.cluster.id, measured.target.id
    found = repeated_series(session, cluster_id, "dd", ["write_rate"], ([cell.options_sha256], [target_id]))
    assert [(one.metric, sorted(one.labels)) for one in found] == [("write_rate", ["operation"])] * 2
    assert len({one.configuration for one in found}) == 1
    points = sorted((point.runs, point.low, point.high) for one in found for point in one.points)
    assert points == [(2, 100.0, 102.0), (2, 200.0, 204.0)]
    assert len(repeated_series(session, cluster_id, "dd", ["write_rate"], None)) == len(found)
    for digests, target_ids in (([cell.options_sha256], [target_id + 1]), (["other"], [target_id])):
        assert repeated_series(session, cluster_id, "dd", ["write_rate"], (digests, target_ids)) == []
    assert repeated_series(session, cluster_id, "dd", ["wait"], None) == []
    assert repeated_series(session, cluster_id + 1, "dd", ["write_rate"], None) == []


def test_cells_of_one_program_over_several_nodes_differ_from_others(session: Session, measured: Measured) -> None:
    for is_one_program in (False, True):
        cell = measured.cell()
        second = measured.add_node(f"second{cell.id}", cell)
        if is_one_program:
            measured.lead_from(measured.node, cell)
        run = measured.deliver_together(cell, {measured.node.id: finish(NOW, sample(1.0)), second.id: finish(NOW)})
        run.started_at, run.ended_at = NOW, NOW.replace(second=5)
        session.flush()
    newest, older = past_cells(session, [measured.target.id], "dd")[measured.target.id]
    assert (newest.is_one_program, older.is_one_program) == (True, False)
