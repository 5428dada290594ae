"""Distributes changes from one LISTEN connection per API process to all streams."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
import structlog
from pydantic import BaseModel, ConfigDict

from iotide_server.change_feed.service import CHANNEL
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.errors import ErrorKind
from iotide_server.kit.one_each import Holder

FEED: Final[AppValue["Feed"]] = AppValue("feed")


MOST_STREAMS = 20
"""Per person and API process. A browser needs one stream for all its windows."""

_MOST_WAITING = 4000  # beyond it, the browser reloads everything
_RECONNECT_SECONDS = 1.0
_log = structlog.get_logger(__name__)

TOO_MANY_STREAMS = ErrorKind(429, "too_many_streams").says(
    f"you already have {MOST_STREAMS} open streams", "close other browser windows, or wait until a stream ends"
)


class ChangeNotice(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)

    id: int
    kind: str
    subject_id: int
    cluster_id: int | None


class Subscription:
    """Changes that wait for one stream, the latest per row. A stream that falls too far behind is reset."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, int, int | None], ChangeNotice] = {}
        self._has_missed = False
        self._stirred = asyncio.Event()

    def add(self, notice: ChangeNotice) -> None:
        row = (notice.kind, notice.subject_id, notice.cluster_id)
        self._waiting.pop(row, None)  # latest last: a stream resumes after the last event that it read
        if len(self._waiting) >= _MOST_WAITING:
            self.miss()
        else:
            self._waiting[row] = notice
            self._stirred.set()

    def miss(self) -> None:
        self._waiting.clear()
        self._has_missed = True
        self._stirred.set()

    async def take(self) -> list[ChangeNotice] | None:
        """Return None if changes were lost and the client must reload everything."""
        await self._stirred.wait()
        self._stirred.clear()
        taken = None if self._has_missed else list(self._waiting.values())
        self._waiting.clear()
        self._has_missed = False
        return taken


class Feed:
    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        self._subscriptions: set[Subscription] = set()
        self._open_streams: Counter[Holder] = Counter()
        self.is_listening = asyncio.Event()

    def has_place(self, holder: Holder) -> bool:
        return self._open_streams[holder] < MOST_STREAMS

    @contextmanager
    def subscribe(self, holder: Holder) -> Iterator[Subscription]:
        subscription = Subscription()
        self._subscriptions.add(subscription)
        self._open_streams[holder] += 1
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
            self._open_streams[holder] -= 1
            self._open_streams += Counter()

    async def run(self) -> None:
        """Listen until cancelled, and reconnect when needed."""
        while True:
            try:
                await self._listen()
            except psycopg.OperationalError as error:
                _log.warning("change_feed_interrupted", error=str(error))
            self.is_listening.clear()
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _listen(self) -> None:
        async with await psycopg.AsyncConnection.connect(self._database_url, autocommit=True) as connection:
            await connection.execute(f"LISTEN {CHANNEL}".encode())
            # Changes while disconnected are unknown.
            for subscription in self._subscriptions:
                subscription.miss()
            self.is_listening.set()
            async for notification in connection.notifies():
                notice = ChangeNotice.model_validate_json(notification.payload)
                for subscription in self._subscriptions:
                    subscription.add(notice)
