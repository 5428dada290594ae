from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import psycopg
import pytest
from factories.raised import raised
from factories.rows import upgrade
from psycopg import errors
from sqlalchemy import Engine, text

from iotide_server.kit.migrations import (
    MIGRATION_BLOCKED,
    OLDEST_SERVED,
    SCHEMA_BEHIND,
    SCHEMA_TOO_NEW,
    SCHEMA_TOO_OLD,
    LockPatience,
    check_schema,
    known_revisions,
    migrate,
    require_schema,
)
from iotide_server.tables import metadata

QUICK = LockPatience(lock_wait=timedelta(milliseconds=100), pause=timedelta(milliseconds=50))
BEFORE_A_COLUMN_OF_RUNS = "0041"


@pytest.fixture
def engine(empty_engine: Engine) -> Engine:
    return empty_engine


def test_a_migration_that_waits_for_a_long_transaction_lets_the_traffic_pass_and_comes_in_the_end(
    engine: Engine, empty: str
) -> None:
    upgrade(engine, BEFORE_A_COLUMN_OF_RUNS)
    gave_way, passed, may_end = Event(), 0, Event()

    def between_tries(_: float) -> None:
        gave_way.set()
        may_end.wait(0.05)

    with psycopg.connect(empty) as long_one, ThreadPoolExecutor(1) as pool:
        long_one.execute("UPDATE run SET overdue = overdue")  # like an ingest that never ends
        done = pool.submit(migrate, engine, QUICK, between_tries)
        assert gave_way.wait(20)
        with psycopg.connect(empty, autocommit=True, options="-c statement_timeout=5000") as traffic:
            for number in range(50):
                traffic.execute("INSERT INTO cluster (name) VALUES (%s)", [f"c{number}"])
                traffic.execute("UPDATE run SET overdue = overdue")
                passed += 1
        assert (passed, done.done()) == (50, False)
        long_one.rollback()
        may_end.set()
        done.result(timeout=60)
    check_schema(engine, metadata)


def test_a_migration_that_never_gets_its_lock_reports_the_likely_cause_and_leaves_the_schema_unchanged(
    engine: Engine, empty: str
) -> None:
    upgrade(engine, BEFORE_A_COLUMN_OF_RUNS)
    given_up = LockPatience(lock_wait=timedelta(milliseconds=50), in_all=timedelta(seconds=1))
    with psycopg.connect(empty) as long_one:
        long_one.execute("UPDATE run SET overdue = overdue")
        with raised(MIGRATION_BLOCKED, match="lock timeout") as refused:
            migrate(engine, given_up, lambda _: None)
    assert "pg_stat_activity" in (refused.value.remedy or "")
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == BEFORE_A_COLUMN_OF_RUNS
        assert connection.scalar(text("SHOW lock_timeout")) == "0"


def test_only_a_lock_is_tried_again(engine: Engine) -> None:
    upgrade(engine, BEFORE_A_COLUMN_OF_RUNS)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE run ADD COLUMN not_judged int"))
    with pytest.raises(Exception, match="already exists") as refused:
        migrate(engine, QUICK, lambda _: pytest.fail("tried again"))
    assert isinstance(refused.value.__cause__, errors.DuplicateColumn)


def test_a_part_starts_only_on_the_schema_of_its_release_and_names_the_remedy(engine: Engine) -> None:
    with raised(SCHEMA_BEHIND, match="no schema") as refused:
        require_schema(engine)
    assert refused.value.remedy == "run `iotide-server migrate`"
    upgrade(engine, BEFORE_A_COLUMN_OF_RUNS)
    with raised(SCHEMA_BEHIND, match=BEFORE_A_COLUMN_OF_RUNS):
        require_schema(engine)
    migrate(engine)
    require_schema(engine)


@pytest.mark.parametrize("asked", [require_schema, migrate])
def test_a_schema_from_before_the_first_release_is_refused_with_the_release_that_upgrades_it(
    engine: Engine, asked: Callable[[Engine], None]
) -> None:
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0017'"))
    with raised(SCHEMA_TOO_OLD, match=r"0017 is too old; this release upgrades from 0032") as refused:
        asked(engine)
    assert "of release 0.2.0 first" in (refused.value.remedy or "")


@pytest.mark.parametrize("asked", [require_schema, migrate])
@pytest.mark.parametrize(("floor", "serves"), [(OLDEST_SERVED, True), (None, True), ("9000", False)])
def test_a_newer_schema_is_served_and_kept_while_it_promises_compatibility(
    migrated_engine: Engine, asked: Callable[[Engine], None], floor: str | None, *, serves: bool
) -> None:
    with migrated_engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9001'"))
        connection.execute(
            text("UPDATE schema_floor SET revision = coalesce(:floor, :head)"),
            {"floor": floor, "head": known_revisions()[0]},
        )
    if serves:
        asked(migrated_engine)
        with migrated_engine.connect() as connection:
            assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "9001"
        return
    with raised(SCHEMA_TOO_NEW, match="9001") as refused:
        asked(migrated_engine)
    assert "start the release that migrated it" in (refused.value.remedy or "")


def test_a_newer_schema_that_promises_nothing_is_not_served(migrated_engine: Engine) -> None:
    with migrated_engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9001'"))
        connection.execute(text("DROP TABLE schema_floor"))
    with raised(SCHEMA_TOO_NEW):
        require_schema(migrated_engine)
