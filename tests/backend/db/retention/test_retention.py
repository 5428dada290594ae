import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from factories.histories import history, levels
from factories.measured import Measured
from factories.raised import raised
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import AuditEntry
from iotide_server.accounts.roles.principal import Principal
from iotide_server.accounts.sessions import service as sessions
from iotide_server.alerts.models import Alert
from iotide_server.kit.work import Work
from iotide_server.results import reading
from iotide_server.results.errors import RAW_OUTPUT_REMOVED
from iotide_server.results.ingest import rereading
from iotide_server.results.ingest import service as results
from iotide_server.results.models import Artefact, Blob, CurveChunk, Point, Sample, Series, ThinnedRun
from iotide_server.retention import repository, service
from iotide_server.retention.service import DAYS_OUT_OF_RANGE, RetentionRule, give_up_old
from iotide_server.runs.models import Run, RunEvent
from iotide_wire.messages import CurvePiece
from iotide_wire.reading import RunReading

NOW = datetime.now(UTC)
LONG_AGO = NOW - timedelta(days=100)


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, LONG_AGO)


@pytest.fixture
def console(session: Session) -> Principal:
    return sessions.console_principal(session, NOW)


def ended(measured: Measured, raw: bytes, *, days_ago: float = 100, seconds: int = 150) -> Run:
    """Return a run that ended that long ago, with raw output and a curve that rises by one each second."""
    session = measured.session
    run = measured.run(measured.cell())
    order = measured.order(run)
    session.flush()
    sha256 = hashlib.sha256(raw).hexdigest()
    results.store_artefact(session, order, "out", sha256, raw)
    values = tuple(float(second) for second in range(seconds))
    piece = CurvePiece(counter="load1", started_at=LONG_AGO, step_seconds=1.0, values=values)
    results.store_curves(session, order.id, [piece])
    run.state, run.ended_at = "finished", NOW - timedelta(days=days_ago)
    session.flush()
    return run


def rule(session: Session, console: Principal, raw_output_days: int | None, curve_days: int | None) -> None:
    service.set_rule(session, console, RetentionRule(raw_output_days, curve_days), NOW)


def test_without_a_rule_everything_is_kept_forever(session: Session, measured: Measured) -> None:
    ended(measured, b"x", days_ago=10_000)
    assert give_up_old(session, 1) is None
    assert session.scalars(select(Artefact)).all() != []
    assert service.waiting(session, RetentionRule(), NOW) == service.Expiring(0, 0, 0, 0)


def test_old_raw_output_is_removed_and_its_run_shows_it(
    session: Session, measured: Measured, console: Principal
) -> None:
    old, young = ended(measured, b"old"), ended(measured, b"young", days_ago=10)
    rule(session, console, 30, None)
    assert session.scalars(select(Work.kind).where(Work.done_version < Work.version)).all() == [service.RETENTION]
    assert service.waiting(session, RetentionRule(30), NOW) == service.Expiring(1, 3, 0, 0)
    again_at = give_up_old(session, 1)
    assert again_at is not None
    assert again_at > NOW + timedelta(hours=23)
    assert session.scalars(select(Artefact.run_id)).all() == [young.id]
    assert session.scalars(select(Blob.content)).all() == [b"young"]
    words = session.scalars(select(RunEvent.text).where(RunEvent.run_id == old.id)).all()
    assert words == ["raw output removed by retention: 1 files, 3 bytes"]
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "old_data_given_up")).one()
    assert entry.after == {"raw_removed_of_runs": [old.id], "curves_thinned_of_runs": []}
    assert service.waiting(session, RetentionRule(30), NOW).raw_runs == 0


def test_shared_content_of_two_runs_stays_until_the_last_one_releases_it(
    session: Session, measured: Measured, console: Principal
) -> None:
    ended(measured, b"same")
    young = ended(measured, b"same", days_ago=10)
    rule(session, console, 30, None)
    give_up_old(session, 1)
    assert session.scalars(select(Blob.content)).all() == [b"same"]
    young.ended_at = LONG_AGO
    session.flush()
    give_up_old(session, 1)
    assert session.scalars(select(Blob.content)).all() == []


def test_curves_become_means_of_a_minute_with_their_ranges_and_are_thinned_once(
    session: Session, measured: Measured, console: Principal
) -> None:
    run = ended(measured, b"x")
    before = reading.thinned_curves(session, run.id, 3, None)
    rule(session, console, None, 30)
    give_up_old(session, 1)
    chunk = session.scalars(select(CurveChunk)).one()
    assert (chunk.step_seconds, chunk.started_at) == (60.0, LONG_AGO)
    assert (chunk.values, chunk.lows, chunk.highs) == ([29.5, 89.5, 134.5], [0.0, 60.0, 120.0], [59.0, 119.0, 149.0])
    after = reading.thinned_curves(session, run.id, 600, None)
    assert [curve.highs for curve in after] == [[59.0, 119.0, 149.0]]
    assert before[0].values is not None
    assert session.scalars(select(Artefact)).all() != []
    give_up_old(session, 1)
    assert len(session.scalars(select(RunEvent).where(RunEvent.kind == "curves_thinned")).all()) == 1


def test_a_batch_is_bounded_and_the_next_one_is_wanted_at_once(
    session: Session, measured: Measured, console: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        ended(measured, bytes([number]))
    monkeypatch.setattr(service, "RAW_BATCH_RUNS", 2)
    rule(session, console, 30, None)
    again_at = give_up_old(session, 1)
    assert again_at is not None
    assert again_at < datetime.now(UTC) + timedelta(minutes=10)
    assert len(session.scalars(select(Artefact)).all()) == 1


def test_a_kept_campaign_is_unchanged_until_it_is_released(
    session: Session, measured: Measured, console: Principal
) -> None:
    run = ended(measured, b"x")
    rule(session, console, 30, 30)
    service.keep_campaign(session, console, run.campaign_id)
    give_up_old(session, 1)
    assert session.scalars(select(ThinnedRun)).all() == []
    service.release_campaign(session, console, run.campaign_id)
    session.flush()
    give_up_old(session, 1)
    assert session.scalars(select(ThinnedRun.run_id)).all() == [run.id]


def alert_around(run: Run, session: Session, *, state: str, raised_days_ago: float) -> Alert:
    """Return an alert whose change is at the point of that run."""
    point = session.scalars(select(Point).where(Point.cell_id == run.cell_id)).one()
    made = Alert(
        cluster_id=session.get_one(Series, point.series_id).cluster_id,
        series_id=point.series_id,
        kind="change",
        state=state,
        at=point.at,
        window_from=point.at - timedelta(days=1),
        window_until=point.at + timedelta(days=1),
        raised_at=NOW - timedelta(days=raised_days_ago),
    )
    session.add(made)
    session.flush()
    return made


def pointed(measured: Measured, raw: bytes) -> Run:
    """Return an old run with raw output and a point in a series."""
    run = ended(measured, raw)
    series = history(measured, levels((1, 100.0)))
    point = measured.session.scalars(
        select(Point).where(Point.series_id == series.id).order_by(Point.id).limit(1)
    ).one()
    point.cell_id, point.campaign_id = run.cell_id, run.campaign_id
    measured.session.flush()
    return run


@pytest.mark.parametrize(
    ("state", "raised_days_ago", "is_kept"),
    [
        ("untriaged", 89, True),
        ("untriaged", 91, False),
        ("suspect", 91, False),
        ("acknowledged", 1000, True),
        ("investigating", 1000, True),
        ("fixed", 1000, True),
        ("expected", 91, False),
        ("wont_fix", 91, False),
        ("recovered", 91, False),
    ],
)
def test_an_alert_keeps_its_runs_for_90_days_and_while_a_user_handles_it(
    session: Session, measured: Measured, console: Principal, state: str, raised_days_ago: float, *, is_kept: bool
) -> None:
    run = pointed(measured, b"evidence")
    alert_around(run, session, state=state, raised_days_ago=raised_days_ago)
    rule(session, console, 30, 30)
    give_up_old(session, 1)
    assert (session.scalars(select(ThinnedRun.run_id)).all() == []) is is_kept


def test_runs_of_an_unhandled_alert_expire_as_time_passes(session: Session, measured: Measured) -> None:
    run = pointed(measured, b"evidence")
    alert = alert_around(run, session, state="untriaged", raised_days_ago=0)
    alert.confirmation_id = run.campaign_id
    session.flush()
    wanted = RetentionRule(30, 30)
    assert service.waiting(session, wanted, NOW + timedelta(days=90)).raw_runs == 0
    assert service.waiting(session, wanted, NOW + timedelta(days=91)).raw_runs == 1
    alert.state = "acknowledged"
    session.flush()
    assert service.waiting(session, wanted, NOW + timedelta(days=10_000)).raw_runs == 0


def test_a_run_without_raw_output_is_not_read_again(session: Session, measured: Measured, console: Principal) -> None:
    run = ended(measured, b"x")
    rule(session, console, 30, None)
    give_up_old(session, 1)
    said = RunReading.model_construct(workload_revision=1, parser_version="2", orders=())
    with raised(RAW_OUTPUT_REMOVED, match=rf"raw output of run {run.id} was removed on") as refused:
        rereading.read_again(session, console, run.id, said, NOW)
    assert (refused.value.status, refused.value.code) == (409, "raw_output_removed")


def test_numbers_are_kept_forever(session: Session, measured: Measured, console: Principal) -> None:
    ended(measured, b"x")
    count = session.scalar(select(func.count()).select_from(Sample))
    rule(session, console, 1, 1)
    give_up_old(session, 1)
    assert session.scalar(select(func.count()).select_from(Sample)) == count


@pytest.mark.parametrize("days", [0, -1, 40_000])
def test_days_that_make_no_sense_are_refused_with_their_field(session: Session, console: Principal, days: int) -> None:
    with raised(DAYS_OUT_OF_RANGE) as refused:
        rule(session, console, None, days)
    assert (refused.value.status, refused.value.field, refused.value.value) == (422, "curve_days", days)


def test_disk_space_is_reported_for_every_kind(session: Session, measured: Measured) -> None:
    ended(measured, b"x")
    kinds = {one.kind: one.size_bytes for one in repository.space(session)}
    assert {"raw output", "per-second values", "numbers", "everything else"} <= kinds.keys()
    assert all(size > 0 for size in kinds.values())
