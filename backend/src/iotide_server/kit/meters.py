"""Prometheus metrics of one process; `monitoring` adds numbers from PostgreSQL.

In transactions, count with `kit.db.after_commit`, so that rolled back work does not count.
"""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram, values
from prometheus_client.metrics import MetricWrapperBase

_REQUEST_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_WORK_BUCKETS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0)
_SUM_OF_LIVING: Final = "livesum"

HTTP_REQUESTS: Final = Counter(
    "iotide_http_requests", "HTTP requests by route template and status.", ["method", "route", "status"]
)
HTTP_SECONDS: Final = Histogram(
    "iotide_http_request_duration_seconds",
    "Time from a request to the start of its response.",
    ["method", "route"],
    buckets=_REQUEST_BUCKETS,
)
EVENT_STREAMS: Final = Gauge(
    "iotide_event_streams", "Open change feed streams to browsers.", multiprocess_mode=_SUM_OF_LIVING
)

DATABASE_CONNECTIONS: Final = Gauge(
    "iotide_database_connections",
    "Open database connections of this part.",
    ["state"],
    multiprocess_mode=_SUM_OF_LIVING,
)
DATABASE_CONNECTIONS_LIMIT: Final = Gauge(
    "iotide_database_connections_limit", "Maximum database connections of this part.", multiprocess_mode=_SUM_OF_LIVING
)

HEARTBEATS: Final = Counter("iotide_heartbeats", "Accepted heartbeats of agents.")
CLAIMS: Final = Counter("iotide_claims", "Agents' claims of orders, granted or refused.", ["outcome"])
RESULTS: Final = Counter("iotide_results", "Results sent by agents, by outcome. Late results are ignored.", ["outcome"])
SAMPLES: Final = Counter("iotide_samples", "Result samples stored.")
INGEST_BYTES: Final = Counter("iotide_ingest_bytes", "Bytes of raw output received from agents and stored.")
INGEST_SECONDS: Final = Histogram(
    "iotide_ingest_duration_seconds", "Time to validate and store one result.", buckets=_REQUEST_BUCKETS
)

OFFERS: Final = Counter("iotide_offers", "Wake-ups sent to nodes: the first for an order, or a repeated one.", ["kind"])
OFFERS_WITHDRAWN: Final = Counter("iotide_offers_withdrawn", "Orders withdrawn because no agent claimed them.")
RUNS_STARTED: Final = Counter("iotide_runs_started", "Attempts started by the scheduler.")
PASS_SECONDS: Final = Histogram(
    "iotide_scheduler_pass_duration_seconds", "Duration of a scheduler pass.", buckets=_REQUEST_BUCKETS
)

WORK_SECONDS: Final = Histogram(
    "iotide_work_duration_seconds",
    "Duration of one unit of server work, or of several done together.",
    ["kind"],
    buckets=_WORK_BUCKETS,
)
WORK_FAILURES: Final = Counter("iotide_work_failures", "Units of server work that failed with an error.", ["kind"])

FIRST: Final = "first"
AGAIN: Final = "again"
GRANTED: Final = "granted"
REFUSED: Final = "refused"
LATE: Final = "late"
IN_USE: Final = "in_use"
IDLE: Final = "idle"


def begin_at_zero() -> None:
    """Create the series of known label values before the first event."""
    for kind in (FIRST, AGAIN):
        OFFERS.labels(kind)
    for outcome in (GRANTED, REFUSED):
        CLAIMS.labels(outcome)
    for state in (IN_USE, IDLE):
        DATABASE_CONNECTIONS.labels(state)


def count_in_files() -> None:
    """Restart all metrics in the files of `PROMETHEUS_MULTIPROC_DIR`, shared by the processes of one part.

    prometheus_client chooses its storage at import.
    """
    values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call] # of the library
    for meter in [meter for meter in globals().values() if isinstance(meter, MetricWrapperBase)]:
        if meter._labelnames:  # noqa: SLF001 - the library has no other way, test_processes.py sees it change
            meter.clear()
        else:
            meter._metric_init()  # type: ignore[no-untyped-call] # of the library  # noqa: SLF001 - as above
    begin_at_zero()


begin_at_zero()
