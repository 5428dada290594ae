"""Limits each person to one heavy request across all API processes."""

from contextlib import suppress
from threading import Lock
from typing import Final

from sqlalchemy import TextClause, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from iotide_server.kit.app_values import AppValue
from iotide_server.kit.db import open_engine

TURNS: Final[AppValue["Turns"]] = AppValue("turns")


_KIND: Final = 0x68656176  # "heav": separate from other advisory locks
_ANSWER_SECONDS: Final = 5.0
_TRIES: Final = 2
_TAKE: Final = text("SELECT pg_try_advisory_lock(:kind, hashtext(:holder))")
_GIVE_BACK: Final = text("SELECT pg_advisory_unlock(:kind, hashtext(:holder))")


class Turns:
    """Advisory locks on one connection of this process; they end with it."""

    def __init__(self, database_url: str) -> None:
        self._engine = open_engine(database_url, pool_size=1, statement_seconds=_ANSWER_SECONDS)
        self._connection: Connection | None = None
        self._held = set[str]()
        self._lock = Lock()

    def take(self, holder: str) -> bool:
        """Return false if the holder already has a turn in any process. Raise OperationalError."""
        with self._lock:
            # PostgreSQL would grant a connection's lock to it again.
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
                self._drop()  # which releases the locks

    def close(self) -> None:
        with self._lock:
            self._drop()
            self._engine.dispose()

    def _take(self, holder: str) -> bool:
        for left in reversed(range(_TRIES)):
            try:
                return self._ask(_TAKE, holder)
            except DBAPIError:
                self._drop()
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
