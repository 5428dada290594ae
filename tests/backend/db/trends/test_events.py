"""Events: differences that runs saw, and their effect on series."""

from datetime import UTC, datetime, timedelta

import pytest
from factories.histories import history, levels
from factories.measured import Measured, finish, sample
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from iotide_server.change_feed.models import Change
from iotide_server.kit.work import Work
from iotide_server.results.models import Series
from iotide_server.trends.changes.analysis import analyse_series
from iotide_server.trends.events.judging import EVENTS, judge_event
from iotide_server.trends.events.schemas import SeriesEvent
from iotide_server.trends.models import Event, EventEffect
from iotide_server.trends.points.service import recompute_points

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


def run_with(measured: Measured, kernel: str, day: int, metric: str = "write_rate") -> None:
    cell = measured.cell()
    result = finish(NOW, sample(100.0, metric), environment={"kernel": kernel})
    measured.deliver(cell, result, minutes=day * 1440)
    recompute_points(measured.session, cell.id)


def events(session: Session) -> list[Event]:
    session.flush()
    session.expire_all()
    return list(session.scalars(select(Event).order_by(Event.at)))


def effects(session: Session) -> list[EventEffect]:
    session.flush()
    session.expire_all()
    return list(session.scalars(select(EventEffect).order_by(EventEffect.event_id, EventEffect.series_id)))


def test_another_kernel_is_one_event_scoped_to_the_series_that_saw_it(session: Session, measured: Measured) -> None:
    run_with(measured, "6.1.0-30", 0)
    run_with(measured, "6.1.0-30", 2, "wait")
    run_with(measured, "6.1.0-35", 4)
    (event,) = events(session)
    assert (event.text, event.kind, event.told_by) == ("kernel: 6.1.0-30 -> 6.1.0-35", "environment", None)
    assert (event.since, event.at) == (NOW, NOW + timedelta(days=4))
    run_with(measured, "6.1.0-35", 3, "wait")
    (narrower,) = events(session)
    assert narrower.id == event.id
    assert (narrower.since, narrower.at) == (NOW + timedelta(days=2), NOW + timedelta(days=3))
    assert len({effect.series_id for effect in effects(session)}) == 2


def test_there_and_back_and_there_again_are_three_events(session: Session, measured: Measured) -> None:
    for day, kernel in enumerate(["a", "b", "a", "b"]):
        run_with(measured, kernel, day)
    assert [event.text for event in events(session)] == ["kernel: a -> b", "kernel: b -> a", "kernel: a -> b"]


def test_computing_a_cell_again_notes_nothing_twice(session: Session, measured: Measured) -> None:
    run_with(measured, "a", 0)
    cell = measured.cell()
    measured.deliver(cell, finish(NOW, sample(100.0), environment={"kernel": "b"}), minutes=1440)
    recompute_points(session, cell.id)
    recompute_points(session, cell.id)
    assert len(events(session)) == 1
    assert len(effects(session)) == 1


@pytest.mark.parametrize(
    ("after", "look", "effect"),
    [(3, 0, "pending"), (4, 4, "shifted"), (7, 4, "shifted"), (8, 8, "shifted"), (12, 8, "shifted")],
)
def test_an_event_is_judged_by_four_points_and_once_more_by_eight(
    session: Session, measured: Measured, after: int, look: int, effect: str
) -> None:
    series = history(measured, levels((20, 100.0), (after, 80.0)))
    at = NOW + timedelta(days=19, hours=12)
    session.add(
        Event(
            cluster_id=measured.cluster.id,
            kind="manual",
            since=at,
            at=at,
            text="a disk was replaced",
            node_ids=[measured.node.id],
            target_ids=[],
            told_by="ada",
        )
    )
    session.flush()
    analyse_series(session, series.id)
    (judged,) = effects(session)
    assert (judged.look, judged.effect, judged.points_before, judged.points_after) == (look, effect, 20, look or after)
    if look:
        assert judged.shift_ratio == pytest.approx(-0.2, abs=0.01)


def test_events_of_other_nodes_or_before_the_first_point_do_not_concern_the_series(
    session: Session, measured: Measured
) -> None:
    series = history(measured, levels((20, 100.0)))
    for at, node_ids in ((NOW + timedelta(days=9), [measured.node.id + 1]), (NOW - timedelta(days=9), [])):
        session.add(
            Event(
                cluster_id=measured.cluster.id,
                kind="manual",
                since=at,
                at=at,
                text="elsewhere",
                node_ids=node_ids,
                target_ids=[],
                told_by="ada",
            )
        )
    session.flush()
    analyse_series(session, series.id)
    assert effects(session) == []


def stored_event(session: Session, measured: Measured, p_values: list[float]) -> tuple[Event, list[EventEffect]]:
    """Return an event with one shifted series for each p."""
    event = Event(cluster_id=measured.cluster.id, kind="manual", since=NOW, at=NOW, text="a disk was replaced")
    event.node_ids = event.target_ids = []
    session.add(event)
    first = history(measured, levels((1, 100.0)))
    found = []
    for number, p in enumerate(p_values):
        copied = {column.key: getattr(first, column.key) for column in Series.__mapper__.column_attrs}
        series = Series(**copied | {"id": None, "key_sha256": f"key {number}"})
        session.add(series)
        session.flush()
        found.append(EventEffect(event_id=event.id, series_id=series.id, look=8, effect="none_shown", p_value=p))
        if p < 0.01:
            found[-1].effect, found[-1].shift_ratio = "shifted", -0.1
    session.add_all(found)
    session.flush()
    return event, found


def shown(event: Event, effect: EventEffect) -> SeriesEvent:
    return SeriesEvent.of((event, effect), "higher")  # type: ignore[arg-type]  # a row is a tuple


def test_of_many_series_few_that_shifted_may_be_chance(session: Session, measured: Measured) -> None:
    event, found = stored_event(session, measured, [0.004, 0.006, *[0.5] * 48])
    assert [shown(event, effect).effect for effect in found[:2]] == ["shifted", "shifted"]
    judge_event(session, event.id)
    assert (event.judged_series, event.shifted_series, event.most_p) == (50, 2, None)
    answer = shown(event, found[0])
    assert (answer.effect, answer.p_value) == ("none_shown", 0.004)
    assert answer.words == "10.0 % lower, worse (0 points after, 0 before): may be chance"
    assert answer.event.series_words == "2 of 50 series shifted, 0.5 expected by chance"


def test_an_event_that_shifted_many_series_is_judged_with_them(session: Session, measured: Measured) -> None:
    event, found = stored_event(session, measured, [0.001, 0.004, 0.006, 0.5])
    updates = select(func.count()).select_from(Change).where(Change.kind == "series")
    counts = []
    for _ in range(2):
        before = session.scalars(updates).one()
        judge_event(session, event.id)
        counts.append(session.scalars(updates).one() - before)
    assert [shown(event, effect).effect for effect in found] == ["shifted"] * 3 + ["none_shown"]
    assert counts == [3, 0]


def test_an_event_is_judged_with_all_its_series_once_an_effect_is_new(session: Session, measured: Measured) -> None:
    series = history(measured, levels((20, 100.0), (4, 80.0)))
    event = Event(cluster_id=measured.cluster.id, kind="manual", since=NOW, at=NOW + timedelta(days=19, hours=12))
    event.text, event.node_ids, event.target_ids = "a disk was replaced", [], []
    session.add(event)
    session.flush()
    for _ in range(2):
        analyse_series(session, series.id)
    session.flush()
    (wanted,) = session.scalars(select(Work).where(Work.kind == EVENTS))
    assert (wanted.key, wanted.version) == (event.id, 1)
    judge_event(session, event.id)
    assert (event.judged_series, event.shifted_series) == (1, 1)
    judge_event(session, event.id + 1)
