import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier

import pytest
from factories.measured import Measured, finish, sample
from factories.raised import raised
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from iotide_server.kit.db import Database
from iotide_server.results.errors import ARTEFACT_KEPT, METRIC_NOT_DECLARED, TOO_MANY_ARTEFACTS
from iotide_server.results.ingest import service
from iotide_server.results.models import Artefact, Environment, Sample, Series
from iotide_server.runs.models import Order, Run, RunEvent
from iotide_server.workloads.models import Workload
from iotide_wire.facts import FactValue
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.messages import ArtefactFact, Outcome

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
MARK = Flag(code=FlagCode.DURATION, effect=FlagEffect.MARKED, measured="12 s", limit="30 s")
REJECTION = Flag(code=FlagCode.FSYNC, effect=FlagEffect.REJECTED, measured="outside", limit="inside the timed part")


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


@pytest.fixture
def order(measured: Measured) -> Order:
    return measured.order(measured.run(measured.cell(file_size_bytes=2048)))


def test_samples_land_in_series_with_what_the_workload_announced(
    session: Session, measured: Measured, order: Order
) -> None:
    service.ingest(session, order, finish(NOW, sample(100.0, operation="write"), sample(0.5, "wait")), NOW)
    rate, wait = session.scalars(select(Series).order_by(Series.metric.desc())).all()
    assert (rate.metric, rate.title, rate.unit, rate.better) == (
        "write_rate",
        "Write rate",
        "bytes_per_second",
        "higher",
    )
    assert (rate.node_ids, rate.target_ids) == ([measured.node.id], [measured.target.id])
    assert (rate.workload, rate.options, rate.labels) == ("dd", {"file_size_bytes": 2048}, {"operation": "write"})
    assert (wait.metric, wait.better, wait.labels) == ("wait", "lower", {})
    stored = session.scalars(select(Sample).where(Sample.series_id == rate.id)).one()
    assert (stored.value, stored.run_id, stored.order_id) == (100.0, order.run_id, order.id)


def test_a_later_campaign_with_equal_options_continues_the_series(session: Session, measured: Measured) -> None:
    for options in ({"file_size_bytes": 2048}, {"file_size_bytes": 2048.0}):
        order = measured.order(measured.run(measured.cell(**options)))
        service.ingest(session, order, finish(NOW, sample(1.0)), NOW)
    assert session.scalar(select(func.count()).select_from(Series)) == 1


def test_other_options_are_another_series(session: Session, measured: Measured) -> None:
    for size in (2048, 4096):
        order = measured.order(measured.run(measured.cell(file_size_bytes=size)))
        service.ingest(session, order, finish(NOW, sample(1.0)), NOW)
    assert session.scalar(select(func.count()).select_from(Series)) == 2


def test_a_revision_that_breaks_series_starts_a_new_one_and_late_results_of_the_old_do_not(
    session: Session, measured: Measured
) -> None:
    old = measured.cell()
    columns = {column.name: getattr(measured.workload, column.name) for column in Workload.__table__.columns}
    measured.workload = Workload(**{**columns, "id": None, "revision": 2, "breaks_series": True, "series_revision": 2})
    session.add(measured.workload)
    session.flush()
    for cell in (measured.cell(), old):
        measured.deliver(cell, finish(NOW, sample(1.0)))
    assert session.scalars(select(Series.series_revision).order_by(Series.id)).all() == [2, 1]


def test_an_undeclared_metric_stores_nothing(session: Session, order: Order) -> None:
    with raised(METRIC_NOT_DECLARED):
        service.ingest(session, order, finish(NOW, sample(1.0), sample(1.0, "iops")), NOW)
    assert session.scalar(select(func.count()).select_from(Sample)) == 0


def test_the_same_result_twice_is_stored_once(session: Session, order: Order) -> None:
    result = finish(NOW, sample(1.0), sample(2.0, writer=1), flags=(MARK,))
    service.ingest(session, order, result, NOW)
    service.ingest(session, order, result, NOW)
    assert session.scalar(select(func.count()).select_from(Sample)) == 2
    assert session.get_one(Run, order.run_id).flags == [MARK.model_dump(mode="json")]


def test_flags_decide_the_validity_of_the_run(session: Session, order: Order) -> None:
    run = session.get_one(Run, order.run_id)
    service.ingest(session, order, finish(NOW, sample(1.0), flags=(MARK,)), NOW)
    assert run.validity == "valid"
    service.ingest(session, order, finish(NOW, sample(1.0), flags=(MARK, REJECTION)), NOW)
    assert run.validity == "rejected"
    assert [flag["code"] for flag in run.flags] == ["DURATION", "FSYNC"]


def test_flags_of_some_numbers_reject_the_run_only_where_none_is_left(session: Session, order: Order) -> None:
    run = session.get_one(Run, order.run_id)
    samples = (sample(1.0, operation="write"), sample(2.0, operation="read"))
    of_write, of_read = (REJECTION.model_copy(update={"labels": {"operation": name}}) for name in ("write", "read"))
    service.ingest(session, order, finish(NOW, *samples, flags=(of_write,)), NOW)
    assert run.validity == "valid"
    service.ingest(session, order, finish(NOW, *samples, flags=(of_write, of_read)), NOW)
    assert run.validity == "rejected"


def test_a_new_attempt_leaves_the_flags_of_the_one_before_behind(
    session: Session, measured: Measured, order: Order
) -> None:
    run = session.get_one(Run, order.run_id)
    service.ingest(session, order, finish(NOW, flags=(REJECTION,), outcome=Outcome.FAILED), NOW)
    measured.end(run, order, "failed")
    service.ingest(session, measured.order(run, ordinal=2), finish(NOW, sample(1.0)), NOW)
    assert (run.validity, run.flags) == ("valid", [])


def test_equal_environments_are_stored_once_whatever_the_order_of_facts(session: Session, measured: Measured) -> None:
    facts: dict[str, FactValue] = {"kernel.release": "6.1.0", "cpu.count": 2}
    runs = []
    for environment in (facts, dict(reversed(facts.items()))):
        run = measured.run(measured.cell())
        service.ingest(session, measured.order(run), finish(NOW, environment=environment), NOW)
        runs.append(run)
    assert runs[0].environment_sha256 == runs[1].environment_sha256
    assert session.scalars(select(Environment.facts)).all() == [facts]


@pytest.mark.parametrize(("outcome", "wanted"), [(Outcome.FINISHED, 1), (Outcome.FAILED, 0), (Outcome.DECLINED, 0)])
def test_the_points_of_the_cell_are_wanted_once_a_run_finished(
    session: Session, order: Order, outcome: Outcome, wanted: int
) -> None:
    cell_id = session.get_one(Run, order.run_id).cell_id
    service.ingest(session, order, finish(NOW, outcome=outcome), NOW)
    rows = session.execute(text("SELECT 1 FROM work WHERE kind = 'points' AND key = :key"), {"key": cell_id}).all()
    assert len(rows) == wanted


def test_raw_output_that_never_came_is_a_line_in_the_log(session: Session, order: Order) -> None:
    content = b"2 records in\n"
    sha256 = hashlib.sha256(content).hexdigest()
    came = ArtefactFact(name="write.stdout", sha256=sha256, size_bytes=len(content))
    facts = (came, came.model_copy(update={"name": "read.stdout"}), came.model_copy(update={"sha256": "0" * 64}))
    service.store_artefact(session, order, "write.stdout", sha256, content)
    service.ingest(session, order, finish(NOW, sample(1.0)).model_copy(update={"artefacts": facts}), NOW)
    lines = session.scalars(
        select(RunEvent.text).where(RunEvent.kind == "artefact_missing").order_by(RunEvent.id)
    ).all()
    assert lines == [
        f"raw output read.stdout (13 bytes, SHA-256 {sha256}) never arrived",
        f"raw output write.stdout (13 bytes, SHA-256 {'0' * 64}) never arrived",
    ]
    assert session.scalar(select(func.count()).select_from(Sample)) == 1


def test_raw_output_sent_twice_is_stored_once_and_the_last_one_counts(session: Session, order: Order) -> None:
    for content in (b"first", b"first", b"last"):
        service.store_artefact(session, order, "stdout", hashlib.sha256(content).hexdigest(), content)
    (artefact,) = session.scalars(select(Artefact)).all()
    assert (artefact.sha256, artefact.size_bytes) == (hashlib.sha256(b"last").hexdigest(), 4)


def put(session: Session, order: Order, name: str, content: bytes) -> None:
    service.store_artefact(session, order, name, hashlib.sha256(content).hexdigest(), content)


def test_raw_output_of_an_ended_order_is_never_replaced_and_may_still_come(
    session: Session, measured: Measured, order: Order
) -> None:
    put(session, order, "stdout", b"first")
    measured.end(session.get_one(Run, order.run_id), order)
    with raised(ARTEFACT_KEPT):
        put(session, order, "stdout", b"second thoughts")
    for _ in range(2):
        put(session, order, "stdout", b"first")
        put(session, order, "stderr", b"late")
    stored = session.execute(select(Artefact.name, Artefact.size_bytes).order_by(Artefact.name)).all()
    assert stored == [("stderr", 4), ("stdout", 5)]


def test_the_raw_output_of_an_order_is_limited(session: Session, order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_ARTEFACTS", 2)
    put(session, order, "a", b"1")
    put(session, order, "b", b"1")
    with raised(TOO_MANY_ARTEFACTS):
        put(session, order, "c", b"1")
    put(session, order, "b", b"again")


def test_results_that_arrive_at_once_make_one_series(database: Database) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        order_ids = [measured.order(measured.run(measured.cell())).id for _ in range(8)]
    together = Barrier(len(order_ids))

    def deliver(order_id: int) -> None:
        with database.transaction() as session:
            order = session.get_one(Order, order_id)
            together.wait()
            metrics = [sample(1.0, operation="write"), sample(1.0, "wait"), sample(1.0)]
            service.ingest(session, order, finish(NOW, *(metrics if order_id % 2 else reversed(metrics))), NOW)

    with ThreadPoolExecutor(len(order_ids)) as pool:
        list(pool.map(deliver, order_ids))
    with database.transaction() as session:
        counts = session.execute(text("SELECT count(*) FROM sample GROUP BY series_id")).scalars().all()
    assert counts == [8, 8, 8]
