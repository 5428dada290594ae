"""Celery worker of the server."""

from collections.abc import Mapping
from datetime import timedelta
from threading import BoundedSemaphore
from typing import Final

from celery.signals import setup_logging, worker_ready
from structlog.contextvars import bound_contextvars

from iotide_server.alerts.digest import send_channel_digests
from iotide_server.alerts.incidents.joining import INCIDENTS, request_incidents
from iotide_server.alerts.incidents.notifying import ALERT_GROUP, send_incident
from iotide_server.alerts.oversight import watch_cluster
from iotide_server.alerts.raising import raise_alerts
from iotide_server.alerts.repository import noteworthy_series
from iotide_server.alerts.rules import add_default_rule
from iotide_server.bundled.readiness import announce_ready
from iotide_server.campaigns.rounds import rounds_handler
from iotide_server.clusters.service import DEFAULT_RULE
from iotide_server.kit.allocation import give_memory_back
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import WORK_STATEMENT_SECONDS, Database, open_engine
from iotide_server.kit.pulse import PULSE, pulse_handler
from iotide_server.kit.queue import SERVER_QUEUE, WORK_TASK, celery_app
from iotide_server.kit.quotas import IN_SESSION
from iotide_server.kit.work import Handler, ManyHandler, do_together, do_work, put_off, run_errand, suspect
from iotide_server.monitoring.exposition import WORKER_OFFSET, ProcessMetrics, registry_of, serve_metrics
from iotide_server.notifications.deliveries import Office
from iotide_server.notifications.digests import DIGEST
from iotide_server.notifications.sending import Courier
from iotide_server.notifications.service import DELIVERY
from iotide_server.results.ingest.service import POINTS
from iotide_server.retention.service import RETENTION, give_up_old
from iotide_server.runs.service import ROUNDS
from iotide_server.settings import Settings
from iotide_server.targets.agents import OVERSIGHT
from iotide_server.trends.changes.analysis import REANALYSIS, analyse_series, analyse_young, reanalyse
from iotide_server.trends.events.judging import EVENTS, judge_event
from iotide_server.trends.peers.marks import judge_peers, judge_together
from iotide_server.trends.points.service import ALERTS, ANALYSIS, PEERS, recompute_points
from iotide_server.trends.points.superseding import SUPERSEDED, settle_superseded

HANDLERS: Final[Mapping[str, Handler]] = {
    POINTS: recompute_points,
    ANALYSIS: analyse_series,
    PEERS: judge_peers,
    EVENTS: judge_event,
    SUPERSEDED: settle_superseded,
    REANALYSIS: reanalyse,
    ALERTS: raise_alerts,
    ALERT_GROUP: send_incident,
    INCIDENTS: request_incidents,
    DEFAULT_RULE: add_default_rule,
    OVERSIGHT: watch_cluster,
    DIGEST: send_channel_digests,
    RETENTION: give_up_old,
    ROUNDS: rounds_handler(system_clock),
    PULSE: pulse_handler(system_clock),
}

TOGETHER: Final[Mapping[str, ManyHandler]] = {
    ANALYSIS: analyse_young,
    ALERTS: noteworthy_series,
    PEERS: judge_together,
}

_THREADS: Final = 3
_THREADS_OUT: Final = 2  # may wait for receivers of messages; the others always compute

_TAKEN_UP_AFTER: Final = timedelta(seconds=1)  # to send a delivery again when all are busy


def run(settings: Settings) -> None:
    give_memory_back()
    database_url = settings.database_url.get_secret_value()
    engine = open_engine(database_url, pool_size=_THREADS, statement_seconds=WORK_STATEMENT_SECONDS)
    database = Database(engine, info={IN_SESSION: settings.quotas})
    registry = registry_of(ProcessMetrics("worker", database.engine))
    serve_metrics(registry, settings.metrics_address, WORKER_OFFSET)
    app = celery_app(settings.redis_url.get_secret_value())
    office = Office(settings.vault, Courier(settings.reach), settings.public_url, system_clock)
    may_go_out = BoundedSemaphore(_THREADS_OUT)

    def work(kind: str, *keys: int) -> None:
        if kind not in {DELIVERY, PULSE}:
            suspect(database, kind, keys)
        left, before = list(keys), 0
        while kind in TOGETHER and len(left) > 1 and len(left) != before:
            before = len(left)
            left = do_together(database, TOGETHER[kind], kind, left)
        failures: list[Exception] = []
        for key in left:
            with bound_contextvars(work_kind=kind, work_key=key):
                try:
                    do(kind, key)
                except Exception as error:  # noqa: BLE001 - other keys must still be done
                    failures.append(error)
        if failures:
            raise ExceptionGroup(f"{kind}: {len(failures)} of {len(keys)} failed", failures)

    def do(kind: str, key: int) -> None:
        if kind != DELIVERY:
            do_work(database, HANDLERS, kind, key)
        elif may_go_out.acquire(blocking=False):
            try:
                run_errand(database, office.errand, kind, key, system_clock())
            finally:
                may_go_out.release()
        else:
            put_off(database, kind, key, system_clock() + _TAKEN_UP_AFTER)

    app.task(work, name=WORK_TASK)
    worker_ready.connect(_announce_ready)
    setup_logging.connect(_log_as_configured)
    app.worker_main(
        [
            *("--quiet", "worker", f"--queues={SERVER_QUEUE}", "--pool=threads", f"--concurrency={_THREADS}"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING"),
        ]
    )
    database.engine.dispose()


def _announce_ready(**_: object) -> None:
    announce_ready()


def _log_as_configured(**_: object) -> None:
    pass  # without a receiver, Celery would configure logging
