"""What one process counts of its own work, in Prometheus' terms; `operations` shows it beside what PostgreSQL knows.

Each process counts from nought when it starts, and what a transaction that is rolled back did is not counted: whoever
counts inside one does so by `kit.db.after_commit`. Where a part has several processes, each tells what all of them
counted (`monitoring/processes.py`).
"""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram, values
from prometheus_client.metrics import MetricWrapperBase

_REQUEST_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_WORK_BUCKETS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0)
_SUM_OF_LIVING: Final = "livesum"

HTTP_REQUESTS: Final = Counter(
    "iotide_http_requests", "Requests answered, by route as its template.", ["method", "route", "status"]
)
HTTP_SECONDS: Final = Histogram(
    "iotide_http_request_duration_seconds",
    "Time from a request to the beginning of its answer.",
    ["method", "route"],
    buckets=_REQUEST_BUCKETS,
)
EVENT_STREAMS: Final = Gauge(
    "iotide_event_streams", "Streams of news to browsers that are open.", multiprocess_mode=_SUM_OF_LIVING
)

DATABASE_CONNECTIONS: Final = Gauge(
    "iotide_database_connections", "Open, of this part.", ["state"], multiprocess_mode=_SUM_OF_LIVING
)
DATABASE_CONNECTIONS_LIMIT: Final = Gauge(
    "iotide_database_connections_limit", "As many as this part opens at most.", multiprocess_mode=_SUM_OF_LIVING
)

HEARTBEATS: Final = Counter("iotide_heartbeats", "Beats of agents that were taken.")
CLAIMS: Final = Counter("iotide_claims", "Claims of orders, granted or refused.", ["outcome"])
RESULTS: Final = Counter(
    "iotide_results", "Results that agents handed in, by outcome; late ones changed nothing.", ["outcome"]
)
SAMPLES: Final = Counter("iotide_samples", "Samples of results that were stored.")
INGEST_BYTES: Final = Counter("iotide_ingest_bytes", "Bytes of raw output that agents sent and that were stored.")
INGEST_SECONDS: Final = Histogram(
    "iotide_ingest_duration_seconds", "Time to check and store one result.", buckets=_REQUEST_BUCKETS
)

OFFERS: Final = Counter("iotide_offers", "Wake-ups sent to nodes: the first of an order, or one again.", ["kind"])
OFFERS_WITHDRAWN: Final = Counter("iotide_offers_withdrawn", "Orders taken back because no agent claimed them.")
RUNS_STARTED: Final = Counter("iotide_runs_started", "Attempts that the scheduler opened.")
PASS_SECONDS: Final = Histogram(
    "iotide_scheduler_pass_duration_seconds", "Time of one pass of the scheduler.", buckets=_REQUEST_BUCKETS
)

WORK_SECONDS: Final = Histogram(
    "iotide_work_duration_seconds",
    "Time of one piece of server work, or of several that were done together.",
    ["kind"],
    buckets=_WORK_BUCKETS,
)
WORK_FAILURES: Final = Counter("iotide_work_failures", "Pieces of server work that failed by a fault.", ["kind"])

FIRST: Final = "first"
AGAIN: Final = "again"
GRANTED: Final = "granted"
REFUSED: Final = "refused"
LATE: Final = "late"
IN_USE: Final = "in_use"
IDLE: Final = "idle"
"""Values of the labels above."""


def begin_at_zero() -> None:
    """Show the label values that are known from the start, before anything is counted of them."""
    for kind in (FIRST, AGAIN):
        OFFERS.labels(kind)
    for outcome in (GRANTED, REFUSED):
        CLAIMS.labels(outcome)
    for state in (IN_USE, IDLE):
        DATABASE_CONNECTIONS.labels(state)


def count_in_files() -> None:
    """Start every meter again, in the files of `PROMETHEUS_MULTIPROC_DIR`, which the processes of one part share.

    prometheus_client chooses where it counts when it is imported. A forked process has it from its parent.
    """
    values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call] # of the library
    for meter in [meter for meter in globals().values() if isinstance(meter, MetricWrapperBase)]:
        if meter._labelnames:  # noqa: SLF001 - the library has no other way, test_processes.py sees it change
            meter.clear()
        else:
            meter._metric_init()  # type: ignore[no-untyped-call] # of the library  # noqa: SLF001 - as above
    begin_at_zero()


begin_at_zero()
