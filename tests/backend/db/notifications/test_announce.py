from datetime import timedelta
from decimal import InvalidOperation

import pytest
from factories.clock import MovedClock
from factories.raised import raised
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Cluster
from iotide_server.notifications import digests, service
from iotide_server.notifications.digests import DueDigest, plan_digest, send_digests
from iotide_server.notifications.errors import CHANNEL_NOT_FOUND
from iotide_server.notifications.models import Channel, Delivery
from iotide_server.notifications.service import Message, announce, channels_for

NIGHT = {"from": "22:00", "until": "12:00", "time_zone": "UTC"}
SUNDAY_NOON = {"weekday": "sunday", "hour": 12, "time_zone": "UTC"}


@pytest.fixture
def cluster_ids(session: Session) -> list[int]:
    made = [Cluster(name=name) for name in ("blade", "rack")]
    session.add_all(made)
    session.flush()
    return [cluster.id for cluster in made]


def channel(session: Session, cluster_id: int | None = None, **fields: object) -> Channel:
    made = Channel(cluster_id=cluster_id, name=f"c{cluster_id}", kind="slack", settings={}, **fields)
    session.add(made)
    session.flush()
    return made


def alert(cluster_id: int | None) -> Message:
    return Message("alert", cluster_id, "write is slower", "by 12 %", "/alerts/12", {"alert_id": 12})


def messages(session: Session) -> list[tuple[int, str]]:
    return [(row.channel_id, row.key) for row in session.query(Delivery).order_by(Delivery.id)]


def test_each_channel_is_notified_once_and_only_of_its_own_cluster(
    session: Session, cluster_ids: list[int], clock: MovedClock
) -> None:
    own, other = (channel(session, cluster_id).id for cluster_id in cluster_ids)
    everywhere = channel(session).id
    for _ in range(2):
        announce(session, alert(cluster_ids[0]), channel_ids=[own, other, everywhere, 999], key="alert 12", now=clock())
    assert messages(session) == [(own, "alert 12"), (everywhere, "alert 12")]
    wanted = session.execute(text("SELECT kind, due_at FROM work")).all()
    assert [(row.kind, row.due_at) for row in wanted] == [("delivery", clock())] * 2


def test_a_message_in_quiet_hours_waits_for_their_end(
    session: Session, cluster_ids: list[int], clock: MovedClock
) -> None:
    quiet = channel(session, quiet_hours=NIGHT)
    announce(session, alert(cluster_ids[0]), channel_ids=[quiet.id], key="a", now=clock())
    noon = clock() + timedelta(hours=2)
    assert session.query(Delivery).one().due_at == noon
    assert session.scalars(text("SELECT due_at FROM work")).one() == noon


def test_channels_that_do_not_cover_the_cluster_are_named(session: Session, cluster_ids: list[int]) -> None:
    own, other = (channel(session, cluster_id) for cluster_id in cluster_ids)
    everywhere = channel(session)
    assert channels_for(session, cluster_ids[0], [everywhere.id, own.id], field="channels") == [everywhere, own]
    with raised(CHANNEL_NOT_FOUND) as refused:
        channels_for(session, cluster_ids[0], [own.id, other.id], field="channels")
    assert refused.value.field == "channels[1]"
    with raised(CHANNEL_NOT_FOUND):
        channels_for(session, None, [own.id], field="channels")


def test_deliveries_that_ended_ninety_days_ago_are_removed_with_their_work(
    session: Session, cluster_ids: list[int], clock: MovedClock
) -> None:
    one = channel(session)
    for key, state in (("old", "delivered"), ("open", "waiting")):
        announce(session, alert(cluster_ids[0]), channel_ids=[one.id], key=key, now=clock())
        session.query(Delivery).filter_by(key=key).one().state = state
        session.flush()
    service.forget_old(session, clock.move(90 * 86_400))
    assert len(messages(session)) == 2
    service.forget_old(session, clock.move(1))
    assert messages(session) == [(one.id, "open")]
    assert session.scalars(text("SELECT count(*) FROM work")).one() == 1


def digest_of(session: Session, digest: DueDigest) -> Message | None:
    """Return the digest of the newest cluster, which has no alert."""
    if digest.cluster_id == max(session.scalars(text("SELECT id FROM cluster"))):
        return None
    return Message("digest", digest.cluster_id, "the week", f"{digest.since:%d} to {digest.until:%d}", "/", {})


def test_a_digest_comes_once_a_week_for_each_cluster_with_content(
    session: Session, cluster_ids: list[int], clock: MovedClock
) -> None:
    everywhere = channel(session)
    everywhere.digest = SUNDAY_NOON
    plan_digest(session, everywhere, clock())
    first = clock() + timedelta(days=1, hours=2)
    assert session.execute(text("SELECT kind, key, due_at FROM work")).one() == ("digest", everywhere.id, first)
    assert send_digests(session, everywhere.id, clock(), digest_of) == first
    assert messages(session) == []
    second = first + timedelta(weeks=1)
    for _ in range(2):
        assert send_digests(session, everywhere.id, first, digest_of) == second
    assert [(row.cluster_id, row.text) for row in session.query(Delivery)] == [(cluster_ids[0], "15 to 22")]


def test_a_digest_that_cannot_be_written_is_reported_and_delays_no_other(
    session: Session, cluster_ids: list[int], clock: MovedClock
) -> None:
    everywhere = channel(session)
    everywhere.digest = SUNDAY_NOON
    plan_digest(session, everywhere, clock())

    def compose(session: Session, digest: DueDigest) -> Message | None:
        if digest.cluster_id == cluster_ids[0]:
            session.execute(text("UPDATE cluster SET name = 'half written'"))
            raise InvalidOperation
        return Message("digest", digest.cluster_id, "the week", "", "/", {})

    send_digests(session, everywhere.id, clock.move(86_400 * 2), compose)
    subjects = dict(session.query(Delivery.cluster_id, Delivery.subject).all())
    assert subjects == {
        cluster_ids[0]: f"the digest of cluster {cluster_ids[0]} could not be created",
        cluster_ids[1]: "the week",
    }
    assert "half written" not in session.scalars(text("SELECT name FROM cluster")).all()


def test_digests_of_weeks_without_a_worker_are_one(session: Session, cluster_ids: list[int], clock: MovedClock) -> None:
    own = channel(session, cluster_ids[0])
    own.digest = SUNDAY_NOON
    plan_digest(session, own, clock())
    late = clock.move(23 * 86_400)
    due = digests.due_digests(session, own.id, late)
    assert [(digest.since.day, digest.until.day) for digest in due] == [(6, 13)]
    assert send_digests(session, own.id, late, digest_of) == due[0].until + timedelta(weeks=1)
    assert len(messages(session)) == 1


def test_a_channel_without_a_digest_is_not_asked_again(session: Session, clock: MovedClock) -> None:
    assert send_digests(session, channel(session).id, clock(), digest_of) is None
    assert send_digests(session, 999, clock(), digest_of) is None
