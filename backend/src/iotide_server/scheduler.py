"""Scheduler process: elects itself by an advisory lock and runs passes until stopped."""

import contextlib
import selectors
import signal
import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import psycopg
import psycopg.sql
import structlog
from redis import Redis, RedisError
from sqlalchemy.exc import DBAPIError

from iotide_server.bundled.acl import apply_nodes
from iotide_server.bundled.overfull import empty_overfull
from iotide_server.bundled.readiness import announce_ready
from iotide_server.clusters.agents import credentials
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import WORK_STATEMENT_SECONDS, Database, open_engine
from iotide_server.kit.pulse import want_pulse
from iotide_server.kit.queue import Broker
from iotide_server.kit.quotas import IN_SESSION
from iotide_server.kit.wake import SCHEDULER_LOCK, WAKE_CHANNEL
from iotide_server.monitoring.exposition import SCHEDULER_OFFSET, ProcessMetrics, registry_of, serve_metrics
from iotide_server.scheduling.due import FairShareTerms
from iotide_server.scheduling.service import Scheduler
from iotide_server.settings import Settings
from iotide_server.trends.points.service import ALERTS, ANALYSIS, PEERS

_TRY_AGAIN_AFTER: Final = timedelta(seconds=1)
_CONNECTIONS: Final = 2
_NAME: Final = "iotide-scheduler"
_NAMED_TOGETHER: Final = frozenset({ANALYSIS, ALERTS, PEERS})
"""Sent in one message for many rows, because a result triggers hundreds and one analysis may answer several."""
_log = structlog.get_logger(__name__)


class Stop:
    def __init__(self) -> None:
        self.is_wanted = False
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno())
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.want())

    def want(self) -> None:
        self.is_wanted = True

    def wait(self, timeout: timedelta, also: int | None = None) -> None:
        if self.is_wanted:
            return
        with selectors.DefaultSelector() as selector:
            selector.register(self._reader, selectors.EVENT_READ)
            if also is not None:
                selector.register(also, selectors.EVENT_READ)
            selector.select(timeout.total_seconds())


def run(settings: Settings) -> None:
    """Schedule until a signal, waiting for an unavailable database or Redis."""
    stop = Stop()
    database_url = settings.database_url.get_secret_value()
    engine = open_engine(database_url, pool_size=_CONNECTIONS, statement_seconds=WORK_STATEMENT_SECONDS)
    database = Database(engine, info={IN_SESSION: settings.quotas})
    registry = registry_of(ProcessMetrics("scheduler", database.engine))
    serve_metrics(registry, settings.metrics_address, SCHEDULER_OFFSET)
    redis_url, admin_url = settings.redis_url.get_secret_value(), settings.redis_acl_url
    with contextlib.closing(Broker(redis_url, _NAMED_TOGETHER, admin_url=admin_url)) as broker:
        while not stop.is_wanted:
            try:
                with psycopg.connect(database_url, autocommit=True, application_name=_NAME) as listener:
                    if _is_elected(listener, stop):
                        redis_users = _redis_users(settings, database)
                        redis_users()  # nodes connect again before the first watch
                        scheduler = Scheduler(database, broker, redis_users, system_clock, _fair_share(settings))
                        with database.transaction() as session:
                            want_pulse(session, system_clock())
                        _serve(listener, scheduler, stop)
            except (psycopg.OperationalError, DBAPIError) as error:
                _log.warning("database_away", error=str(error).splitlines()[0])
                stop.wait(_TRY_AGAIN_AFTER)
    database.engine.dispose()


def _is_elected(listener: psycopg.Connection, stop: Stop) -> bool:
    announce_ready()
    while not stop.is_wanted:
        row = listener.execute("SELECT pg_try_advisory_lock(%s)", (SCHEDULER_LOCK,)).fetchone()
        if row is not None and row[0]:
            _log.info("elected")
            return True
        stop.wait(_TRY_AGAIN_AFTER)
    return False


def _serve(listener: psycopg.Connection, scheduler: Scheduler, stop: Stop) -> None:
    listener.execute(psycopg.sql.SQL("LISTEN {}").format(psycopg.sql.Identifier(WAKE_CHANNEL)))
    reasons = {"start"}
    while not stop.is_wanted:
        timeout = scheduler.step(reasons)
        stop.wait(timeout, also=listener.fileno())
        reasons = {notification.payload for notification in listener.notifies(timeout=0)}


def _fair_share(settings: Settings) -> FairShareTerms:
    return FairShareTerms(
        timedelta(hours=settings.fair_share_hours), timedelta(hours=settings.fair_share_half_life_hours)
    )


def _redis_users(settings: Settings, database: Database) -> Callable[[], None]:
    """Return a task for Redis users: rotate credentials, update users, empty overfull queues."""
    rotate_every = timedelta(days=settings.node_rotation_days)
    admin = Redis.from_url(settings.redis_acl_url, socket_timeout=5, socket_connect_timeout=3)

    def apply() -> None:
        with database.transaction() as session:
            credentials.want_due_rotations(session, rotate_every, system_clock())
            nodes = credentials.acl_rows(session)
        try:
            if apply_nodes(admin, nodes):
                _log.info("redis_users_applied", nodes=len(nodes))
            for node_id, size_bytes in empty_overfull(admin, [node.node_id for node in nodes]).items():
                _log.warning("node_filled_redis", node_id=node_id, deleted_bytes=size_bytes)
        except RedisError as error:
            _log.warning("redis_users_not_applied", error=str(error))

    return apply
