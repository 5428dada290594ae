from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, QueuePool, text
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from iotide_server.kit import db
from iotide_server.kit.db import open_engine


@pytest.fixture
def own_engine(database_url: str) -> Iterator[Engine]:
    engine = open_engine(database_url, pool_size=3)
    yield engine
    engine.dispose()


def process_ids(engine: Engine, count: int) -> list[int]:
    """Return the process ids of that many connections opened at once."""
    opened = [engine.connect() for _ in range(count)]
    try:
        return [connection.scalar(text("SELECT pg_backend_pid()")) or 0 for connection in opened]
    finally:
        for connection in opened:
            connection.close()


def end(engine: Engine, pids: list[int]) -> None:
    with engine.begin() as connection:
        connection.execute(
            text("SELECT pg_terminate_backend(CAST(pid AS integer), 10000) FROM unnest(:pids) AS pid"), {"pids": pids}
        )


def test_a_connection_that_was_just_used_is_used_again(own_engine: Engine) -> None:
    assert process_ids(own_engine, 1) == process_ids(own_engine, 1)


def test_connections_that_the_database_ended_are_replaced_without_a_failure(own_engine: Engine, engine: Engine) -> None:
    pids = process_ids(own_engine, 3)
    end(engine, pids)
    assert not set(process_ids(own_engine, 3)) & set(pids)


@pytest.mark.parametrize("fresh_seconds", [-1.0, 3600.0])
def test_a_connection_that_died_in_use_is_replaced_for_the_next(
    own_engine: Engine, engine: Engine, monkeypatch: pytest.MonkeyPatch, fresh_seconds: float
) -> None:
    monkeypatch.setattr(db, "FRESH_SECONDS", fresh_seconds)
    (pid,) = process_ids(own_engine, 1)
    with own_engine.connect() as connection:
        assert connection.scalar(text("SELECT pg_backend_pid()")) == pid
        connection.rollback()
        end(engine, [pid])
    assert process_ids(own_engine, 1) != [pid]


def test_no_connection_is_opened_beyond_those_that_are_kept(own_engine: Engine) -> None:
    assert isinstance(own_engine.pool, QueuePool)
    opened = [own_engine.connect() for _ in range(3)]
    own_engine.pool._timeout = 0
    with pytest.raises(PoolTimeoutError):
        own_engine.connect()
    for connection in opened:
        connection.close()


def test_postgresql_keeps_at_most_the_allowed_number_of_prepared_statements(own_engine: Engine) -> None:
    with own_engine.connect() as connection:
        for number in range(60):
            for _ in range(6):
                connection.exec_driver_sql(f"SELECT {number}")
        kept = connection.scalar(text("SELECT count(*) FROM pg_prepared_statements"))
        assert kept in {40, 41}  # the last one is released with the next statement


def test_whole_numbers_in_a_list_are_bigint_however_small(own_engine: Engine) -> None:
    with own_engine.connect() as connection:
        assert connection.scalar(text("SELECT CAST(pg_typeof(:ids) AS text)"), {"ids": [1, 2]}) == "bigint[]"
