import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from factories.clock import MovedClock
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.kit.db import Database
from iotide_server.kit.work import do_together, do_work, want_all, want_work
from iotide_server.scheduling.due import take_work


def want(database: Database, clock: MovedClock) -> None:
    with database.transaction() as session:
        want_work(session, "count", 7, clock())


def open_work(database: Database) -> list[str | None]:
    """Return why each open row failed."""
    with database.transaction() as session:
        return list(session.scalars(text("SELECT failure FROM work WHERE done_version < version")))


def test_work_is_done_once_however_often_it_is_named(database: Database, clock: MovedClock) -> None:
    done: list[int] = []
    want(database, clock)
    for _ in range(3):
        do_work(database, {"count": lambda _, key: done.append(key)}, "count", 7)
    assert (done, open_work(database)) == ([7], [])


def test_work_that_was_not_requested_is_not_done(database: Database) -> None:
    done: list[int] = []
    do_work(database, {"count": lambda _, key: done.append(key)}, "count", 7)
    assert done == []


def test_work_that_fails_leaves_nothing_but_why(database: Database, clock: MovedClock) -> None:
    def fail(session: Session, key: int) -> None:
        session.execute(text("INSERT INTO cluster (name) VALUES ('half done')"))
        raise ValueError(f"cell {key} makes no sense")

    want(database, clock)
    with pytest.raises(ValueError, match="makes no sense"):
        do_work(database, {"count": fail}, "count", 7)
    assert open_work(database) == ["ValueError: cell 7 makes no sense"]
    with database.transaction() as session:
        assert session.scalars(text("SELECT count(*) FROM cluster")).one() == 0
    do_work(database, {"count": lambda *_: None}, "count", 7)
    assert open_work(database) == []


def test_work_wanted_again_while_it_is_done_is_done_again(database: Database, clock: MovedClock) -> None:
    done: list[int] = []

    def work_and_be_overtaken(_: Session, key: int) -> None:
        done.append(key)
        if len(done) == 1:
            want(database, clock)

    want(database, clock)
    for _ in range(3):
        do_work(database, {"count": work_and_be_overtaken}, "count", 7)
    assert done == [7, 7]


def fail_for_days(database: Database) -> datetime:
    """Put all work in the state of work that failed for days; return the database's time a minute later."""
    with database.transaction() as session:
        session.execute(text("UPDATE work SET failure = 'no', sends = 13, due_at = now() + interval '6 hours'"))
        moment: datetime = session.scalars(text("SELECT now() + interval '1 minute'")).one()
    return moment


@pytest.mark.parametrize("again_after", [None, timedelta(hours=9)], ids=["done", "done_again_later"])
def test_failing_work_wanted_again_while_it_succeeds_is_due_at_once(
    database: Database, clock: MovedClock, again_after: timedelta | None
) -> None:
    """While it fails, its pauses last up to six hours, and a new request does not change that."""
    want(database, clock)
    soon = fail_for_days(database)

    def be_overtaken(_: Session, __: int) -> datetime | None:
        want(database, clock)
        return None if again_after is None else soon + again_after

    do_work(database, {"count": be_overtaken}, "count", 7)
    with database.transaction() as session:
        assert take_work(session, soon) == [("count", 7, False)]


def test_failing_work_wanted_again_while_it_succeeds_together_is_due_at_once(
    database: Database, clock: MovedClock
) -> None:
    want_three(database, clock)
    soon = fail_for_days(database)

    def be_overtaken(_: Session, __: Sequence[int]) -> list[int]:
        want(database, clock)
        return []

    assert do_together(database, be_overtaken, "count", [7, 8, 9]) == []
    with database.transaction() as session:
        assert take_work(session, soon) == [("count", 7, False)]


def test_two_workers_are_never_at_the_same_work(database: Database, clock: MovedClock) -> None:
    begun, resume = threading.Event(), threading.Event()
    done: list[int] = []

    def work_slowly(_: Session, key: int) -> None:
        begun.set()
        assert resume.wait(10)
        done.append(key)

    want(database, clock)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(do_work, database, {"count": work_slowly}, "count", 7)
        assert begun.wait(10)
        do_work(database, {"count": lambda _, key: done.append(-key)}, "count", 7)
        assert done == []
        resume.set()
        first.result()
    assert done == [7]


def keys_open(database: Database) -> list[int]:
    with database.transaction() as session:
        return list(session.scalars(text("SELECT key FROM work WHERE done_version < version ORDER BY key")))


def want_three(database: Database, clock: MovedClock) -> None:
    with database.transaction() as session:
        want_all(session, "count", [9, 7, 8, 7], clock())


def test_many_rows_are_done_together_and_what_the_handler_leaves_stays_wanted(
    database: Database, clock: MovedClock
) -> None:
    seen: list[int] = []

    def all_but_eight(_: Session, keys: Sequence[int]) -> list[int]:
        seen.extend(keys)
        return [8]

    want_three(database, clock)
    assert do_together(database, all_but_eight, "count", [7, 8, 9, 10]) == [8]
    assert (seen, keys_open(database)) == ([7, 8, 9], [8])


def test_many_rows_of_which_one_fails_are_all_left_to_be_done_one_by_one(database: Database, clock: MovedClock) -> None:
    def fail(session: Session, keys: Sequence[int]) -> list[int]:
        session.execute(text("INSERT INTO cluster (name) VALUES ('half done')"))
        raise ValueError(f"one of {keys} makes no sense")

    want_three(database, clock)
    assert do_together(database, fail, "count", [7, 8, 9]) == [7, 8, 9]
    assert keys_open(database) == [7, 8, 9]
    with database.transaction() as session:
        assert session.scalars(text("SELECT count(*) FROM cluster")).one() == 0


def test_many_rows_skip_one_that_is_running_and_keep_new_requests(database: Database, clock: MovedClock) -> None:
    seen: list[int] = []

    def be_overtaken(_: Session, keys: Sequence[int]) -> list[int]:
        seen.extend(keys)
        with database.transaction() as other:
            want_work(other, "count", 9, clock())
        return []

    def meanwhile(_: Session, key: int) -> None:
        assert key == 7
        assert do_together(database, be_overtaken, "count", [7, 8, 9]) == []

    want_three(database, clock)
    do_work(database, {"count": meanwhile}, "count", 7)
    assert (seen, keys_open(database)) == ([8, 9], [9])
