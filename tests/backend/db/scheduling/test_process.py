"""The scheduler as a process of its own, against the real PostgreSQL and Redis."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime

import pytest
from factories.broker import BrokerView
from factories.plans import add_schedule, firings, operator
from factories.site import Site
from pydantic import SecretStr
from sqlalchemy import text

from iotide_server import scheduler
from iotide_server.bundled.acl import node_queue
from iotide_server.bundled.overfull import USUAL_BYTES, kept_bytes
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.kit.wake import SCHEDULER_LOCK, wake_scheduler
from iotide_server.settings import Settings


@pytest.fixture
def start_scheduler(database_url: str, redis_server: PrivateRedis) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    environment = {
        **os.environ,
        "IOTIDE_DATABASE_URL": database_url,
        "IOTIDE_REDIS_URL": redis_server.url,
        "IOTIDE_REDIS_ADMIN_URL": redis_server.admin_url,
    }
    with ExitStack() as stack:

        @contextmanager
        def process() -> Iterator[subprocess.Popen[bytes]]:
            started = subprocess.Popen([sys.executable, "-m", "iotide_server.cli", "scheduler"], env=environment)
            yield started
            if started.poll() is None:
                started.kill()
                started.wait()

        yield lambda: stack.enter_context(process())


def wait_for(what: Callable[[], object]) -> None:
    """Wait until pytest's limit for a test."""
    while not what():
        time.sleep(0.005)


def elected(site: Site) -> int | None:
    """Return the PostgreSQL backend of the active scheduler."""
    with site.database.transaction() as session:
        holder: int | None = session.scalars(
            text(
                "SELECT min(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
                " AND (CAST(classid AS bigint) << 32 | CAST(objid AS bigint)) = :lock"
            ),
            {"lock": SCHEDULER_LOCK},
        ).one()
        return holder


def submit(site: Site) -> int:
    """Submit a run that waits. The process uses the real clock, so its nodes need heartbeats by that clock."""
    site.clock.now = datetime.now(UTC)
    site.keep_online()
    (run_id,) = site.add_runs([1])
    with site.database.transaction() as session:
        wake_scheduler(session, "campaign")
    return run_id


def test_each_notification_becomes_a_message_until_a_signal_ends_it_with_status_0(
    site: Site, start_scheduler: Callable[[], subprocess.Popen[bytes]], in_redis: BrokerView
) -> None:
    process = start_scheduler()
    wait_for(lambda: elected(site))
    agent = site.agent(1)
    for _ in range(3):
        submit(site)
        wait_for(lambda: in_redis.take(f"node.{site.node_ids[0]}"))
        agent.finish(agent.claim_offer())
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=5) == 0


def test_it_fires_a_due_schedule_without_a_wake_up(
    site: Site, start_scheduler: Callable[[], subprocess.Popen[bytes]]
) -> None:
    site.clock.now = datetime.now(UTC)
    schedule_id = add_schedule(site, operator(site.database, site.clock()))
    start_scheduler()
    wait_for(lambda: elected(site))
    site.change("UPDATE schedule SET due_at = now() + interval '100 ms' WHERE id = :id", id=schedule_id)
    site.change("UPDATE schedule SET planned_at = due_at WHERE id = :id", id=schedule_id)
    wait_for(lambda: firings(site))
    assert [firing.problem for firing in firings(site)] == [None]


def test_one_of_two_schedulers_works_and_the_other_takes_over_when_it_is_killed(
    site: Site, start_scheduler: Callable[[], subprocess.Popen[bytes]]
) -> None:
    first = start_scheduler()
    wait_for(lambda: elected(site))
    before = elected(site)
    start_scheduler()
    first.kill()
    first.wait()
    wait_for(lambda: elected(site) not in {None, before})
    run_id = submit(site)
    wait_for(lambda: site.run(run_id).state == "active")


def test_it_survives_the_loss_of_its_database_connections(
    site: Site, start_scheduler: Callable[[], subprocess.Popen[bytes]]
) -> None:
    process = start_scheduler()
    wait_for(lambda: elected(site))
    before = elected(site)
    site.change(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        " AND datname = current_database() AND application_name = 'iotide-scheduler'"
    )
    wait_for(lambda: elected(site) not in {None, before})
    run_id = submit(site)
    wait_for(lambda: site.run(run_id).state == "active")
    assert process.poll() is None


def test_without_an_administrators_access_of_its_own_it_gives_them_back_by_its_usual_one(
    site: Site, database_url: str, redis_server: PrivateRedis, in_redis: BrokerView
) -> None:
    user = f"iotide-node-{site.node_ids[0]}"
    settings = Settings(database_url=SecretStr(database_url), redis_url=SecretStr(redis_server.admin_url))
    in_redis.redis.acl_deluser("iotide-nodes-applied")
    scheduler._redis_users(settings, site.database)()
    assert in_redis.redis.acl_getuser(user)


def test_it_gives_redis_the_users_of_the_nodes_back_and_deletes_what_a_node_leaves_there_to_fill_it(
    site: Site, start_scheduler: Callable[[], subprocess.Popen[bytes]], in_redis: BrokerView
) -> None:
    redis, (filled, other, *_) = in_redis.redis, map(node_queue, site.node_ids)
    user = f"iotide-node-{site.node_ids[0]}"
    redis.config_set("appendonly", "no")  # saves disk writes
    try:
        redis.lpush(other, "a wake-up")
        while kept_bytes(redis) < USUAL_BYTES:
            redis.lpush(filled, *["x" * 100_000] * 50)
        start_scheduler()
        wait_for(lambda: redis.acl_getuser(user))
        wait_for(lambda: not redis.exists(filled))
        assert redis.llen(other) == 1
        redis.acl_deluser(user, "iotide-nodes-applied")
        wait_for(lambda: redis.acl_getuser(user))
    finally:
        redis.delete(filled)
        in_redis.append_again()
