"""Prometheus text of this part's counters."""

import socket
import threading
from collections.abc import Iterator
from importlib.metadata import version
from socketserver import ThreadingMixIn
from typing import Final
from weakref import WeakSet
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import structlog
from prometheus_client import REGISTRY, CollectorRegistry, Metric, make_wsgi_app
from prometheus_client.core import InfoMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.pool import QueuePool

from iotide_server.kit.meters import DATABASE_CONNECTIONS, DATABASE_CONNECTIONS_LIMIT, IDLE, IN_USE
from iotide_server.monitoring.processes import are_counted_together, counted_by_all

API_OFFSET: Final = 0
SCHEDULER_OFFSET: Final = 1
WORKER_OFFSET: Final = 2
"""Added to the port of IOTIDE_METRICS_LISTEN, so that one setting fits all parts on a host."""
_counted: Final[WeakSet[Engine]] = WeakSet()
_log = structlog.get_logger(__name__)


class ProcessMetrics(Collector):
    def __init__(self, part: str, engine: Engine) -> None:
        self._part = part
        count_connections(engine)

    def collect(self) -> Iterator[Metric]:
        yield from counted_by_all() if are_counted_together() else REGISTRY.collect()
        build = InfoMetricFamily("iotide_build", "Release and part of this process.")
        build.add_metric([], {"version": version("iotide-server"), "part": self._part})
        yield build


def count_connections(engine: Engine) -> None:
    """Count the connections of an unused engine's pool. Safe to repeat."""
    pool = engine.pool
    if engine in _counted or not isinstance(pool, QueuePool):
        return
    _counted.add(engine)
    in_use, idle = DATABASE_CONNECTIONS.labels(IN_USE), DATABASE_CONNECTIONS.labels(IDLE)
    DATABASE_CONNECTIONS_LIMIT.inc(pool.size() + pool._max_overflow)  # noqa: SLF001 - it has no other name

    @event.listens_for(engine, "connect")
    def opened(*_: object) -> None:
        idle.inc()

    @event.listens_for(engine, "checkout")
    def taken(*_: object) -> None:
        idle.dec()
        in_use.inc()

    @event.listens_for(engine, "checkin")
    def returned(*_: object) -> None:
        in_use.dec()
        idle.inc()

    @event.listens_for(engine, "close")
    def closed(*_: object) -> None:
        idle.dec()


def registry_of(*collectors: Collector) -> CollectorRegistry:
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    return registry


def serve_metrics(registry: CollectorRegistry, listen: tuple[str, int] | None, offset: int) -> None:
    """Answer scrapes from a thread of this process, without authentication, if `listen` is set."""
    # Processes that count together share the port and return the same. A port in use is only logged.
    if listen is None:
        return
    host, port = listen[0], listen[1] + offset
    try:
        server = make_server(host, port, make_wsgi_app(registry), _server_for(host, port), handler_class=_Handler)
    except OSError as error:
        _log.error("metrics_not_served", host=host, port=port, error=str(error))
    else:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        _log.info("metrics_served", host=host, port=port)


class _Handler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def _server_for(host: str, port: int) -> type[WSGIServer]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)

    class Server(ThreadingMixIn, WSGIServer):
        daemon_threads = True
        address_family = found[0][0]
        allow_reuse_port = are_counted_together()

    return Server
