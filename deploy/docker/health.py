"""Says by its exit status whether a part of docker-compose.yml that listens on no port does its work.

Usage: health.py scheduler|worker, inside the part's own container.
"""

import json
import os
import socket
import sys
import urllib.request
from pathlib import Path
from typing import Final

from redis import Redis

_API: Final = "http://api:8470"
_ANSWER_SECONDS: Final = 3.0


def scheduler_works() -> bool:
    """Whether a scheduler holds the lock by which one of them is elected."""
    with urllib.request.urlopen(f"{_API}/api/v1/health", timeout=_ANSWER_SECONDS) as answer:
        return bool(json.load(answer)["scheduler"] == "ok")


def worker_works() -> bool:
    """Whether this container waits for work in Redis, or did so before the work that it has now."""
    url = (Path(os.environ["IOTIDE_SECRETS"]) / "iotide_redis_admin_url").read_text()
    with Redis.from_url(url, socket_timeout=_ANSWER_SECONDS, socket_connect_timeout=_ANSWER_SECONDS) as redis:
        own = {address[4][0] for address in socket.getaddrinfo(socket.gethostname(), None)}
        clients = redis.client_list()
    return any(client["cmd"] == "brpop" and client["addr"].rpartition(":")[0] in own for client in clients)


if __name__ == "__main__":
    sys.exit(0 if {"scheduler": scheduler_works, "worker": worker_works}[sys.argv[1]]() else 1)
