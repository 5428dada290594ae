"""The text that Prometheus reads: of this process by its counters, of the whole service by `site`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

import structlog
from prometheus_client import REGISTRY, CollectorRegistry, Metric, start_http_server
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from sqlalchemy.engine import Engine
from sqlalchemy.pool import QueuePool

API_OFFSET: Final = 0
SCHEDULER_OFFSET: Final = 1
WORKER_OFFSET: Final = 2
"""Added to the port of IOTIDE_METRICS_LISTEN, so that one setting does for all parts on one host."""
_log = structlog.get_logger(__name__)


class ProcessMetrics(Collector):
    """What this process counts, and what it knows of its own pool of database connections."""

    def __init__(self, part: str, engine: Engine) -> None:
        self._part = part
        self._engine = engine

    def describe(self) -> Iterable[Metric]:
        """Nothing, since `collect` has what another registry describes."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Of this moment."""
        yield from REGISTRY.collect()
        build = InfoMetricFamily("iotide_build", "This release, and which part of it this process is.")
        build.add_metric([], {"version": version("iotide-server"), "part": self._part})
        yield build
        pool = self._engine.pool
        if not isinstance(pool, QueuePool):
            return
        connections = GaugeMetricFamily("iotide_database_connections", "Of this process.", labels=["state"])
        connections.add_metric(["in_use"], pool.checkedout())
        connections.add_metric(["idle"], pool.checkedin())
        yield connections
        limit = GaugeMetricFamily("iotide_database_connections_limit", "As many as this process opens at most.")
        limit.add_metric([], pool.size() + pool._max_overflow)  # noqa: SLF001 - it has no other name
        yield limit


@dataclass(frozen=True, slots=True)
class Exposition:
    """A text, and how it is declared."""

    content: bytes
    content_type: str


def registry_of(*collectors: Collector) -> CollectorRegistry:
    """A registry of its own with these."""
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    return registry


def expose(registry: CollectorRegistry, accept: str) -> Exposition:
    """In the form that the header Accept asks for: OpenMetrics, or Prometheus' older text."""
    encode, content_type = choose_encoder(accept)
    return Exposition(encode(registry), content_type)


def serve_metrics(registry: CollectorRegistry, listen: tuple[str, int] | None, offset: int) -> None:
    """Answer scrapes from a thread of this process, without asking who scrapes; not at all where nothing is set.

    A port that is taken is said and costs nothing but the metrics: benchmarks go on without them.
    """
    if listen is None:
        return
    host, port = listen[0], listen[1] + offset
    try:
        start_http_server(port, host, registry)
    except OSError as error:
        _log.error("metrics_not_served", host=host, port=port, error=str(error))
    else:
        _log.info("metrics_served", host=host, port=port)
