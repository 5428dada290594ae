"""The doctor's readers on the real PostgreSQL and Redis: healthy, degraded and unreachable."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bring_up import free_port
from factories.broker import BrokerView
from factories.site import Site
from redis import Redis
from sqlalchemy import text

from iotide_server.bundled.redis import PrivateRedis
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Database
from iotide_server.kit.work import suspect, want_work
from iotide_server.monitoring.doctor.examination import Installation, examine
from iotide_server.monitoring.doctor.findings import CheckState
from iotide_server.monitoring.doctor.redis import read_redis
from iotide_server.scheduling.due import take_work


@pytest.fixture
def installation(database_url: str, redis_server: PrivateRedis, in_redis: BrokerView, tmp_path: Path) -> Installation:
    del in_redis
    return Installation(
        database_url=database_url,
        redis_url=redis_server.url,
        redis_admin_url=redis_server.admin_url,
        public_url=f"http://127.0.0.1:{free_port()}",
        broker_url=redis_server.url,
        ca_certificate=None,
        metrics_host=None,
        vault=None,
        directories=(tmp_path,),
        version="1",
        is_public=True,
    )


@pytest.fixture
def look(installation: Installation) -> Callable[..., dict[str, CheckState]]:
    """Return the state of each check."""

    def examined(**changes: object) -> dict[str, CheckState]:
        wanted = replace(installation, **changes)  # type: ignore[arg-type]
        return {finding.check: finding.standing for finding in examine(wanted, system_clock)}

    return examined


def test_everything_is_looked_at(look: Callable[..., dict[str, CheckState]], database: Database) -> None:
    del database
    found = look()
    assert {check for check, standing in found.items() if standing is CheckState.FINE} >= {
        *("database", "database_clock", "schema", "vault"),
        *("redis", "redis_persistence", "redis_memory", "redis_clients", "redis_default_user", "redis_node_users"),
        *("public_url_tls", "broker_tls"),
    }
    wrong = {check for check, standing in found.items() if standing is CheckState.WRONG}
    # Redis without persistence, and no process runs.
    assert wrong == {"database_durability", "scheduler", "administrators"}
    assert found["public_url"] is CheckState.WARNING
    assert found["public_read"] is found["backup"] is CheckState.NOTE
    assert found["agents"] is found["node_clocks"] is CheckState.NOTE, "there is no node that could be checked"
    assert found["worker"] is CheckState.NOTE, "no scheduler asked it for anything"


def test_a_database_that_is_away_hides_nothing_of_redis(look: Callable[..., dict[str, CheckState]]) -> None:
    found = look(database_url=f"postgresql://nobody@127.0.0.1:{free_port()}/none")
    assert found["database"] is CheckState.WRONG
    assert found["redis"] is CheckState.FINE
    assert "scheduler" not in found


def test_a_redis_that_is_away_hides_nothing_of_the_database(look: Callable[..., dict[str, CheckState]]) -> None:
    away = f"redis://127.0.0.1:{free_port()}/0"
    found = look(redis_url=away, redis_admin_url=away)
    assert (found["redis"], found["database"]) == (CheckState.WRONG, CheckState.FINE)


def test_a_node_that_redis_rejects_is_named(site: Site, look: Callable[..., dict[str, CheckState]]) -> None:
    del site
    assert look()["redis_node_users"] is CheckState.WRONG


def test_a_node_with_a_wrong_clock_is_named_unless_it_was_revoked(
    site: Site, look: Callable[..., dict[str, CheckState]]
) -> None:
    with site.database.transaction() as session:
        session.execute(
            text("UPDATE node_beat SET seen_at = now(), clock_offset_seconds = 5, clock_uncertainty_seconds = 0.01")
        )
    assert look()["node_clocks"] is CheckState.WARNING
    with site.database.transaction() as session:
        session.execute(text("UPDATE node SET revoked_at = now()"))
    assert look()["node_clocks"] is CheckState.NOTE


def test_overdue_work_is_noticed_whether_or_not_it_was_sent(
    database: Database, look: Callable[..., dict[str, CheckState]]
) -> None:
    with database.transaction() as session:
        want_work(session, "analysis", 7, datetime.now(UTC))
        # Sent twice, and postponed for that, as the scheduler does.
        session.execute(text("UPDATE work SET sends = 3, due_at = now() - interval '1 s'"))
    assert look()["worker"] is CheckState.WRONG


def test_work_that_is_being_done_does_not_fail(database: Database, look: Callable[..., dict[str, CheckState]]) -> None:
    with database.transaction() as session:
        want_work(session, "analysis", 7, datetime.now(UTC))
        session.execute(text("UPDATE work SET sends = 8"))
    suspect(database, "analysis", [7])
    assert "work_failing" not in look()
    with database.transaction() as session:
        take_work(session, datetime.now(UTC))
    assert look()["work_failing"] is CheckState.WARNING


def test_a_schema_that_is_behind_is_all_that_is_asked_of_the_tables(
    database: Database, look: Callable[..., dict[str, CheckState]]
) -> None:
    with database.transaction() as session:
        newest = session.scalar(text("SELECT version_num FROM alembic_version"))
        session.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    try:
        found = look()
    finally:
        with database.transaction() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :newest"), {"newest": newest})
    assert found["schema"] is CheckState.WRONG
    assert "scheduler" not in found


@pytest.fixture
def spoilt(redis_server: PrivateRedis, in_redis: BrokerView) -> Iterator[Redis]:
    """Let a test change Redis's settings and users; restore them."""
    redis = in_redis.redis
    before = redis.config_get("maxclients", "maxmemory", "maxmemory-policy")
    yield redis
    for name, value in before.items():
        redis.config_set(str(name), str(value))
    redis.acl_deluser("stranger")
    redis.acl_setuser("default", enabled=False)
    in_redis.append_again()
    del redis_server


def test_wrong_settings_of_redis_are_reported(spoilt: Redis, look: Callable[..., dict[str, CheckState]]) -> None:
    spoilt.config_set("maxmemory", 100 * 1024**2)
    spoilt.config_set("maxmemory-policy", "allkeys-lru")
    spoilt.config_set("maxclients", 40)
    spoilt.config_set("appendonly", "no")
    spoilt.acl_setuser("stranger", enabled=True, passwords=["+secret"], keys=["*"], commands=["+get"])
    spoilt.acl_setuser("default", enabled=True, nopass=True)
    found = look()
    wanted = {"redis_memory", "redis_clients", "redis_default_user"}
    assert {check for check in wanted if found[check] is CheckState.WRONG} == wanted
    assert found["redis_persistence"] is found["redis_foreign_users"] is CheckState.WARNING


def test_a_missing_permission_is_reported(redis_server: PrivateRedis) -> None:
    with closing(Redis.from_url(redis_server.url)) as own, closing(Redis.from_url(redis_server.admin_url)) as admin:
        assert read_redis(own, admin).users
        admin.acl_setuser("iotide-server", enabled=True, commands=["+info"])
        try:
            facts = read_redis(own, own)
        finally:
            admin.acl_setuser("iotide-server", enabled=True, commands=["-info"])
    assert (facts.users, facts.settings) == (None, None)
