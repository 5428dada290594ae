"""Conditions of runs, as the tables store them."""

from datetime import UTC, datetime, timedelta

import pytest
from factories.measured import Measured, finish, sample, step
from sqlalchemy.orm import Session

from iotide_server.results.figures import conduct_queries
from iotide_server.results.figures.conduct import conduct
from iotide_server.runs.models import Lease, Order, Run
from iotide_wire.foreign import ForeignBefore, ForeignLoad
from iotide_wire.measured import Check, FlagCode, NotJudged

NOW = datetime(2026, 11, 27, 10, 0, tzinfo=UTC)
SHORT = NotJudged(check=Check.STEADINESS, because="1 s, 25 needed", phase="write")


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def last_order(session: Session, run: Run) -> Order:
    return session.query(Order).filter_by(run_id=run.id).order_by(Order.id.desc()).limit(1).one()


def test_a_run_is_known_by_its_steps_leases_facts_and_checks(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    result = finish(NOW, sample(1.0), environment={"mount.fstype": "tmpfs"})
    run = measured.deliver(cell, result.model_copy(update={"not_judged": (SHORT,)}))
    order = last_order(session, run)
    read = step("read", "dd", NOW, 1.0).model_copy(update={"before_done": "drop"})
    order.steps = [read.model_dump(mode="json")]
    order.foreign_load = {"before": None, "during": None}
    order.started_at, order.ended_at = NOW, NOW + timedelta(seconds=2)
    run.ended_at = NOW + timedelta(seconds=2)
    session.add(Lease(order_id=order.id, resource_kind="node", resource_id=measured.node.id, mode="exclusive"))
    measured.observe(run, "mds1", finish(NOW))
    session.flush()
    found = conduct(conduct_queries.measured_runs(session, cell.campaign_id))
    lists = ("cache", "exclusivity", "other_load", "not_judged")
    words = {name: [(line.words, line.run_ids) for line in getattr(found, name)] for name in lists}
    assert words == {
        "cache": [("tmpfs keeps all data in memory and cannot be emptied", [run.id])],
        "exclusivity": [("nodes reserved; no concurrent runs; observed by mds1", [run.id])],
        "other_load": [("not measured", [run.id])],
        "not_judged": [("steadiness", [run.id])],
    }


def test_a_concurrent_run_on_the_node_is_counted(session: Session, measured: Measured) -> None:
    cell = measured.cell()
    runs = [measured.deliver(cell, finish(NOW, sample(1.0))) for _ in range(2)]
    later = measured.deliver(cell, finish(NOW, sample(1.0)), minutes=10)
    for run in (*runs, later):
        order = last_order(session, run)
        order.started_at, order.ended_at = run.started_at, run.started_at and run.started_at + timedelta(seconds=5)
        run.ended_at = order.ended_at
        given_back = {"active": False, "released_at": run.ended_at}
        lease = {"resource_kind": "node", "resource_id": measured.node.id, "mode": "shared"}
        session.add(Lease(order_id=order.id, **lease, **given_back))
        session.flush()
    found = {run.id: run.overlapping for run in conduct_queries.measured_runs(session, cell.campaign_id)}
    assert found == {runs[0].id: 1, runs[1].id: 1, later.id: 0}


def test_skipped_checks_of_a_gang_are_stored_with_the_node(measured: Measured) -> None:
    cell = measured.cell()
    other = measured.add_node("node2", cell)
    result = finish(NOW, sample(1.0)).model_copy(update={"not_judged": (SHORT,)})
    run = measured.deliver_together(cell, {measured.node.id: result, other.id: result})
    assert [answer["because"] for answer in run.not_judged or ()] == ["node1: 1 s, 25 needed", "node2: 1 s, 25 needed"]
    old = measured.deliver_together(cell, {measured.node.id: result, other.id: finish(NOW, sample(1.0))})
    assert old.not_judged is None, "one of its agents does not report it"


def test_a_result_of_an_older_agent_without_a_sample_is_marked_as_not_measured(measured: Measured) -> None:
    nothing = dict.fromkeys(ForeignBefore.model_fields)
    before = ForeignBefore.model_validate(nothing | {"seconds": 0, "waited_seconds": 0, "processors": 2, "excess": ""})
    result = finish(NOW, sample(1.0)).model_copy(update={"foreign": ForeignLoad(before=before, during=None)})
    flagged = measured.deliver(measured.cell(), result)
    assert [flag["code"] for flag in flagged.flags] == [FlagCode.LOAD_NOT_MEASURED]
    ignoring = measured.campaign("ignoring")
    ignoring.plan = {"quiet": "ignore"}
    assert measured.deliver(measured.cell(ignoring), result).flags == []


def test_the_checks_of_the_server_know_how_many_runs_there_are_and_whether_one_was_before(
    session: Session, measured: Measured
) -> None:
    cell = measured.cell()
    runs = [
        measured.deliver(cell, finish(NOW, sample(1.0), environment={"a": "b"}), minutes=minute) for minute in range(2)
    ]
    first, second = (conduct_queries.known(session, run.id) for run in runs)
    assert first is not None
    assert second is not None
    assert (first.finished_runs, first.has_earlier, first.environment) == (2, False, {"a": "b"})
    assert (second.finished_runs, second.has_earlier) == (2, True)
    waiting = measured.run(cell)
    assert conduct_queries.known(session, waiting.id) is None
