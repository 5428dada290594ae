"""A cluster at work, and a Redis that starts empty."""

from collections.abc import Callable, Iterator

import pytest
from factories.clock import MovedClock
from factories.invariants import violations
from factories.site import BrokerView, Site
from redis import Redis

from iotide_server.accounts.models import Role
from iotide_server.accounts.principal import Principal, PrincipalKind
from iotide_server.embedded.acl import apply_nodes
from iotide_server.embedded.redis import PrivateRedis
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker
from iotide_server.runs import service as runs
from iotide_server.scheduling.service import Scheduler

ADMIN = Principal(PrincipalKind.USER, None, "ada", grants={None: Role.ADMIN})


@pytest.fixture
def make_site(database: Database, clock: MovedClock) -> Iterator[Callable[..., Site]]:
    """Makes a site; after the test, its rows are held against the rules that always hold."""

    def make(**wanted: int) -> Site:
        return Site(database, clock, **wanted)

    yield make
    with database.transaction() as session:
        assert violations(session) == {}


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    """Two nodes."""
    return make_site()


@pytest.fixture
def in_redis(redis_server: PrivateRedis) -> Iterator[BrokerView]:
    """The real Redis, empty, and without users of nodes."""
    with Redis.from_url(redis_server.admin_url) as redis:
        redis.flushall()
        apply_nodes(redis, [])
        yield BrokerView(redis)


@pytest.fixture
def broker(redis_server: PrivateRedis, in_redis: BrokerView) -> Iterator[Broker]:
    """The server's way to it."""
    del in_redis
    broker = Broker(redis_server.url)
    yield broker
    broker.close()


@pytest.fixture
def scheduler(database: Database, broker: Broker, clock: MovedClock) -> Scheduler:
    """A scheduler that a test steps."""
    return Scheduler(database, broker, lambda: None, clock)


@pytest.fixture
def cancel(site: Site) -> Callable[[int], None]:
    """Cancels a run as an administrator."""

    def cancel(run_id: int) -> None:
        with site.database.transaction() as session:
            runs.cancel(session, ADMIN, run_id, site.clock())

    return cancel
