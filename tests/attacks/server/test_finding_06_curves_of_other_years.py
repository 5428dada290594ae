"""Finding 6 of the security review: two numbers, decades apart, in a curve took all memory at retention."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from factories.measured import Measured
from factories.raised import raised
from factories.site import Offered, Site, order_heartbeat
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.sessions import service as sessions
from iotide_server.results.errors import CURVE_OUT_OF_RUN, REPORT_TOO_LARGE
from iotide_server.results.ingest import service as results
from iotide_server.results.ingest.curves import Stretch, thin, thin_old
from iotide_server.results.ingest.limits import ReportLimits
from iotide_server.results.models import CurveChunk
from iotide_server.retention import service as retention
from iotide_server.retention.service import RetentionRule, give_up_old
from iotide_wire.messages import CurvePiece, OrderHeartbeat

LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
FAR_AHEAD: Final = datetime(8999, 1, 1, tzinfo=UTC)
ROOM_BYTES: Final = 512 * 1024**2
PAGE_BYTES: Final = resource.getpagesize()


def piece(started_at: datetime, *values: float, counter: str = "load1") -> CurvePiece:
    return CurvePiece(counter=counter, started_at=started_at, step_seconds=1.0, values=values or (1.0,))


@contextmanager
def little_memory() -> Iterator[None]:
    """Allow this process half a gigabyte of memory more than it has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * PAGE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (used_bytes + ROOM_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def heartbeat(offer: Offered, started_at: datetime, *curves: CurvePiece) -> OrderHeartbeat:
    return order_heartbeat(offer, started_at=started_at, progress=0.2, curves=curves)


def stored(site: Site) -> list[datetime]:
    with site.database.transaction() as session:
        return list(session.scalars(select(CurveChunk.started_at).order_by(CurveChunk.started_at)))


@pytest.mark.parametrize("year", [LONG_AGO, FAR_AHEAD])
def test_a_curve_of_another_time_than_the_run_s_is_refused_in_a_heartbeat(plant: Site, year: datetime) -> None:
    now = plant.clock()
    agent, offer = plant.start_load()
    with raised(CURVE_OUT_OF_RUN, match="curve load1 has values of") as refused:
        agent.heartbeat(heartbeat(offer, now, piece(year)))
    error = refused.value
    assert (error.status, error.code, error.field, error.value) == (
        *(422, "curve_out_of_run", "curves.started_at"),
        year,
    )
    assert error.remedy == "check the node's clock and the agent's version"
    assert stored(plant) == []


@pytest.mark.parametrize("year", [LONG_AGO, FAR_AHEAD])
def test_a_curve_of_another_time_fails_the_run_with_a_message_instead_of_being_sent_for_ever(
    plant: Site, year: datetime
) -> None:
    agent, offer = plant.start_load()
    assert agent.hand_in(offer, agent.result(offer, curves=(piece(plant.clock()), piece(year)))).accepted
    run = plant.run(offer.run_id)
    assert (run.state, run.reason_code) == ("failed", "curve_out_of_run")
    assert run.reason is not None
    assert run.reason.startswith(f"the result was rejected: curve load1 has values of {year:%Y}-01-01 00:00:00 UTC")
    assert run.reason.endswith("; check the node's clock and the agent's version")
    assert stored(plant) == []


def test_a_curve_that_reaches_beyond_the_run_is_refused(plant: Site) -> None:
    agent, offer = plant.start_load()
    slow = piece(plant.clock(), *[1.0] * 600).model_copy(update={"step_seconds": 3_600.0})
    with raised(CURVE_OUT_OF_RUN):
        agent.heartbeat(heartbeat(offer, plant.clock(), slow))


@pytest.mark.parametrize("year", [1990, 2080])
def test_curves_of_a_node_with_a_clock_years_off_move_to_the_start_of_its_run(plant: Site, year: int) -> None:
    wrong, now = plant.clock().replace(year=year), plant.clock()
    agent, offer = plant.start_load(started_at=wrong)
    begun = plant.run(offer.run_id).created_at
    plant.clock.move(20)
    agent.heartbeat(heartbeat(offer, wrong, piece(wrong + timedelta(seconds=5), 1.0, 2.0)))
    plant.clock.move(10)
    late = piece(wrong + timedelta(seconds=7), 3.0)
    ended_at = wrong + timedelta(seconds=9)
    agent.hand_in(offer, agent.result(offer, started_at=wrong, ended_at=ended_at, curves=(late,)))
    run = plant.run(offer.run_id)
    assert (run.state, [flag["code"] for flag in run.flags]) == ("finished", ["NODE_TIME"])
    assert run.started_at is not None
    assert min(begun, now) <= run.started_at <= now
    assert stored(plant) == [run.started_at + timedelta(seconds=5)]  # one stretch without a gap


def test_the_pieces_and_counters_of_an_order_are_limited(plant: Site) -> None:
    now = plant.clock()
    agent, offer = plant.start_load()
    far = [piece(now + timedelta(seconds=10 * place)) for place in range(4)]
    with plant.database.transaction() as session, raised(REPORT_TOO_LARGE) as refused:
        results.store_curves(session, offer.order_id, far, ReportLimits(curve_pieces=3))
    assert (refused.value.status, refused.value.field, refused.value.value) == (422, "curves", 4)
    assert str(refused.value) == "curves: 4 pieces of curves; at most 3"
    named = [piece(now, counter=f"c{place}") for place in range(4)]
    with plant.database.transaction() as session, raised(REPORT_TOO_LARGE, match="4 counters; at most 3"):
        results.store_curves(session, offer.order_id, named, ReportLimits(counters=3))
    del agent


def test_a_run_of_many_days_may_have_more_pieces_but_not_without_end(plant: Site) -> None:
    now = plant.clock()
    assert ReportLimits().of_order(now, now + timedelta(days=3, hours=5)).curve_pieces == 4 * 50_000
    assert ReportLimits().of_order(now, now + timedelta(days=30, hours=5)).curve_pieces == 7 * 50_000
    assert ReportLimits().of_order(now + timedelta(hours=1), now).curve_pieces == 50_000


def test_thinning_costs_what_is_stored_and_never_the_time_in_between() -> None:
    apart = [Stretch(LONG_AGO, 1.0, (1.0, 3.0)), Stretch(FAR_AHEAD, 1.0, (5.0, 7.0))]
    with little_memory():
        thinned = thin_old(apart, 60.0)
        shown = thin(apart, 600)
    assert [(row.started_at, row.values, row.lows, row.highs) for row in thinned] == [
        (LONG_AGO, (2.0,), (1.0,), (3.0,)),
        (FAR_AHEAD, (6.0,), (5.0,), (7.0,)),
    ]
    assert len(shown.values) <= 600


def test_retention_goes_on_past_a_curve_of_other_years_that_an_earlier_release_took(session: Session) -> None:
    now = datetime.now(UTC)
    measured = Measured(session, now - timedelta(days=100))
    run = measured.run(measured.cell())
    order = measured.order(run)
    session.flush()
    results.store_curves(session, order.id, [piece(LONG_AGO, 1.0, 3.0), piece(FAR_AHEAD, 5.0)])
    run.state, run.ended_at = "finished", now - timedelta(days=100)
    session.flush()
    retention.set_rule(session, sessions.console_principal(session, now), RetentionRule(None, 1), now)
    with little_memory():
        give_up_old(session, 1)
    rows = session.execute(select(CurveChunk.started_at, CurveChunk.values).order_by(CurveChunk.started_at)).all()
    assert [tuple(row) for row in rows] == [(LONG_AGO, [2.0]), (FAR_AHEAD, [5.0])]
