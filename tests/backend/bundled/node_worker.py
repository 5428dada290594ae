"""A node's Celery worker as agents run it; writes the arguments of each wake-up to a file, one a line."""

import sys
from pathlib import Path

from celery import Celery

from iotide_server.bundled.acl import node_queue, node_transport_options


def node_app(broker_url: str, node_id: int) -> Celery:
    """A Celery application with the settings that keep a worker to its own keys."""
    app = Celery("node", broker=broker_url)
    app.conf.update(
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_concurrency=1,
        worker_pool="solo",
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "visibility_timeout": 300,
            "socket_timeout": 5,
            "socket_connect_timeout": 3,
            "socket_keepalive": True,
            "health_check_interval": 5,
            **node_transport_options(node_id),
        },
    )
    return app


def main() -> None:
    broker_url, node_id, received = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    app = node_app(broker_url, node_id)

    @app.task(name="iotide.wake")  # type: ignore[untyped-decorator]  # celery ships no types
    def wake(order_id: int, fence: int) -> None:
        with received.open("a") as file:
            file.write(f"{order_id} {fence}\n")

    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING")
    app.worker_main(["worker", "--queues", node_queue(node_id), *quiet])


if __name__ == "__main__":
    main()
