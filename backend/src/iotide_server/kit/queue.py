"""Celery messages that wake nodes or name rows of work."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from celery import Celery
from kombu.exceptions import KombuError
from redis import Redis, RedisError

WAKE_TASK = "iotide.wake"
WORK_TASK = "iotide.work"
SERVER_QUEUE = "server"

_TRANSPORT: Final[dict[str, Any]] = {
    "visibility_timeout": 300,
    # Without both, noticing a silently dropped connection takes minutes.
    "socket_timeout": 5,
    "health_check_interval": 5,
    "socket_connect_timeout": 3,
    "socket_keepalive": True,
}
_WRONG_TYPE: Final = "WRONGTYPE"  # start of Redis' error for a key of another type
_FAIL_AT_ONCE: Final = {"max_retries": 0, "interval_start": 0, "interval_step": 0, "interval_max": 0}


class BrokerAwayError(Exception):
    """Redis did not accept a message; the sender retries."""


class BrokenQueueError(Exception):
    """A key of this queue has a wrong type. Other queues still work."""


def celery_app(redis_url: str) -> Celery:
    """Celery as the worker uses it. Rows hold the work, so messages are acknowledged early."""
    app = Celery("iotide-server", broker=redis_url)
    app.conf.update(
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        result_backend=None,
        task_default_queue=SERVER_QUEUE,
        # Not `worker_disable_prefetch`: after its thread pool was busy once, it fetches only four tasks per second.
        # The rows handle a prefetched task that runs twice.
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        # Celery 6 enables this, which kills tasks when Redis is interrupted.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options=_TRANSPORT,
    )
    return app


class Broker:
    """Sends messages without retries, because the scheduler sends due rows again."""

    def __init__(self, redis_url: str, named_together: Collection[str] = (), *, admin_url: str | None = None) -> None:
        """`admin_url` is for a user that may delete keys; default: `redis_url`."""
        self.named_together = named_together  # kinds of work with many rows per message
        self._app = celery_app(redis_url)
        self._app.conf.broker_transport_options = _TRANSPORT | _FAIL_AT_ONCE
        self._admin = Redis.from_url(admin_url or redis_url, socket_timeout=5, socket_connect_timeout=3)

    def send_wake(self, queue: str, order_id: int, fence: int) -> None:
        # No expiry: late messages do no damage, and a node with a fast clock would discard all.
        self._send(WAKE_TASK, queue, [order_id, fence])

    def send_work(self, kind: str, keys: Sequence[int]) -> None:
        self._send(WORK_TASK, SERVER_QUEUE, [kind, *keys])

    def delete(self, keys: Collection[str]) -> None:
        try:
            self._admin.unlink(*keys)
        except RedisError as error:
            raise BrokerAwayError(str(error)) from error

    def close(self) -> None:
        self._app.close()
        self._admin.close()

    def _send(self, task: str, queue: str, arguments: list[Any]) -> None:
        try:
            self._app.send_task(task, args=arguments, queue=queue, retry=False, ignore_result=True)
        except (KombuError, RedisError, OSError) as error:
            # Other errors, such as a full disk, concern all queues.
            failure = BrokenQueueError if _WRONG_TYPE in str(error) else BrokerAwayError
            raise failure(str(error)) from error
