"""Metrics of the whole service, read from the real PostgreSQL."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from bring_up import free_port
from factories.clock import MovedClock
from factories.metrics import Scraped
from factories.site import Site
from prometheus_client import generate_latest
from redis import Redis
from sqlalchemy import event, text
from sqlalchemy.engine import Connection
from sqlalchemy.orm import Session

from iotide_server.bundled.redis import PrivateRedis
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import known_revisions
from iotide_server.kit.queue import Broker
from iotide_server.kit.work import do_work, suspect, want_work
from iotide_server.monitoring.exposition import registry_of
from iotide_server.monitoring.site import FRESH_FOR, SiteMetrics, node_metrics, site_metrics
from iotide_server.scheduling.due import take_work
from iotide_wire.messages import OrderState

CLUSTER = "blade"


@pytest.fixture
def redis(redis_server: PrivateRedis) -> Iterator[Redis]:
    with Redis.from_url(redis_server.url) as redis:
        yield redis


@pytest.fixture
def scrape(database: Database, redis: Redis, clock: MovedClock) -> Callable[[], Scraped]:
    """Return a function that scrapes again on each call."""

    def read() -> Scraped:
        site = SiteMetrics(database, redis, clock, site_metrics, node_metrics)
        return Scraped(generate_latest(registry_of(site)).decode())

    return read


def test_runs_and_the_age_of_the_oldest_that_waits(
    site: Site, scrape: Callable[[], Scraped], clock: MovedClock
) -> None:
    site.add_runs([1], repeats=2)
    clock.now += timedelta(seconds=20)
    site.add_runs([1])
    site.start()
    clock.now += timedelta(seconds=5)
    scraped = scrape()
    assert scraped.by("state", "iotide_runs", cluster=CLUSTER) == {"waiting": 2, "active": 1}
    assert scraped.value("iotide_queue_oldest_age_seconds", cluster=CLUSTER) == 25
    assert scraped.value("iotide_leases", kind="node", mode="exclusive") == 1
    assert scraped.value("iotide_orders", state="offered") == 1
    assert scraped.value("iotide_offer_oldest_age_seconds") == 5


def test_nothing_that_waits_is_nought_and_not_absent(site: Site, scrape: Callable[[], Scraped]) -> None:
    del site
    scraped = scrape()
    assert scraped.by("state", "iotide_runs", cluster=CLUSTER) == {"waiting": 0, "active": 0}
    assert scraped.value("iotide_queue_oldest_age_seconds", cluster=CLUSTER) == 0
    assert scraped.value("iotide_runs_overdue", cluster=CLUSTER) == 0
    assert scraped.value("iotide_drains", kind="cluster") == 0


def test_nodes_by_state_and_the_one_that_is_longest_silent(
    site: Site, scrape: Callable[[], Scraped], clock: MovedClock
) -> None:
    clock.now += timedelta(seconds=60)
    site.agent(1).heartbeat(spool_bytes=4096)
    clock.now += timedelta(seconds=1)
    scraped = scrape()
    assert scraped.by("state", "iotide_nodes", cluster=CLUSTER) == {
        "online": 1,
        "stuck": 0,
        "silent": 1,
        "never_seen": 0,
    }
    assert scraped.value("iotide_heartbeat_oldest_age_seconds", cluster=CLUSTER) == 61
    assert scraped.value("iotide_spool_bytes", cluster=CLUSTER) == 4096
    assert scraped.by("node", "iotide_node_heartbeat_age_seconds") == {"n1": 1, "n2": 61}
    assert scraped.by("node", "iotide_node_spool_bytes") == {"n1": 4096}
    assert sum(scraped.by("version", "iotide_agents", cluster=CLUSTER).values()) == 2


def test_a_node_that_was_revoked_is_not_missed(site: Site, scrape: Callable[[], Scraped], clock: MovedClock) -> None:
    clock.now += timedelta(seconds=60)
    site.agent(1).heartbeat(spool_bytes=4096)
    with site.database.transaction() as session:
        session.execute(text("UPDATE node SET revoked_at = now() WHERE name = 'n2'"))
    scraped = scrape()
    assert scraped.by("state", "iotide_nodes", cluster=CLUSTER) == {
        "online": 1,
        "stuck": 0,
        "silent": 0,
        "never_seen": 0,
    }
    assert scraped.value("iotide_heartbeat_oldest_age_seconds", cluster=CLUSTER) == 0
    assert scraped.by("node", "iotide_node_heartbeat_age_seconds") == {"n1": 0}


def test_a_silent_order_and_an_overdue_run(site: Site, scrape: Callable[[], Scraped]) -> None:
    (run_id,) = site.add_runs([1])
    site.start()
    site.agent(1).claim_offer()
    site.change("UPDATE node_order SET silent_since = now(), state = 'running'")
    site.change("UPDATE run SET overdue = true WHERE id = :id", id=run_id)
    scraped = scrape()
    assert scraped.value("iotide_orders_silent") == 1
    assert scraped.value("iotide_runs_overdue", cluster=CLUSTER) == 1
    assert scraped.by("state", "iotide_orders")[OrderState.RUNNING] == 1


@pytest.mark.parametrize("sends", [0, 1, 3, 7])
def test_work_is_late_since_it_first_came_due_for_any_number_of_sends(
    database: Database, scrape: Callable[[], Scraped], clock: MovedClock, sends: int
) -> None:
    with database.transaction() as session:
        want_work(session, "analysis", 7, clock())
    for _ in range(sends):
        # As `scheduling/due.py` sends it: exactly when it is due.
        with database.transaction() as session:
            session.execute(
                text(
                    "UPDATE work SET sends = sends + 1,"
                    " due_at = due_at + least(300, 10 * 2 ^ least(sends, 5)) * interval '1 s'"
                )
            )
    clock.now += timedelta(seconds=2000)
    assert scrape().value("iotide_work_oldest_due_age_seconds", kind="analysis") == 2000


@pytest.mark.parametrize("is_suspect", [True, False], ids=["begun", "failed"])
def test_late_work_is_late_although_it_begins_to_fail(
    database: Database, scrape: Callable[[], Scraped], clock: MovedClock, *, is_suspect: bool
) -> None:
    def fail(_: Session, key: int) -> None:
        raise ValueError(f"cell {key} makes no sense")

    with database.transaction() as session:
        want_work(session, "analysis", 7, clock())
    for seconds in (10, 20, 40, 80, 160, 300, 300, 300, 300):
        with database.transaction() as session:
            take_work(session, clock())
        clock.now += timedelta(seconds=seconds)
    assert scrape().value("iotide_work_oldest_due_age_seconds", kind="analysis") == 1510
    if is_suspect:
        suspect(database, "analysis", [7])
    else:
        with pytest.raises(ValueError, match="makes no sense"):
            do_work(database, {"analysis": fail}, "analysis", 7)
    clock.now += FRESH_FOR
    assert scrape().value("iotide_work_oldest_due_age_seconds", kind="analysis") > 600


def test_work_that_was_named_often_fails_once_it_is_named_again_after_it_was_begun(
    database: Database, scrape: Callable[[], Scraped], clock: MovedClock
) -> None:
    """After a pause of the worker all work was sent often, and none of it fails."""
    with database.transaction() as session:
        want_work(session, "analysis", 7, clock())
        session.execute(text("UPDATE work SET sends = 8"))
    assert scrape().value("iotide_work_failing", kind="analysis") == 0
    suspect(database, "analysis", [7])
    clock.now += FRESH_FOR
    assert scrape().value("iotide_work_failing", kind="analysis") == 0
    with database.transaction() as session:
        assert take_work(session, clock()) == [("analysis", 7, True)]
    clock.now += FRESH_FOR
    assert scrape().value("iotide_work_failing", kind="analysis") == 1


def test_work_that_is_not_due_yet_is_not_late(
    database: Database, scrape: Callable[[], Scraped], clock: MovedClock
) -> None:
    with database.transaction() as session:
        want_work(session, "delivery", 7, clock() + timedelta(hours=1))
    scraped = scrape()
    assert scraped.value("iotide_work_wanted", kind="delivery") == 1
    assert scraped.value("iotide_work_oldest_due_age_seconds", kind="delivery") == 0
    assert scraped.value("iotide_notifications_waiting") == 1


def test_the_schema_the_database_and_redis(database: Database, scrape: Callable[[], Scraped], broker: Broker) -> None:
    del database
    broker.send_work("analysis", [1])
    scraped = scrape()
    newest = known_revisions()[0]
    assert scraped.labels("iotide_schema_info") == {"revision": newest, "expected": newest}
    assert scraped.value("iotide_database_up") == scraped.value("iotide_redis_up") == 1
    assert scraped.value("iotide_server_queue_length") == 1
    assert scraped.value("iotide_database_size_bytes") > 2**20
    assert scraped.value("iotide_scheduler_up") == 0


def test_an_unreachable_part_is_reported_and_hides_nothing_else(redis: Redis, clock: MovedClock) -> None:
    engine = open_engine(f"postgresql://nobody@127.0.0.1:{free_port()}/none", pool_size=1)
    scraped = Scraped(generate_latest(registry_of(SiteMetrics(Database(engine), redis, clock, site_metrics))).decode())
    engine.dispose()
    assert scraped.value("iotide_database_up") == 0
    assert scraped.value("iotide_redis_up") == 1
    assert "iotide_runs" not in scraped.names


def test_two_scrapes_within_some_seconds_ask_the_database_once(
    database: Database, redis: Redis, clock: MovedClock
) -> None:
    asked = []

    def note(connection: Connection) -> None:
        asked.append(connection)

    metrics = SiteMetrics(database, redis, clock, site_metrics)
    event.listen(database.engine, "begin", note)
    try:
        for pause in (timedelta(), FRESH_FOR / 2, FRESH_FOR):
            clock.now += pause
            list(metrics.collect())
    finally:
        event.remove(database.engine, "begin", note)
    assert len(asked) == 2


def test_no_scrape_changes_anything(database: Database, redis: Redis, clock: MovedClock) -> None:
    def write(session: object, _now: object) -> list[object]:
        session.execute(text("INSERT INTO cluster (name) VALUES ('x')"))  # type: ignore[attr-defined]
        return []

    scraped = registry_of(SiteMetrics(database, redis, clock, write))  # type: ignore[arg-type]
    assert Scraped(generate_latest(scraped).decode()).value("iotide_database_up") == 0
