"""Second review, A1: a node writes another type than a queue to its own Redis keys."""

import hashlib
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import pytest
from factories.broker import BrokerView
from factories.clock import MovedClock
from factories.site import Site
from redis import Redis
from sqlalchemy import text
from structlog.testing import capture_logs

from iotide_server.bundled.acl import NodeAccess, grant_node, node_keys, node_username
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker, BrokerAwayError
from iotide_server.scheduling.service import Scheduler

PASSWORD: Final = "of-the-node-that-was-taken-over"


def as_node(redis_server: PrivateRedis, admin: Redis, node_id: int) -> Redis:
    """Return a node's own connection to Redis."""
    grant_node(admin, NodeAccess(node_id, hashlib.sha256(PASSWORD.encode()).hexdigest()))
    address = urlsplit(redis_server.url)
    return Redis(
        host=address.hostname or "", port=address.port or 0, username=node_username(node_id), password=PASSWORD
    )


@pytest.mark.parametrize("key", range(5))
def test_a_key_of_another_type_delays_the_wake_ups_of_its_node_alone(
    database: Database,
    clock: MovedClock,
    redis_server: PrivateRedis,
    in_redis: BrokerView,
    scheduler: Scheduler,
    key: int,
) -> None:
    site = Site(database, clock, node_count=3)
    taken_over, *others = site.node_ids
    poisoned = node_keys(taken_over)[key]
    with as_node(redis_server, in_redis.redis, taken_over) as own:
        own.set(poisoned, "no queue")
    site.add_runs([1], [2], [3])
    with capture_logs() as logs:
        scheduler.step({"start"})
    assert [len(in_redis.take(f"node.{node_id}")) for node_id in others] == [1, 1]
    broken = [(log["event"], log["node_id"]) for log in logs if log["log_level"] == "warning"]
    assert broken == [("node_broke_its_queue", taken_over)]
    assert not in_redis.redis.exists(poisoned)
    with database.transaction() as session:
        assert set(session.execute(text("SELECT offers_made FROM node_order")).scalars()) == {1}
    clock.now += timedelta(seconds=2)
    site.keep_online()
    scheduler.step(set())
    assert len(in_redis.take(f"node.{taken_over}")) == 1


def test_a_redis_that_accepts_no_writes_is_unavailable_and_no_node_s_fault(
    broker: Broker, in_redis: BrokerView
) -> None:
    used = str(in_redis.redis.config_get("maxmemory")["maxmemory"])
    in_redis.redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(BrokerAwayError):
            broker.send_wake("node.7", 12, 1)
    finally:
        in_redis.redis.config_set("maxmemory", used)
