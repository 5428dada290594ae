"""Server work as rows: a Celery message only names the row, so a lost or doubled message loses or doubles nothing."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar

import structlog
from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from iotide_server.kit.db import Base, Database
from iotide_server.kit.meters import WORK_FAILURES, WORK_SECONDS

Handler = Callable[[Session, int], datetime | None]
"""Does the work of one kind on the row with that key, in a transaction that it is given; harmless to do twice.

Returns when it is to be done again; None: not until somebody wants it.
"""

ManyHandler = Callable[[Session, Sequence[int]], Collection[int]]
"""Does the work of one kind on the rows with these keys at once, where a few statements do for all of them.

Returns those of the keys for which they did not: these are done one by one.
"""

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

SUSPECT_AFTER: Final = 3
"""Work that was named so often without an end may be what ends the worker, for instance for want of memory."""

SENDS_KEPT: Final = 6
"""Work that begins to fail counts as named this often at most.

It is still known to be late by five minutes, and its second pause is at most 11 minutes.
"""

BEGUN: Final = "begun"  # the failure of such work, from before it is begun until its end or until it is named again

UNENDED: Final = "begun and not ended: the worker ended over it, for instance for want of memory, or is still at it"
"""The failure of such work once it is named again."""

FAILING: Final = f"failure <> '{BEGUN}'"
"""SQL for the open work that fails; other work that has a failure is being done."""

_WAIVED: Final = "wants_no_work"
_log = structlog.get_logger(__name__)

HELD_FOR: Final = timedelta(minutes=3)
"""An errand is nobody else's for so long; whoever has not come back by then has died on the way."""


@dataclass(frozen=True, slots=True)
class Errand(Generic[Task, Outcome]):
    """Work that waits for somebody out there, which no transaction does: it reads, goes, and writes what came of it."""

    # Whoever dies between the last two is taken for one who never went: what it does out there may be done twice.

    # in a transaction: what there is to do; None: nothing any more; a time: not before
    begin: Callable[[Session, int], Task | datetime | None]
    go: Callable[[Task], Outcome]  # without one. A failure is an outcome, and an exception a fault of ours.
    # in a transaction: keeps the outcome, and returns when the errand is to be run again; None: it is done
    end: Callable[[Session, int, Outcome], datetime | None]


_WANT: Final = text(
    """
    WITH wanted AS (
        INSERT INTO work (kind, key, due_at)
        SELECT :kind, key, :due_at FROM unnest(CAST(:keys AS bigint[])) AS key ORDER BY key
        ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1,
            (sends, due_at) = (SELECT
                CASE WHEN failing THEN work.sends ELSE 0 END,
                CASE WHEN failing THEN work.due_at ELSE LEAST(
                    excluded.due_at, CASE WHEN work.done_version < work.version THEN work.due_at END
                ) END
            FROM (SELECT work.done_version < work.version AND work.failure IS NOT NULL AS failing) AS known)
    ) SELECT pg_notify('iotide_wake', 'work')
    """
)
_DONE: Final = text(
    # Locked in the order in which others ask for many. Work with a failure was not made due when it was wanted again.
    """
    UPDATE work SET done_version = done.version, failure = NULL, held_until = NULL,
        sends = CASE WHEN was_put_off THEN 0 ELSE sends END,
        due_at = CASE WHEN was_put_off THEN least(due_at, now()) ELSE due_at END
    FROM (
        SELECT key, seen.version, work.version > seen.version AND failure IS NOT NULL AS was_put_off
        FROM work JOIN unnest(CAST(:keys AS bigint[]), CAST(:versions AS bigint[])) AS seen (key, version) USING (key)
        WHERE kind = :kind ORDER BY key FOR NO KEY UPDATE OF work
    ) AS done
    WHERE work.kind = :kind AND work.key = done.key
    """
)
_TAKE: Final = text(
    """
    SELECT key FROM unnest(CAST(:keys AS bigint[])) AS key
    WHERE pg_try_advisory_xact_lock(hashtextextended(:kind, key))
    """
)
_OPEN: Final = text(
    "SELECT key, version FROM work WHERE kind = :kind AND key = ANY(:keys) AND done_version < version ORDER BY key"
)
_AGAIN: Final = text(
    """
    UPDATE work SET failure = NULL, sends = 0,
        held_until = CASE WHEN version = :version THEN CAST(:again_at AS timestamptz) END,
        due_at = CASE WHEN version = :version THEN :again_at
                      WHEN failure IS NOT NULL THEN least(due_at, now()) ELSE due_at END
    WHERE kind = :kind AND key = :key
    """
)
_FAILED: Final = text(
    """
    UPDATE work SET failure = :failure, held_until = NULL,
        sends = CASE WHEN failure IS NULL THEN least(sends, :sends_kept) ELSE sends END
    WHERE kind = :kind AND key = :key
    """
).bindparams(sends_kept=SENDS_KEPT)
_SUSPECT: Final = text(
    """
    UPDATE work SET failure = :failure, sends = least(sends, :sends_kept)
    FROM (
        SELECT key FROM work WHERE kind = :kind AND key = ANY(:keys)
        AND done_version < version AND sends >= :suspect_after AND failure IS NULL
        ORDER BY key FOR NO KEY UPDATE SKIP LOCKED
    ) AS begun
    WHERE work.kind = :kind AND work.key = begun.key
    """
).bindparams(suspect_after=SUSPECT_AFTER, sends_kept=SENDS_KEPT, failure=BEGUN)
_PUT_OFF: Final = text(
    "UPDATE work SET due_at = :until, sends = greatest(sends - 1, 0)"
    " WHERE kind = :kind AND key = :key AND done_version < version"
)
_HOLD: Final = text(
    """
    UPDATE work SET held_until = :until
    WHERE kind = :kind AND key = :key AND done_version < version AND coalesce(held_until <= :now, true)
    RETURNING version
    """
)


class Work(Base):
    """A piece of server work, for instance the follow-up of one run's results."""

    __tablename__ = "work"

    # kind, key: what to do and on which row
    kind: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[int] = mapped_column(primary_key=True)
    due_at: Mapped[datetime]  # the scheduler sends its message from then on, again with back-off until it is done
    version: Mapped[int] = mapped_column(server_default="1")  # raised whenever the work is wanted again
    # the version that was last completed; done when equal to `version`
    done_version: Mapped[int] = mapped_column(server_default="0")
    # how often it was named since it was wanted; while it fails, wanting it again changes nothing
    sends: Mapped[int] = mapped_column(server_default="0")
    failure: Mapped[str | None]  # why it failed when it was last tried, `BEGUN` or `UNENDED`; None once it is done
    # an errand is not run before: somebody is out with it, who is given up then, or it rests so long
    held_until: Mapped[datetime | None]

    __table_args__ = (Index("ix_work_due", "due_at", postgresql_where=text("done_version < version")),)


def want_work(session: Session, kind: str, key: int, due_at: datetime) -> None:
    """Ask for the work (kind, key) to be done after this transaction; asking again before it ran changes nothing."""
    want_all(session, kind, [key], due_at)


def want_all(session: Session, kind: str, keys: Collection[int], due_at: datetime) -> None:
    """As `want_work`, of many rows at once."""
    if keys and _WAIVED not in session.info:
        session.execute(_WANT, {"kind": kind, "keys": sorted(set(keys)), "due_at": due_at})


def waive_work(session: Session) -> None:
    """Want no work of this transaction: who writes very much does in it what follows."""
    session.info[_WAIVED] = True


def do_work(database: Database, handlers: Mapping[str, Handler], kind: str, key: int) -> None:
    """Do the work (kind, key) if it is wanted and nobody is at it, and write in the transaction that it is done."""
    # When it fails, why is written down before the error goes on, and the scheduler asks for it again.
    with _failure_noted(database, kind, key), database.transaction() as session:
        for version in _taken(session, kind, [key]).values():
            _complete(session, kind, key, version, handlers[kind](session, key))


def suspect(database: Database, kind: str, keys: Sequence[int]) -> None:
    """Note before work is begun that it does not end, where it was named often: whoever is killed notes nothing."""
    # The scheduler names work with a failure by itself, and puts it off ever longer.
    with database.transaction() as session:
        session.execute(_SUSPECT, {"kind": kind, "keys": list(keys)})


def do_together(database: Database, handler: ManyHandler, kind: str, keys: Sequence[int]) -> list[int]:
    """Do what is still wanted and write so in one transaction; return the keys left to `do_work`, all if it fails."""
    try:
        with WORK_SECONDS.labels(kind).time(), database.transaction() as session:
            taken = _taken(session, kind, keys)
            left = handler(session, list(taken)) if taken else ()
            done = taken.keys() - set(left)
            session.execute(_DONE, {"kind": kind, "keys": list(done), "versions": [taken[key] for key in done]})
    except Exception as error:  # noqa: BLE001 - whichever of them it was fails by itself, and says why
        _log.warning("work_not_done_together", work_kind=kind, rows=len(keys), error=str(error))
        return list(keys)
    return list(left)


def _taken(session: Session, kind: str, keys: Sequence[int]) -> dict[int, int]:
    """The version of each row of which the work is wanted and nobody else at it until the end of the transaction."""
    ours = session.scalars(_TAKE, {"kind": kind, "keys": list(keys)}).all()
    return {row.key: row.version for row in session.execute(_OPEN, {"kind": kind, "keys": ours})}


def run_errand(database: Database, errand: Errand[Any, Any], kind: str, key: int, now: datetime) -> None:
    """Run the errand (kind, key) as `do_work` does work; while it is out, no connection is held."""
    with _failure_noted(database, kind, key):
        with database.transaction() as session:
            version = session.scalar(_HOLD, {"kind": kind, "key": key, "now": now, "until": now + HELD_FOR})
            if version is None:
                return
            task = errand.begin(session, key)
            if task is None or isinstance(task, datetime):
                _complete(session, kind, key, version, task)
                return
        outcome = errand.go(task)
        with database.transaction() as session:
            _complete(session, kind, key, version, errand.end(session, key, outcome))


def put_off(database: Database, kind: str, key: int, until: datetime) -> None:
    """Have the work (kind, key) named again then, as if it had not been named now."""
    with database.transaction() as session:
        session.execute(_PUT_OFF, {"kind": kind, "key": key, "until": until})


def _complete(session: Session, kind: str, key: int, version: int, again_at: datetime | None) -> None:
    """Write that this version is done, or rests until it is done again; what was asked for meanwhile stays wanted."""
    session.flush()
    if again_at is None:
        session.execute(_DONE, {"kind": kind, "keys": [key], "versions": [version]})
    else:
        session.execute(_AGAIN, {"kind": kind, "key": key, "version": version, "again_at": again_at})


@contextmanager
def _failure_noted(database: Database, kind: str, key: int) -> Iterator[None]:
    try:
        with WORK_SECONDS.labels(kind).time():
            yield
    except Exception as error:
        WORK_FAILURES.labels(kind).inc()
        with database.transaction() as session:
            failure = f"{type(error).__name__}: {error}"[:1000]
            session.execute(_FAILED, {"kind": kind, "key": key, "failure": failure})
        raise
