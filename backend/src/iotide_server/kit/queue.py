"""The server's end of Celery: messages that wake a node or name rows of work, and decide nothing."""

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
    # Without both, a connection that was dropped silently leaves a client deaf for minutes.
    "socket_timeout": 5,
    "health_check_interval": 5,
    "socket_connect_timeout": 3,
    "socket_keepalive": True,
}
_WRONG_TYPE: Final = "WRONGTYPE"  # how Redis begins its answer to a command for another type of key
_FAIL_AT_ONCE: Final = {"max_retries": 0, "interval_start": 0, "interval_step": 0, "interval_max": 0}


class BrokerAwayError(Exception):
    """Redis did not take a message; whoever sent it tries again later."""


class BrokenQueueError(Exception):
    """A key of this one queue is of a type that no queue has; other queues take messages."""


def celery_app(redis_url: str) -> Celery:
    """Celery as the server's worker uses it: rows hold the work, so a message is acknowledged before it is done."""
    app = Celery("iotide-server", broker=redis_url)
    app.conf.update(
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        result_backend=None,
        task_default_queue=SERVER_QUEUE,
        # With `worker_disable_prefetch`, a pool of threads that was busy once is looked at once a second: four tasks.
        # What another worker has fetched and not begun may be done twice, which rows see to.
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        # Celery 6 turns this on; a task would then be killed when Redis blinks.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options=_TRANSPORT,
    )
    return app


class Broker:
    """Sends messages, each at once or not at all: the rows they name are offered again anyway."""

    def __init__(self, redis_url: str, named_together: Collection[str] = (), *, admin_url: str | None = None) -> None:
        """Open no connection yet; `admin_url` is of a user that may delete keys, None where `redis_url` is."""
        self.named_together = named_together  # kinds of work of which one message names many rows
        self._app = celery_app(redis_url)
        self._app.conf.broker_transport_options = _TRANSPORT | _FAIL_AT_ONCE
        self._admin = Redis.from_url(admin_url or redis_url, socket_timeout=5, socket_connect_timeout=3)

    def send_wake(self, queue: str, order_id: int, fence: int) -> None:
        """Tell a node that there is something to do about an order; raise BrokerAwayError or BrokenQueueError."""
        # It never expires: a late one is harmless, and a node whose clock is ahead would throw all of them away.
        self._send(WAKE_TASK, queue, [order_id, fence])

    def send_work(self, kind: str, keys: Sequence[int]) -> None:
        """Tell the server's workers by one message that these work rows are due; raise BrokerAwayError."""
        self._send(WORK_TASK, SERVER_QUEUE, [kind, *keys])

    def delete(self, keys: Collection[str]) -> None:
        """Delete keys of Redis, with all that they hold; raise BrokerAwayError."""
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
            # What else Redis answers, as with a full disk or memory or without its users, it answers for every queue.
            failure = BrokenQueueError if _WRONG_TYPE in str(error) else BrokerAwayError
            raise failure(str(error)) from error
