"""The queues and keys of a test's Redis."""

import json
import time
from base64 import b64decode
from dataclasses import dataclass

from redis import Redis


@dataclass
class BrokerView:
    """The queues and keys in Redis."""

    redis: Redis

    def take(self, queue: str) -> list[list[object]]:
        """Remove and return the arguments of all messages on a queue, in order."""
        messages = []
        while isinstance(raw := self.redis.rpop(queue), bytes):
            messages.append(json.loads(b64decode(json.loads(raw)["body"]))[0])
        return messages

    def append_again(self) -> None:
        """Turn the append-only file on again after a test turned it off; until it exists, Redis refuses to shut
        down.
        """
        self.redis.config_set("appendonly", "yes")
        unfinished = ("aof_rewrite_scheduled", "aof_rewrite_in_progress")
        while any(self.redis.info("persistence")[name] for name in unfinished):
            time.sleep(0.01)
