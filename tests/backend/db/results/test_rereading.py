"""Reading a run again with a corrected parser: values it replaces, keeps and rejects."""

import csv
from datetime import UTC, datetime

import pytest
from factories.clusters import make_node
from factories.measured import Measured, announced_again, finish, sample
from factories.people import ADMIN
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.accounts.models import AuditEntry, Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.kit.db import Database
from iotide_server.kit.errors import IotideError
from iotide_server.results.figures.sample_files import campaign_samples_csv
from iotide_server.results.ingest import readings, rereading, service
from iotide_server.results.models import Point
from iotide_server.runs.models import Order, Run, RunEvent
from iotide_server.trends.points.service import recompute_points
from iotide_wire.measured import Flag, FlagCode, FlagEffect, SampleMessage
from iotide_wire.messages import Outcome
from iotide_wire.reading import OrderReading, RunReading

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
SHORT = Flag(code=FlagCode.DURATION, effect=FlagEffect.MARKED, measured="12 s", limit="30 s")
CLOCK = Flag(code=FlagCode.CLOCK, effect=FlagEffect.MARKED, measured="the node says 1970", limit="a day")
BAD = Flag(code=FlagCode.ERRORS, effect=FlagEffect.REJECTED, measured="1 error", limit="none")


@pytest.fixture
def measured(session: Session) -> Measured:
    measured = Measured(session, NOW)
    measured.node.agent_version = "0.1.0"
    announce(measured, 2)
    return measured


def announce(measured: Measured, revision: int, *, breaks_series: bool = False) -> None:
    known_by = revision if breaks_series else 1
    digest = measured.workload.schema_sha256
    announced_again(measured, revision, digest=digest, breaks_series=breaks_series, series_revision=known_by)


def order_of(session: Session, run: Run) -> Order:
    return session.scalars(select(Order).where(Order.run_id == run.id).order_by(Order.id.desc())).first() or Order()


def said(order: Order, *samples: SampleMessage, flags: tuple[Flag, ...] = (), revision: int = 2) -> RunReading:
    of_order = OrderReading(order_id=order.id, samples=samples, flags=flags)
    return RunReading(workload_revision=revision, parser_version="0.2.0", orders=(of_order,))


def codes(run: Run) -> list[str]:
    return [flag["code"] for flag in run.flags]


def test_numbers_and_points_follow_the_new_reading_and_the_former_stays(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    run = measured.deliver(cell, finish(NOW, sample(100.0, operation="write"), flags=(SHORT,)))
    recompute_points(session, cell.id)
    rereading.read_again(session, ADMIN, run.id, said(order_of(session, run), sample(90.0, operation="write")), NOW)
    wanted = session.execute(text("SELECT kind, key FROM work WHERE done_version < version")).all()
    assert ("points", cell.id) in [tuple(row) for row in wanted]
    recompute_points(session, cell.id)
    (point,) = session.scalars(select(Point))
    assert (point.median, point.run_count, point.flags) == (90.0, 1, [])
    newest, first = readings.of_run(session, run.id)
    assert (newest.ordinal, newest.workload_revision, newest.parser_version, newest.read_by) == (2, 2, "0.2.0", "ada")
    assert (first.ordinal, first.workload_revision, first.parser_version, first.read_by) == (1, 1, "0.1.0", None)
    now, before = (rereading.reading(session, ADMIN, row.id) for row in (newest, first))
    assert [(one.metric, one.value, one.labels) for one in before.samples] == [
        ("write_rate", 100.0, {"operation": "write"})
    ]
    assert [one.value for one in now.samples] == [90.0]
    assert ([flag.code for flag in before.flags], now.flags) == (["DURATION"], [])


def test_the_csv_names_the_revision_of_the_parser_that_read_the_numbers(database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        announce(measured, 2)
        campaign = measured.campaign()
        run = measured.deliver(measured.cell(campaign), finish(NOW, sample(100.0)))
        rereading.read_again(session, ADMIN, run.id, said(order_of(session, run), sample(90.0)), NOW)
    (line,) = csv.DictReader("".join(campaign_samples_csv(database, campaign.id)).splitlines())
    assert (line["value"], line["workload_revision"]) == ("90.0", "2")


def test_the_user_of_a_rereading_is_in_the_runs_log_and_in_the_audit(session: Session, measured: Measured) -> None:
    run = measured.deliver(measured.cell(), finish(NOW, sample(100.0)))
    rereading.read_again(session, ADMIN, run.id, said(order_of(session, run), sample(90.0)), NOW)
    event = session.scalars(select(RunEvent).where(RunEvent.kind == "read_again")).one()
    assert event.text == (
        "read again by an operator with the parser of revision 2 of iotide 0.2.0 instead of revision 1 of iotide 0.1.0"
    )
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "run_read_again")).one()
    assert (entry.before, entry.after) == (
        {"workload_revision": 1, "parser_version": "0.1.0"},
        {"workload_revision": 2, "parser_version": "0.2.0"},
    )


def test_the_same_reading_again_changes_nothing(session: Session, measured: Measured) -> None:
    run = measured.deliver(measured.cell(), finish(NOW, sample(100.0)))
    again = said(order_of(session, run), sample(90.0), flags=(SHORT,))
    for _ in range(2):
        rereading.read_again(session, ADMIN, run.id, again, NOW)
    assert len(readings.of_run(session, run.id)) == 2
    assert codes(run) == ["DURATION"]


def test_flags_of_the_former_parser_go_and_those_of_clock_and_other_runs_stay(
    session: Session, measured: Measured
) -> None:
    run = measured.deliver(measured.cell(), finish(NOW, sample(1.0), flags=(SHORT, CLOCK)))
    run.flags = [*run.flags, SHORT.model_copy(update={"code": FlagCode.OUTLIER}).model_dump(mode="json")]
    rereading.read_again(session, ADMIN, run.id, said(order_of(session, run), sample(1.0)), NOW)
    assert codes(run) == ["CLOCK"]  # OUTLIER returns with the points


def test_a_reading_stores_equal_flags_once(session: Session, measured: Measured) -> None:
    run = measured.deliver(measured.cell(), finish(NOW, sample(100.0, operation="write"), flags=(CLOCK, SHORT)))
    of_order = said(order_of(session, run), sample(90.0, operation="write"), flags=(BAD, CLOCK, SHORT, BAD))
    rereading.read_again(session, ADMIN, run.id, of_order, NOW)
    assert codes(run) == ["CLOCK", "ERRORS", "DURATION"]


def test_a_flag_that_one_node_no_longer_gives_stays_where_another_still_does(
    session: Session, measured: Measured
) -> None:
    run = measured.run(measured.cell())
    first = measured.order(run)
    node = make_node(session, measured.cluster, "node2")
    second = Order(attempt_id=first.attempt_id, run_id=run.id, node_id=node.id, role="load", state="uploading")
    session.add(second)
    session.flush()
    for order in (first, second):
        service.ingest(session, order, finish(NOW, sample(1.0), flags=(SHORT,)), NOW)
        measured.end(run, order)
    again = [said(second, sample(2.0), flags=(SHORT,)), said(first, sample(2.0))]
    orders = tuple(of_order for one in again for of_order in one.orders)
    rereading.read_again(session, ADMIN, run.id, again[0].model_copy(update={"orders": orders}), NOW)
    assert codes(run) == ["DURATION"]


def test_a_run_that_a_wrong_parser_rejected_is_valid_again_and_the_other_way_round(
    session: Session, measured: Measured
) -> None:
    cell = measured.cell()
    run = measured.deliver(cell, finish(NOW, sample(1.0), flags=(BAD,)))
    assert run.validity == "rejected"
    order = order_of(session, run)
    for flags, validity in (((), "valid"), ((BAD,), "rejected")):
        rereading.read_again(session, ADMIN, run.id, said(order, sample(2.0), flags=flags), NOW)
        assert run.validity == validity


def test_a_revision_that_breaks_series_takes_the_numbers_into_its_own(session: Session, measured: Measured) -> None:
    announce(measured, 3, breaks_series=True)
    cell = measured.cell()
    run = measured.deliver(cell, finish(NOW, sample(1.0)))
    recompute_points(session, cell.id)
    (before,) = session.scalars(select(Point.series_id))
    rereading.read_again(session, ADMIN, run.id, said(order_of(session, run), sample(1.0), revision=3), NOW)
    recompute_points(session, cell.id)
    (after,) = session.scalars(select(Point.series_id))
    assert after != before


def test_a_run_that_only_its_parser_made_fail_has_finished_once_it_can_be_read(
    session: Session, measured: Measured
) -> None:
    cell = measured.cell()
    run = measured.run(cell)
    order = measured.order(run)
    service.ingest(session, order, finish(NOW, outcome=Outcome.FAILED), NOW)
    measured.end(run, order, "failed")
    again = said(order, sample(5.0))
    for code in ("tool_failed", None):
        run.reason_code = code
        with pytest.raises(IotideError, match="has no reading to replace"):
            rereading.read_again(session, ADMIN, run.id, again, NOW)
    run.reason_code, run.reason = "output_refused", "two lines too many"
    rereading.read_again(session, ADMIN, run.id, again, NOW)
    recompute_points(session, cell.id)
    session.refresh(run)
    assert {"state": run.state, "code": run.reason_code, "reason": run.reason, "outcome": order.outcome} == {
        "state": "finished",
        "code": None,
        "reason": None,
        "outcome": "finished",
    }
    assert [point.median for point in session.scalars(select(Point))] == [5.0]


def test_only_the_attempt_that_counts_is_read(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    run = measured.run(cell)
    lost = measured.order(run, 1)
    measured.end(run, lost, "failed")
    whole = measured.order(run, 2)
    rereading_of_lost = said(lost, sample(1.0))
    with pytest.raises(IotideError) as refused:
        rereading.read_again(session, ADMIN, run.id, rereading_of_lost, NOW)
    assert (refused.value.status, refused.value.code) == (409, "run_not_readable")
    service.ingest(session, whole, finish(NOW, sample(1.0)), NOW)
    measured.end(run, whole)
    with pytest.raises(IotideError) as refused:
        rereading.read_again(session, ADMIN, run.id, rereading_of_lost, NOW)
    assert (refused.value.status, refused.value.code, refused.value.value) == (409, "orders_differ", [whole.id])


@pytest.mark.parametrize(
    ("revision", "metric", "status", "code", "field"),
    [
        (9, "write_rate", 409, "revision_unknown", "workload_revision"),
        (2, "iops", 422, "metric_not_declared", "orders[0].samples[0].metric"),
    ],
)
def test_unannounced_metrics_are_rejected(
    session: Session, measured: Measured, revision: int, metric: str, status: int, code: str, field: str
) -> None:
    run = measured.deliver(measured.cell(), finish(NOW, sample(1.0)))
    reading = said(order_of(session, run), sample(2.0, metric), revision=revision)
    with pytest.raises(IotideError) as refused:
        rereading.read_again(session, ADMIN, run.id, reading, NOW)
    assert (refused.value.status, refused.value.code, refused.value.field) == (status, code, field)


def test_only_operators_of_the_cluster_read_again(session: Session, measured: Measured) -> None:
    run = measured.deliver(measured.cell(), finish(NOW, sample(1.0)))
    viewer = Principal(PrincipalKind.USER, None, "grace", grants={measured.cluster.id: Role.VIEWER})
    stranger = Principal(PrincipalKind.USER, None, "mallory", grants={})
    again = said(order_of(session, run), sample(2.0))
    for principal, status in ((viewer, 403), (stranger, 404)):
        with pytest.raises(IotideError) as refused:
            rereading.read_again(session, principal, run.id, again, NOW)
        assert refused.value.status == status
    (kept,) = readings.of_run(session, run.id)
    assert rereading.reading(session, viewer, kept.id).samples[0].value == 1.0
    with pytest.raises(IotideError, match="there is no reading"):
        rereading.reading(session, stranger, kept.id)
