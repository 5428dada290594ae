"""Celery worker of the node. Its only task stores wake-ups in the spool, so messages are acknowledged at once.

It is a separate process, which the agent restarts when it stops receiving. Runs never depend on it.
"""

import logging
import os
import ssl
import sys
import warnings
from pathlib import Path
from typing import Any, Final, TypeGuard
from urllib.parse import urlsplit

from celery import Celery
from celery.signals import setup_logging
from celery.utils.nodenames import host_format

from iotide_agent.core.spool import Offer, Spool
from iotide_agent.logs import log_to_stderr
from iotide_agent.node.identity import Identity, load_identity
from iotide_agent.runner.files import replace_file
from iotide_agent.runner.processes import die_with_parent

TASK_NAME: Final = "iotide.wake"
_MAX_ID: Final = 2**63 - 1


def celery_app(identity: Identity, spool: Spool, broker_address: str | None = None) -> Celery:
    broker = identity.broker
    suffix = broker.queue.removeprefix("node.")
    app = Celery(
        "iotide_agent",
        broker=_reached_at(broker.url, broker_address),
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        result_backend=None,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_concurrency=1,
        worker_pool="solo",
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "visibility_timeout": 300,
            # Both are needed: a dead connection is noticed after ten seconds instead of never.
            "socket_timeout": 5,
            "health_check_interval": 5,
            "socket_connect_timeout": 3,
            "socket_keepalive": True,
            # Own keys, so that the node's Redis user needs no access to other nodes' messages.
            "unacked_key": f"unacked.{suffix}",
            "unacked_index_key": f"unacked_index.{suffix}",
            "unacked_mutex_key": f"unacked_mutex.{suffix}",
        },
        broker_use_ssl=_tls(identity, spool.state_directory),
    )
    # Celery's constructor would drop a None, which here means: no outage of Redis ends the worker.
    app.conf.broker_connection_max_retries = None

    @app.task(name=TASK_NAME, shared=False)  # type: ignore[untyped-decorator]  # Celery ships no types
    def wake(order_id: object, fence: object) -> None:
        """Store an offer; ignore anything but two numbers."""
        if _is_id(order_id) and _is_id(fence):
            spool.write_offer(Offer(order_id, fence))

    return app


def main(state_directory: Path, supervisor_pid: int, broker_address: str | None = None) -> None:
    die_with_parent()
    if os.getppid() != supervisor_pid:
        return  # it died before the death signal was set up
    # The agent may be root on purpose; messages are JSON, so they cannot run code.
    warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")
    log_to_stderr("worker")
    # A receiver here keeps Celery from setting up its own log.
    setup_logging.connect(_log_as_configured)
    identity = load_identity(state_directory)
    app = celery_app(identity, Spool(state_directory), broker_address)
    queue = identity.broker.queue
    # Started directly, because the modules of `celery worker` take a quarter of the start time.
    app.Worker(
        hostname=host_format(f"{queue}@%h"),
        queues=[queue],
        concurrency=1,
        pool="solo",
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    ).start()


def _log_as_configured(**_: object) -> None:
    for library in ("celery", "kombu", "amqp"):
        logging.getLogger(library).setLevel(logging.WARNING)


def _reached_at(url: str, address: str | None) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@{address}").geturl() if address else url


def _tls(identity: Identity, state_directory: Path) -> dict[str, Any] | None:
    broker = identity.broker
    if not broker.url.startswith("rediss://"):
        return None
    required = {"ssl_cert_reqs": ssl.CERT_REQUIRED}
    if broker.ca_pem is None:
        return required
    authority = state_directory / "broker-ca.pem"
    replace_file(authority, broker.ca_pem, durable=False)
    return required | {"ssl_ca_certs": str(authority)}


def _is_id(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MAX_ID


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:4])
