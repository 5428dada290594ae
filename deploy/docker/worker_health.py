"""Health check of the worker in docker-compose.yml, which has no port. Exit status 0 if it works.

Usage: worker_health.py, inside the worker's container.
"""

import os
import socket
import sys
from pathlib import Path
from typing import Final

from redis import Redis

_ANSWER_SECONDS: Final = 10.0


def waits_for_work() -> bool:
    """Return whether this container waits for work in Redis, or did before its current work.

    Remote control is off, so the worker cannot be asked.
    """
    url = (Path(os.environ["IOTIDE_SECRETS"]) / "iotide_redis_admin_url").read_text()
    with Redis.from_url(url, socket_timeout=_ANSWER_SECONDS, socket_connect_timeout=_ANSWER_SECONDS) as redis:
        own = {address[4][0] for address in socket.getaddrinfo(socket.gethostname(), None)}
        clients = redis.client_list()
    return any(client["cmd"] == "brpop" and client["addr"].rpartition(":")[0] in own for client in clients)


if __name__ == "__main__":
    sys.exit(0 if waits_for_work() else 1)
