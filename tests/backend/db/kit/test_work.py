import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from factories.clock import MovedClock
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.kit.db import Database
from iotide_server.kit.work import do_work, want_work


def want(database: Database, clock: MovedClock) -> None:
    with database.transaction() as session:
        want_work(session, "count", 7, clock())


def open_work(database: Database) -> list[str | None]:
    """Of each row that is still to be done, why it failed."""
    with database.transaction() as session:
        return list(session.scalars(text("SELECT failure FROM work WHERE done_version < version")))


def test_work_is_done_once_however_often_it_is_named(database: Database, clock: MovedClock) -> None:
    done: list[int] = []
    want(database, clock)
    for _ in range(3):
        do_work(database, {"count": lambda _, key: done.append(key)}, "count", 7)
    assert (done, open_work(database)) == ([7], [])


def test_work_that_nobody_wants_is_not_done(database: Database) -> None:
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


def test_two_workers_are_never_at_the_same_work(database: Database, clock: MovedClock) -> None:
    begun, go_on = threading.Event(), threading.Event()
    done: list[int] = []

    def work_slowly(_: Session, key: int) -> None:
        begun.set()
        assert go_on.wait(10)
        done.append(key)

    want(database, clock)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(do_work, database, {"count": work_slowly}, "count", 7)
        assert begun.wait(10)
        do_work(database, {"count": lambda _, key: done.append(-key)}, "count", 7)
        assert done == []
        go_on.set()
        first.result()
    assert done == [7]
