"""Work that waits for an outside service, and work that is requested again."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from factories.clock import MovedClock
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.kit.db import Database
from iotide_server.kit.work import HELD_FOR, Errand, do_work, run_errand, want_work


@pytest.fixture
def wanted(database: Database, clock: MovedClock) -> Callable[[], None]:
    """Request the errand of the tests."""

    def want() -> None:
        with database.transaction() as session:
            want_work(session, "call", 7, clock())

    want()
    return want


def rows(database: Database) -> list[tuple[bool, datetime, str | None]]:
    """Return for each row of work whether it is wanted, its due time, and why it failed."""
    with database.transaction() as session:
        found = session.execute(text("SELECT done_version < version, due_at, failure FROM work"))
        return [(bool(row[0]), row[1], row[2]) for row in found]


class Calls:
    """An errand that records its calls."""

    def __init__(self, *, again_at: datetime | None = None, on_the_way: Callable[[], None] = lambda: None) -> None:
        self.seen: list[str] = []
        self.again_at = again_at
        self.on_the_way = on_the_way

    @property
    def errand(self) -> Errand[str, str]:
        return Errand(self._begin, self._go, self._end)

    def _begin(self, session: Session, key: int) -> str:
        session.execute(text("INSERT INTO cluster (name) VALUES ('begun') ON CONFLICT DO NOTHING"))
        return f"task {key}"

    def _go(self, task: str) -> str:
        self.on_the_way()
        self.seen.append(task)
        return "done"

    def _end(self, _: Session, key: int, outcome: str) -> datetime | None:
        self.seen.append(f"{outcome} {key}")
        return self.again_at


@pytest.mark.usefixtures("wanted")
def test_an_errand_holds_no_connection_while_it_is_out(database: Database, clock: MovedClock) -> None:
    def look() -> None:
        with database.transaction() as session:
            others = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
            )
            assert session.scalar(text(others)) == 0
            assert session.scalar(text("SELECT name FROM cluster")) == "begun"

    calls = Calls(on_the_way=look)
    for _ in range(2):
        run_errand(database, calls.errand, "call", 7, clock())
    assert calls.seen == ["task 7", "done 7"]
    assert rows(database)[0][0] is False


@pytest.mark.usefixtures("wanted")
def test_a_running_errand_is_not_run_elsewhere_until_its_worker_is_presumed_dead(
    database: Database, clock: MovedClock
) -> None:
    second = Calls()

    def be_named_twice() -> None:
        run_errand(database, second.errand, "call", 7, clock())

    def die() -> None:
        raise KeyboardInterrupt

    run_errand(database, Calls(on_the_way=be_named_twice, again_at=clock()).errand, "call", 7, clock())
    assert second.seen == []
    with pytest.raises(KeyboardInterrupt):
        run_errand(database, Calls(on_the_way=die).errand, "call", 7, clock())
    run_errand(database, second.errand, "call", 7, clock.move(HELD_FOR.total_seconds() - 1))
    assert second.seen == []
    run_errand(database, second.errand, "call", 7, clock.move(1))
    assert second.seen == ["task 7", "done 7"]


@pytest.mark.usefixtures("wanted")
def test_an_errand_that_is_to_be_run_again_rests_until_then(database: Database, clock: MovedClock) -> None:
    later = clock() + timedelta(minutes=10)
    calls = Calls(again_at=later)
    for _ in range(2):  # the second message is a duplicate
        run_errand(database, calls.errand, "call", 7, clock())
    assert (len(calls.seen), rows(database)) == (2, [(True, later, None)])
    run_errand(database, calls.errand, "call", 7, clock.move(600))
    assert len(calls.seen) == 4


def test_an_errand_wanted_again_while_it_is_out_is_run_again_at_once(
    database: Database, clock: MovedClock, wanted: Callable[[], None]
) -> None:
    calls = Calls(again_at=clock() + timedelta(days=1), on_the_way=wanted)
    for _ in range(2):
        run_errand(database, calls.errand, "call", 7, clock())
    assert len(calls.seen) == 4


@pytest.mark.usefixtures("wanted")
def test_a_failed_errand_shows_why_and_can_be_run_again(database: Database, clock: MovedClock) -> None:
    def fail() -> None:
        raise ValueError("no such place")

    with pytest.raises(ValueError, match="no such place"):
        run_errand(database, Calls(on_the_way=fail).errand, "call", 7, clock())
    assert rows(database) == [(True, clock(), "ValueError: no such place")]
    calls = Calls()
    run_errand(database, calls.errand, "call", 7, clock())
    assert rows(database) == [(False, clock(), None)]


@pytest.mark.usefixtures("wanted")
def test_work_may_name_the_moment_at_which_it_is_done_again(database: Database, clock: MovedClock) -> None:
    next_week = clock() + timedelta(weeks=1)
    do_work(database, {"call": lambda *_: next_week}, "call", 7)
    assert rows(database) == [(True, next_week, None)]
