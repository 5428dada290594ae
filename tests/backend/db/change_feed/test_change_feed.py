from datetime import timedelta

from factories.announced import NOW
from sqlalchemy.orm import Session

from iotide_server.change_feed import repository, service
from iotide_server.change_feed.models import Change


def publish(session: Session, at_seconds: float, subject_id: int) -> int:
    change = Change(at=NOW + timedelta(seconds=at_seconds), kind="run", subject_id=subject_id, cluster_id=1)
    session.add(change)
    session.flush()
    return change.id


def missed(session: Session, last_id: int) -> list[int] | None:
    changes = repository.missed_since(session, last_id)
    return None if changes is None else [change.subject_id for change in changes]


def test_a_reader_catches_up_from_its_last_change(session: Session) -> None:
    last_id = publish(session, 0, 1)
    publish(session, 100, 2)
    publish(session, 200, 3)
    assert missed(session, last_id) == [2, 3]


def test_changes_of_a_slow_transaction_are_repeated(session: Session) -> None:
    publish(session, -100, 1)
    publish(session, -20, 2)
    last_id = publish(session, 0, 3)
    assert missed(session, last_id) == [2]


def test_changes_since_a_deleted_row_are_unknown(session: Session) -> None:
    last_id = publish(session, 0, 1)
    latest_id = publish(session, 3700, 2)
    repository.forget_old(session, NOW + timedelta(seconds=3700))
    assert missed(session, last_id) is None
    assert missed(session, latest_id) == []
    assert repository.latest_id(session) == latest_id


def test_too_many_missed_changes_are_unknown(session: Session) -> None:
    last_id = publish(session, 0, 1)
    session.add_all(Change(at=NOW, kind="run", subject_id=number, cluster_id=1) for number in range(4001))
    session.flush()
    assert missed(session, last_id) is None


def test_a_reader_gets_only_the_latest_change_of_each_subject(session: Session) -> None:
    last_id = publish(session, 0, 1)
    for at_seconds in range(1, 1200):
        publish(session, at_seconds / 100, 2 + at_seconds % 2)
    assert missed(session, last_id) == [2, 3]


def test_many_changes_are_published_at_once(session: Session) -> None:
    service.publish_all(session, [("run", 7, 1), ("campaign", 8, None)])
    service.publish_all(session, [])
    rows = [(row.kind, row.subject_id, row.cluster_id) for row in session.query(Change).order_by(Change.id)]
    assert rows == [("run", 7, 1), ("campaign", 8, None)]


def test_very_many_of_one_kind_are_one_change_for_each_cluster(session: Session) -> None:
    last_id = publish(session, 0, 1)
    many = [("series", number, cluster_id) for cluster_id in (1, 2) for number in range(1, 22)]
    service.publish_all(session, [("campaign", 8, 1), *many, *(("series", number, 3) for number in range(1, 21))])
    rows = [(row.kind, row.subject_id, row.cluster_id) for row in session.query(Change).where(Change.id > last_id)]
    assert sorted(rows)[:1] == [("campaign", 8, 1)]
    assert {row for row in rows if row[1] == service.ANY} == {("series", 0, 1), ("series", 0, 2)}
    assert len(rows) == 1 + 2 + 20
    assert len(missed(session, last_id) or ()) == 23
