"""One LISTEN connection per API process, its news handed to every open stream without waiting for any of them."""

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
"""Streams that one person has open at one API process; a browser needs one, whatever the number of its windows."""

_MOST_WAITING = 4000  # more, and everything is asked for again
_RECONNECT_SECONDS = 1.0
_log = structlog.get_logger(__name__)

TOO_MANY_STREAMS = ErrorKind(429, "too_many_streams").says(
    f"you have {MOST_STREAMS} streams open already", "close some of them, or wait until one has ended"
)


class ChangeNotice(BaseModel):
    """A row of `change`, as the notification carries it."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    id: int
    kind: str
    subject_id: int
    cluster_id: int | None


class Subscription:
    """What waits for one stream, of each row its latest news. Who falls too far behind loses all and is told so."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, int, int | None], ChangeNotice] = {}
        self._has_missed = False
        self._stirred = asyncio.Event()

    def tell(self, news: ChangeNotice) -> None:
        """Add news; never waits."""
        row = (news.kind, news.subject_id, news.cluster_id)
        self._waiting.pop(row, None)  # so that the latest news come last: a stream goes on after the last that it read
        if len(self._waiting) >= _MOST_WAITING:
            self.miss()
        else:
            self._waiting[row] = news
            self._stirred.set()

    def miss(self) -> None:
        """Say that news got lost."""
        self._waiting.clear()
        self._has_missed = True
        self._stirred.set()

    async def take(self) -> list[ChangeNotice] | None:
        """All that waits, at least one; None when news got lost and the reader must look at everything again."""
        await self._stirred.wait()
        self._stirred.clear()
        taken = None if self._has_missed else list(self._waiting.values())
        self._waiting.clear()
        self._has_missed = False
        return taken


class Feed:
    """Listens to PostgreSQL for as long as `run` runs."""

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        self._subscriptions: set[Subscription] = set()
        self._open_streams: Counter[Holder] = Counter()
        self.is_listening = asyncio.Event()

    def has_place(self, holder: Holder) -> bool:
        """Whether a person (or an address, of those who read unknown) may open one more stream."""
        return self._open_streams[holder] < MOST_STREAMS

    @contextmanager
    def subscribe(self, holder: Holder) -> Iterator[Subscription]:
        """News from now on, for this holder of a place."""
        subscription = Subscription()
        self._subscriptions.add(subscription)
        self._open_streams[holder] += 1
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
            self._open_streams[holder] -= 1
            self._open_streams += Counter()  # forgets who has none

    async def run(self) -> None:
        """Listen, and come back after every loss of the connection, until cancelled."""
        while True:
            try:
                await self._listen()
            except psycopg.OperationalError as error:
                _log.warning("news_interrupted", error=str(error))
            self.is_listening.clear()
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _listen(self) -> None:
        async with await psycopg.AsyncConnection.connect(self._database_url, autocommit=True) as connection:
            await connection.execute(f"LISTEN {CHANNEL}".encode())
            # What was published while nobody listened is unknown.
            for subscription in self._subscriptions:
                subscription.miss()
            self.is_listening.set()
            async for notification in connection.notifies():
                news = ChangeNotice.model_validate_json(notification.payload)
                for subscription in self._subscriptions:
                    subscription.tell(news)
