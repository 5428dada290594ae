from datetime import UTC, datetime

import pytest
from factories.measured import Measured, finish, sample
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import CellTarget
from iotide_server.kit.pagination import PageRequest, page_request
from iotide_server.results.figures.measurements import MeasureChoice, campaign_measures, measured_cells, page_of_cells
from iotide_server.results.schemas import MeasuredCell, Measurement
from iotide_server.targets.models import Target
from iotide_server.trends.points.service import recompute_points
from iotide_wire.measured import Flag, FlagCode, FlagEffect

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
RATE = MeasureChoice(metric="write_rate")


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def cells_of(session: Session, campaign_id: int, limit: int = 50) -> list[MeasuredCell]:
    return measured_cells(session, campaign_id, RATE, PageRequest(limit, None)).items


def only(cells: list[MeasuredCell]) -> list[Measurement]:
    (cell,) = cells
    return cell.measurements


def test_runs_of_a_cell_are_in_one_measurement(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    runs = [measured.deliver(cell, finish(NOW, sample(value))).id for value in (3.0, 1.0, 2.0)]
    (one,) = only(cells_of(session, cell.campaign_id))
    assert (one.n, one.median, one.low, one.high) == (3, 2.0, 1.0, 3.0)
    assert (one.run_ids, one.values) == (runs, [3.0, 1.0, 2.0])


def test_targets_loaded_at_once_are_distinguished_from_each_other_and_from_their_total(
    session: Session, measured: Measured
) -> None:
    cell = measured.cell()
    second = Target(cluster_id=measured.cluster.id, name="second", path="/second", scope="node")
    session.add(second)
    session.flush()
    session.add(CellTarget(cell_id=cell.id, target_id=second.id))
    session.flush()
    per_target = [
        sample(value).model_copy(update={"target_id": target})
        for value, target in ((1.0, measured.target.id), (2.0, second.id), (3.0, None))
    ]
    measured.deliver(cell, finish(NOW, *per_target))
    found = only(cells_of(session, cell.campaign_id))
    assert [(one.target_name, one.values) for one in found] == [("scratch", [1.0]), ("second", [2.0]), (None, [3.0])]


def test_rejected_values_are_not_shown(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    flag = Flag(
        code=FlagCode.DURATION,
        effect=FlagEffect.REJECTED,
        measured="1 ms",
        limit="1 s",
        labels={"operation": "read"},
    )
    numbers = (sample(1.0, operation="read"), sample(2.0, operation="write"))
    measured.deliver(cell, finish(NOW, *numbers, flags=(flag,)))
    (shown,) = only(cells_of(session, cell.campaign_id))
    assert shown.labels == {"operation": "write"}


def test_a_metric_that_was_renamed_between_two_series_is_one_with_its_newest_title(
    session: Session, measured: Measured
) -> None:
    campaign = measured.campaign()
    cells = [measured.cell(campaign, file_size_bytes=size) for size in (1024, 2048)]
    measured.deliver(cells[0], finish(NOW, sample(1.0)))
    renamed = {"title": "Written", "description": "Bytes over the time until fsync has returned."}
    measured.workload.metrics = [measured.workload.metrics[0] | renamed]
    measured.deliver(cells[1], finish(NOW, sample(2.0)))
    for cell in cells:
        recompute_points(session, cell.id)
    (metric,) = campaign_measures(session, campaign.id).metrics
    assert (metric.title, metric.description) == ("Written", renamed["description"])


def test_cells_come_page_by_page(session: Session, measured: Measured) -> None:
    campaign = measured.campaign()
    for size in (1024, 2048, 4096):
        measured.deliver(measured.cell(campaign, file_size_bytes=size), finish(NOW, sample(float(size))))
    first = measured_cells(session, campaign.id, RATE, PageRequest(2, None))
    second = measured_cells(session, campaign.id, RATE, PageRequest(2, first.items[-1].id))
    assert [cell.options["file_size_bytes"] for cell in (*first.items, *second.items)] == [1024, 2048, 4096]
    assert (first.next_cursor is None, second.next_cursor) == (False, None)


def test_a_page_ends_before_it_has_too_many_numbers_and_has_one_cell_at_least(
    session: Session, measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iotide_server.results.figures.measurements.MOST_NUMBERS", 3)
    campaign = measured.campaign()
    for size, numbers in ((1024, 2), (2048, 1), (4096, 4), (8192, 1)):
        cell = measured.cell(campaign, file_size_bytes=size)
        measured.deliver(cell, finish(NOW, *(sample(1.0, operation=str(number)) for number in range(numbers))))
    pages, request = [], PageRequest(50, None)
    while True:
        page = page_of_cells(session, campaign.id, RATE, request)
        pages.append([cell.options["file_size_bytes"] for cell in page.items])
        if page.next_cursor is None:
            break
        request = page_request(50, page.next_cursor)
    assert pages == [[1024, 2048], [4096], [8192]]
