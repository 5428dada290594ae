"""One heavy request per person at a time, whichever process of the API serves it."""

from contextlib import suppress
from threading import Lock
from typing import Final

from sqlalchemy import TextClause, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from iotide_server.kit.app_values import AppValue
from iotide_server.kit.db import open_engine

TURNS: Final[AppValue["Turns"]] = AppValue("turns")


_KIND: Final = 0x68656176  # "heav": advisory locks of other kinds stay apart
_ANSWER_SECONDS: Final = 5.0
_TRIES: Final = 2
_TAKE: Final = text("SELECT pg_try_advisory_lock(:kind, hashtext(:holder))")
_GIVE_BACK: Final = text("SELECT pg_advisory_unlock(:kind, hashtext(:holder))")


class Turns:
    """Keeps turns as advisory locks of PostgreSQL on one connection of this process, with which they end."""

    def __init__(self, database_url: str) -> None:
        self._engine = open_engine(database_url, pool_size=1, statement_seconds=_ANSWER_SECONDS)
        self._connection: Connection | None = None
        self._held = set[str]()
        self._lock = Lock()

    def take(self, holder: str) -> bool:
        """Give the holder a turn; False where it has one already, in whichever process. Raise OperationalError."""
        with self._lock:
            # PostgreSQL would give a connection the lock that it has once more.
            if holder in self._held or not self._take(holder):
                return False
            self._held.add(holder)
            return True

    def give_back(self, holder: str) -> None:
        with self._lock:
            self._held.discard(holder)
            try:
                self._ask(_GIVE_BACK, holder)
            except DBAPIError:
                self._drop()  # PostgreSQL frees the locks of a connection that has ended

    def close(self) -> None:
        """End all turns."""
        with self._lock:
            self._drop()
            self._engine.dispose()

    def _take(self, holder: str) -> bool:
        for left in reversed(range(_TRIES)):
            try:
                return self._ask(_TAKE, holder)
            except DBAPIError:
                self._drop()  # it may have been dead for long
                if not left:
                    raise
        return False

    def _ask(self, statement: TextClause, holder: str) -> bool:
        if self._connection is None:
            self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        return bool(self._connection.scalar(statement, {"kind": _KIND, "holder": holder}))

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(DBAPIError):
                self._connection.invalidate()
                self._connection.close()
            self._connection = None
