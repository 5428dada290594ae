"""Groups and their single message, stale series, digests."""

from datetime import UTC, datetime, timedelta

import pytest
from factories.histories import another, confirmed_change, history, levels
from factories.measured import Measured
from factories.schedules import add_schedule
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.alerts.digest import compose
from iotide_server.alerts.incidents.notifying import send_incident
from iotide_server.alerts.models import Alert, AlertRule, AlertRuleChannel, Incident, SeriesMute
from iotide_server.alerts.oversight import watch_cluster
from iotide_server.alerts.raising import raise_alerts
from iotide_server.alerts.reading import of_incident
from iotide_server.notifications.digests import DueDigest
from iotide_server.notifications.models import Channel, Delivery
from iotide_server.results.models import Series
from iotide_server.schedules.models import Firing
from iotide_server.targets.models import TargetMount
from iotide_server.trends.changes.recoveries import write_recoveries

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture
def measured(session: Session) -> Measured:
    return Measured(session, NOW)


@pytest.fixture
def series(measured: Measured) -> Series:
    return history(measured, levels((12, 100.0)))


@pytest.fixture
def rule(measured: Measured) -> AlertRule:
    """Notifies one channel of every regression."""
    session = measured.session
    channel = Channel(cluster_id=measured.cluster.id, name="ops", kind="slack", settings={})
    made = AlertRule(
        cluster_id=measured.cluster.id,
        name="all",
        least_shift_ratio=0.03,
        directions="worse",
        missing_runs=True,
        control_workload="control",
        created_at=NOW,
    )
    session.add_all([channel, made])
    session.flush()
    session.add(AlertRuleChannel(rule_id=made.id, channel_id=channel.id))
    session.flush()
    return made


def change(session: Session, series: Series, day: int) -> None:
    """Add a regression of the series on that day."""
    confirmed_change(session, series, NOW + timedelta(days=day), 100.0, 80.0)
    raise_alerts(session, series.id)


def groups(session: Session) -> list[Incident]:
    session.flush()
    session.expire_all()
    return list(session.scalars(select(Incident).order_by(Incident.id)))


def subjects(session: Session) -> list[str]:
    return list(session.scalars(select(Delivery.subject).order_by(Delivery.id)))


@pytest.mark.usefixtures("rule")
def test_changes_within_two_runs_are_one_group_and_one_message(session: Session, series: Series) -> None:
    change(session, series, 5)
    change(session, another(series, session, labels={"operation": "read"}, better="higher"), 7)
    (group,) = groups(session)
    assert group.node_ids == series.node_ids
    (due,) = session.execute(text("SELECT key, due_at - now() AS wait FROM work WHERE kind = 'alert_group'"))
    assert (due.key, due.wait) == (group.id, timedelta(seconds=30))
    send_incident(session, group.id)
    send_incident(session, group.id)
    assert subjects(session) == ["blade: 2 changes"]
    message = session.scalars(select(Delivery)).one()
    assert "Write rate of dd (Operation write) on node1, scratch: 20.0 % lower, worse" in message.text
    assert [alert["state"] for alert in message.data["alerts"]] == ["untriaged", "untriaged"]
    assert groups(session)[0].told_at is not None
    change(session, another(series, session, labels={"operation": "late"}, better="higher"), 6)
    send_incident(session, group.id)
    assert len(subjects(session)) == 1


@pytest.mark.usefixtures("rule")
def test_a_change_three_runs_later_is_another_group(session: Session, series: Series) -> None:
    change(session, series, 5)
    change(session, another(series, session, better="higher"), 8)
    assert len(groups(session)) == 2


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.usefixtures("rule")
def test_a_control_workload_that_changed_too_means_the_environment(
    session: Session, series: Series, *, is_first: bool
) -> None:
    control = another(series, session, workload="control", better="neither")
    moved = [control, series] if is_first else [series, control]
    for one in moved:
        change(session, one, 5)
    (group,) = groups(session)
    send_incident(session, group.id)
    assert subjects(session) == ["blade: environment: Write rate of dd (Operation write) 20.0 % lower, worse"]


@pytest.mark.usefixtures("rule")
def test_a_control_that_changed_at_another_time_means_nothing(session: Session, series: Series) -> None:
    change(session, another(series, session, workload="control", better="neither"), 9)
    change(session, series, 5)
    assert [group.is_environment for group in groups(session)] == [False, False]


@pytest.mark.parametrize("muted", ["series", "rule", "noise"])
def test_muted_and_judged_changes_are_not_notified(
    session: Session, series: Series, rule: AlertRule, muted: str
) -> None:
    change(session, series, 5)
    if muted == "series":
        session.add(SeriesMute(series_id=series.id, until=LATER, who="ada"))
    elif muted == "rule":
        rule.muted_until = LATER
    else:
        session.execute(text("UPDATE alert SET state = 'noise'"))
    session.flush()
    session.expire_all()
    send_incident(session, groups(session)[0].id)
    assert subjects(session) == []
    assert len(session.scalars(select(Alert)).all()) == 1


def scheduled(measured: Measured, series: Series, silent_days: int) -> None:
    """Make a schedule that measured the series and has fired without a result since."""
    session = measured.session
    schedule = add_schedule(session, measured.cluster.id, LATER)
    cells = session.execute(
        text("SELECT campaign_id, at FROM point WHERE series_id = :id ORDER BY at"), {"id": series.id}
    )
    fired = [(row.at, row.campaign_id) for row in cells]
    fired += [(fired[-1][0] + timedelta(days=day), measured.cell().campaign_id) for day in range(1, silent_days + 1)]
    session.add_all(
        Firing(schedule_id=schedule.id, planned_at=at, fired_at=at, campaign_id=campaign_id)
        for at, campaign_id in fired
    )
    session.flush()


@pytest.mark.usefixtures("rule")
def test_a_stale_scheduled_series_is_notified_once_and_recovers_with_its_next_point(
    session: Session, measured: Measured, series: Series
) -> None:
    session.execute(text("UPDATE point SET at = at - interval '100 days'"))
    scheduled(measured, series, silent_days=3)
    for _ in range(2):
        watch_cluster(session, measured.cluster.id)
    (alert,) = session.scalars(select(Alert)).all()
    assert (alert.kind, alert.state, alert.series_id) == ("missing", "untriaged", series.id)
    send_incident(session, groups(session)[0].id)
    assert subjects(session) == ["blade: Write rate of dd (Operation write) is stale"]
    history(measured, [100.0], first_day=1)
    raise_alerts(session, series.id)
    assert alert.state == "recovered"


@pytest.mark.usefixtures("rule")
def test_a_scheduled_series_that_lost_its_mount_is_notified_at_once_and_recovers_with_its_next_point(
    session: Session, measured: Measured, series: Series
) -> None:
    scheduled(measured, series, silent_days=0)
    watch_cluster(session, measured.cluster.id)
    assert session.scalars(select(Alert)).all() == []
    mount = TargetMount(
        target_id=measured.target.id,
        node_id=measured.node.id,
        path="/scratch",
        fstype="xfs",
        source="/dev/sda1",
        mount_options="rw",
        seen_at=LATER,
        problem="nothing is mounted there any more",
    )
    session.add(mount)
    session.flush()
    for _ in range(2):
        watch_cluster(session, measured.cluster.id)
    (alert,) = session.scalars(select(Alert)).all()
    (shown,) = of_incident(session, alert.group_id, NOW)
    assert (shown.kind, shown.at) == ("stale", LATER)
    assert shown.words == "no data since 2 Dec 2026: /scratch (scratch) is not mounted on node1"
    mount.problem = None
    history(measured, [100.0], first_day=20)
    raise_alerts(session, series.id)
    assert alert.state == "recovered"


@pytest.mark.usefixtures("rule")
def test_the_alert_of_a_stale_series_shows_why_its_schedule_fails(
    session: Session, measured: Measured, series: Series
) -> None:
    session.execute(text("UPDATE point SET at = at - interval '100 days'"))
    scheduled(measured, series, silent_days=3)
    for firing in session.scalars(select(Firing).order_by(Firing.id.desc()).limit(3)):
        firing.campaign_id, firing.problem = None, "node1 is retired"
    session.flush()
    watch_cluster(session, measured.cluster.id)
    (alert,) = session.scalars(select(Alert)).all()
    (shown,) = of_incident(session, alert.group_id, NOW)
    assert shown.words.startswith("no data since 24 Aug 2026: nightly failed 3 times in a row since 25 Aug 2026: ")
    assert shown.words.endswith(": node1 is retired")


@pytest.mark.usefixtures("rule")
def test_a_digest_lists_the_changes_of_its_week_and_the_open_alerts(
    session: Session, measured: Measured, series: Series
) -> None:
    change(session, series, 5)
    session.execute(text("UPDATE point SET robust_spread_ratio = 0.2"))
    since = NOW + timedelta(days=10)
    due = DueDigest(1, measured.cluster.id, since, since + timedelta(days=7), "key")
    message = compose(session, due)
    assert message is not None
    assert message.subject.endswith("1 change, 1 open alert, 0 stale series")
    assert "Noisiest series:\nWrite rate of dd: points scatter by 20 %" in message.text
    session.execute(text("UPDATE alert SET state = 'noise'"))
    session.expire_all()
    before = DueDigest(1, measured.cluster.id, NOW - timedelta(days=9), NOW - timedelta(days=2), "key")
    assert compose(session, before) is None


def test_a_digest_shows_a_drop_and_its_recovery_as_one_line(
    session: Session, measured: Measured, series: Series
) -> None:
    drop = confirmed_change(session, series, NOW + timedelta(days=1), 100.0, 80.0)
    rise = confirmed_change(session, series, NOW + timedelta(days=20), 80.0, 100.0)
    write_recoveries([drop, rise], series.better)
    session.flush()
    for first_day in (10, 29):
        since = NOW + timedelta(days=first_day - 1)
        message = compose(session, DueDigest(1, measured.cluster.id, since, since + timedelta(days=7), "key"))
        assert message is not None
        assert message.text.startswith(
            "Confirmed changes:\nWrite rate of dd (Operation write): "
            "20.0 % lower from 22 Nov to 11 Dec 2026, recovered (8 points after, 20 before)"
        )
        assert message.subject.endswith("1 change, 0 open alerts, 0 stale series")
        assert "higher" not in message.text
