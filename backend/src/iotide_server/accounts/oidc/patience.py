"""How long anybody waits for the OpenID provider: not longer than a limit, and not in turn behind others who do."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime, timedelta
from threading import BoundedSemaphore, Thread
from typing import Final, TypeVar

from iotide_server.accounts.oidc.errors import PROVIDER_AWAY
from iotide_wire.units import format_seconds

_REST: Final = timedelta(seconds=5)
"""So long after a limit passed nobody tries again: those who waited for their turn are told at once."""
_MOST_OPEN: Final = 16
"""Conversations, those included that nobody waits for any more because the provider sends them byte by byte."""

T = TypeVar("T")


class ProviderLimit:
    """The limit of each conversation with one provider; safe for several threads."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._open = BoundedSemaphore(_MOST_OPEN)
        self._rests_until: datetime | None = None

    def within(self, talk: Callable[[], T], now: datetime) -> T:
        """Return what the conversation gives; raise PROVIDER_AWAY where it, or one just before, took too long."""
        if self._rests_until is not None and now < self._rests_until:
            raise PROVIDER_AWAY(why="it took too long to answer others a moment ago")
        if not self._open.acquire(blocking=False):
            raise PROVIDER_AWAY(why="too many conversations with it are without an end")
        outcome: Future[T] = Future()
        # No pool: the end of the process would wait for its threads, and so for the provider.
        Thread(target=self._talk, args=(talk, outcome), name="openid-provider", daemon=True).start()
        try:
            return outcome.result(self._seconds)
        except TimeoutError as error:
            self._rests_until = now + timedelta(seconds=self._seconds) + _REST
            raise PROVIDER_AWAY(why=f"it did not answer within {format_seconds(self._seconds)}") from error

    def _talk(self, talk: Callable[[], T], outcome: "Future[T]") -> None:
        try:
            outcome.set_result(talk())
        except Exception as error:  # noqa: BLE001 - whoever waits gets it, whatever it is
            outcome.set_exception(error)
        finally:
            self._open.release()
