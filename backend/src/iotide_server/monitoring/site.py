"""Prometheus metrics of the whole service, read from PostgreSQL and Redis at the scrape.

Every API process returns the same values, so dashboards take the maximum.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

import structlog
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector
from redis import Redis, RedisError
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database
from iotide_server.kit.migrations import schema_state
from iotide_server.kit.queue import SERVER_QUEUE
from iotide_server.kit.wake import is_scheduled
from iotide_server.monitoring import repository
from iotide_server.notifications.service import DELIVERY

FRESH_FOR: Final = timedelta(seconds=5)  # more frequent or concurrent scrapes do not load the database
STATEMENT_SECONDS: Final = 5.0
_NODE_STATES: Final = ("online", "stuck", "silent", "never_seen")
_log = structlog.get_logger(__name__)

Read = Callable[[Session, datetime], Iterable[Metric]]


class SiteMetrics(Collector):
    """Metrics of `reads`, cached for some seconds. While PostgreSQL is down, only `iotide_database_up`."""

    def __init__(self, database: Database, redis: Redis, clock: Clock, *reads: Read) -> None:
        self._database = database
        self._clock = clock
        self._reads = reads
        self._redis = redis
        self._lock = Lock()
        self._read_at: datetime | None = None
        self._kept: list[Metric] = []

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            now = self._clock()
            if self._read_at is None or not timedelta() <= now - self._read_at < FRESH_FOR:
                self._kept = [*self._of_database(now), *self._of_redis()]
                self._read_at = now
            return self._kept

    def _of_database(self, now: datetime) -> list[Metric]:
        up = GaugeMetricFamily("iotide_database_up", "1 if PostgreSQL answers.")
        try:
            with self._database.transaction() as session:
                repository.bound(session, STATEMENT_SECONDS)
                found = [metric for read in self._reads for metric in read(session, now)]
        except SQLAlchemyError as error:
            _log.warning("metrics_without_database", error=str(error).splitlines()[0])
            found = []
        up.add_metric([], float(bool(found)))
        return [up, *found]

    def _of_redis(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("iotide_redis_up", "1 if Redis answers.")
        try:
            length = self._redis.llen(SERVER_QUEUE)
        except RedisError:
            up.add_metric([], 0)
        else:
            up.add_metric([], 1)
            queue = "Messages in Redis that no worker has received."
            yield _gauge("iotide_server_queue_length", queue, [((), float(length))])
        yield up


def site_metrics(session: Session, now: datetime) -> Iterator[Metric]:
    clusters = session.scalars(repository.CLUSTERS).all()
    yield from _runs(session, clusters, now)
    yield from _nodes(session, clusters, now)
    yield from _orders(session, now)
    yield from _work(session, now)
    held = [((row.kind, row.mode), row.number) for row in session.execute(repository.LEASES)]
    yield _gauge("iotide_leases", "Active leases.", held, ["kind", "mode"])
    drained: dict[tuple[str, ...], float] = {(kind,): 0.0 for kind in ("all", "cluster", "node", "target")}
    drained |= {(row.kind,): row.number for row in session.execute(repository.DRAINS, {"now": now})}
    yield _gauge("iotide_drains", "Active drains.", drained.items(), ["kind"])
    scheduler = [((), float(is_scheduled(session)))]
    yield _gauge("iotide_scheduler_up", "1 if a scheduler is elected.", scheduler)
    size = [((), float(session.scalars(repository.SIZE).one()))]
    yield _gauge("iotide_database_size_bytes", "Size of the database on disk.", size)
    schema = schema_state(session)
    schema_info = InfoMetricFamily(
        "iotide_schema", "Revision of the schema, and the revision that this release expects."
    )
    schema_info.add_metric([], {"revision": schema.found or "", "expected": schema.expected})
    yield schema_info


def node_metrics(session: Session, now: datetime) -> Iterator[Metric]:
    rows = session.execute(repository.EACH_NODE).all()
    labels = ["cluster", "node"]
    ages = [((row.cluster, row.node), _age(row.seen_at, now)) for row in rows if row.seen_at is not None]
    yield _gauge("iotide_node_heartbeat_age_seconds", "Time since the node's last heartbeat.", ages, labels)
    spools = [((row.cluster, row.node), row.spool_bytes) for row in rows if row.spool_bytes is not None]
    yield _gauge("iotide_node_spool_bytes", "Unsent results on the node's disk, as it reported.", spools, labels)


def _runs(session: Session, clusters: Iterable[str], now: datetime) -> Iterator[Metric]:
    counts: dict[tuple[str, ...], float] = {(name, state): 0.0 for name in clusters for state in ("waiting", "active")}
    oldest: dict[tuple[str, ...], float] = {(name,): 0.0 for name in clusters}
    for row in session.execute(repository.RUNS):
        counts[row.cluster, row.state] = row.number
        if row.state == "waiting":
            oldest[row.cluster,] = _age(row.first_at, now)
    yield _gauge("iotide_runs", "Waiting and active runs.", counts.items(), ["cluster", "state"])
    yield _gauge("iotide_queue_oldest_age_seconds", "Age of the oldest waiting run.", oldest.items(), ["cluster"])
    overdue: dict[tuple[str, ...], float] = {(name,): 0.0 for name in clusters}
    overdue |= {(row.cluster,): row.number for row in session.execute(repository.OVERDUE)}
    words = "Active runs past their time limit whose end was not reported."
    yield _gauge("iotide_runs_overdue", words, overdue.items(), ["cluster"])


def _nodes(session: Session, clusters: Iterable[str], now: datetime) -> Iterator[Metric]:
    counts: Counter[tuple[str, ...]] = Counter({(name, state): 0 for name in clusters for state in _NODE_STATES})
    problems: Counter[tuple[str, ...]] = Counter({(name,): 0 for name in clusters})
    versions: Counter[tuple[str, ...]] = Counter()
    spools: Counter[tuple[str, ...]] = Counter({(name,): 0 for name in clusters})
    oldest: dict[tuple[str, ...], float] = {}
    for row in repository.nodes(session, now):
        counts[row.cluster, row.state] += row.number
        problems[row.cluster,] += row.problems
        versions[row.cluster, row.version] += row.number
        spools[row.cluster,] += int(row.spool_bytes or 0)
        if row.seen_at is not None:
            oldest[row.cluster,] = max(oldest.get((row.cluster,), 0.0), _age(row.seen_at, now))
    yield _gauge("iotide_nodes", "Nodes that are not retired.", counts.items(), ["cluster", "state"])
    yield _gauge(
        "iotide_nodes_with_problem",
        "Nodes that the scheduler skips because of a problem.",
        problems.items(),
        ["cluster"],
    )
    yield _gauge("iotide_agents", "Nodes by agent version.", versions.items(), ["cluster", "version"])
    yield _gauge(
        "iotide_heartbeat_oldest_age_seconds", "Time since the last heartbeat of the longest silent node.",
        oldest.items(), ["cluster"],
    )  # fmt: skip
    yield _gauge(
        "iotide_spool_bytes", "Unsent results on the nodes' disks, as they reported.", spools.items(), ["cluster"]
    )


def _orders(session: Session, now: datetime) -> Iterator[Metric]:
    rows = session.execute(repository.ORDERS).all()
    states = ("offered", "claimed", "preflight", "ready", "running", "uploading")
    counts: dict[tuple[str, ...], float] = {(state,): 0.0 for state in states}
    counts |= {(row.state,): row.number for row in rows}
    yield _gauge("iotide_orders", "Orders that have not ended.", counts.items(), ["state"])
    silent = sum(row.silent for row in rows)
    yield _gauge("iotide_orders_silent", "Orders whose node missed three heartbeats.", [((), float(silent))])
    offered = max((_age(row.first_at, now) for row in rows if row.state == "offered"), default=0.0)
    yield _gauge("iotide_offer_oldest_age_seconds", "Age of the oldest unclaimed offer.", [((), offered)])


def _work(session: Session, now: datetime) -> Iterator[Metric]:
    rows = session.execute(repository.WORK).all()
    wanted = [((row.kind,), row.number) for row in rows]
    yield _gauge("iotide_work_wanted", "Requested pieces of server work that are not done.", wanted, ["kind"])
    failing = [((row.kind,), row.failing) for row in rows]
    yield _gauge("iotide_work_failing", "Requested pieces of server work whose last attempt failed.", failing, ["kind"])
    late = [((row.kind,), _age(row.due_since, now)) for row in rows]
    words = "Time since the oldest piece of server work was due: the delay of analysis and messages."
    yield _gauge("iotide_work_oldest_due_age_seconds", words, late, ["kind"])
    messages = sum(row.number for row in rows if row.kind == DELIVERY)
    yield _gauge("iotide_notifications_waiting", "Messages to channels that wait to be sent.", [((), messages)])


def _gauge(
    name: str, words: str, samples: Iterable[tuple[tuple[str, ...], float]], labels: Iterable[str] = ()
) -> Metric:
    family = GaugeMetricFamily(name, words, labels=list(labels))
    for values, value in samples:
        family.add_metric(list(values), float(value))
    return family


def _age(moment: datetime, now: datetime) -> float:
    return max(0.0, (now - moment).total_seconds())
