"""Server work as rows. Celery messages only name a row, so losing or repeating one does no damage."""

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
"""Performs one kind of work on the row with that key, safe to repeat. Returns when the work is due again, or None."""

ManyHandler = Callable[[Session, Sequence[int]], Collection[int]]
"""Performs one kind of work on many rows with few statements. Returns the keys it left."""

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

SUSPECT_AFTER: Final = 3
"""Work sent this often without finishing may kill the worker, for instance by its memory."""

SENDS_KEPT: Final = 6
"""Send count at which work counts as failing: 5 minutes overdue, with pauses of at most 11 minutes."""

BEGUN: Final = "begun"

UNENDED: Final = "started but not finished: the worker died, for instance out of memory, or is still running it"
"""Failure of suspect work that is sent again."""

FAILING: Final = f"failure <> '{BEGUN}'"

_WAIVED: Final = "wants_no_work"
_log = structlog.get_logger(__name__)

HELD_FOR: Final = timedelta(minutes=3)
"""A worker that takes longer for an errand is presumed dead."""


@dataclass(frozen=True, slots=True)
class Errand(Generic[Task, Outcome]):
    """Work that waits for an external service: `begin` reads, `go` acts, `end` stores."""

    # After a crash between `go` and `end`, the errand runs again, so its effect may happen twice.

    # in a transaction; returns the task, None, or the time before which not to run
    begin: Callable[[Session, int], Task | datetime | None]
    go: Callable[[Task], Outcome]  # without a transaction; returns failures, raises only bugs
    # in a transaction; stores the outcome and returns when to run again, or None
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
    # Rows are locked in request order. Requests do not make failing work due, so this does.
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
    __tablename__ = "work"

    kind: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[int] = mapped_column(primary_key=True)
    due_at: Mapped[datetime]  # when the scheduler sends it, with back-off until done
    version: Mapped[int] = mapped_column(server_default="1")
    # last completed; the work is done when it equals `version`
    done_version: Mapped[int] = mapped_column(server_default="0")
    # since the last request; not reset for failing work
    sends: Mapped[int] = mapped_column(server_default="0")
    failure: Mapped[str | None]  # error of the last attempt, `BEGUN` or `UNENDED`
    # before then, an errand runs elsewhere or is postponed
    held_until: Mapped[datetime | None]

    __table_args__ = (Index("ix_work_due", "due_at", postgresql_where=text("done_version < version")),)


def want_work(session: Session, kind: str, key: int, due_at: datetime) -> None:
    """Request work after this transaction, once."""
    want_all(session, kind, [key], due_at)


def want_all(session: Session, kind: str, keys: Collection[int], due_at: datetime) -> None:
    if keys and _WAIVED not in session.info:
        session.execute(_WANT, {"kind": kind, "keys": sorted(set(keys)), "due_at": due_at})


def waive_work(session: Session) -> None:
    """Request no work in this transaction, because bulk writers do the work themselves."""
    session.info[_WAIVED] = True


def do_work(database: Database, handlers: Mapping[str, Handler], kind: str, key: int) -> None:
    """Do requested work unless it is running elsewhere, and mark it done in the same transaction."""
    # Store the error before raising it. The scheduler sends the work again.
    with _failure_noted(database, kind, key), database.transaction() as session:
        for version in _taken(session, kind, [key]).values():
            _complete(session, kind, key, version, handlers[kind](session, key))


def suspect(database: Database, kind: str, keys: Sequence[int]) -> None:
    """Mark often-sent work as failing before it begins, since a killed worker cannot."""
    # Failing work is sent separately, at growing intervals.
    with database.transaction() as session:
        session.execute(_SUSPECT, {"kind": kind, "keys": list(keys)})


def do_together(database: Database, handler: ManyHandler, kind: str, keys: Sequence[int]) -> list[int]:
    """Do requested work in one transaction. Return the keys left for `do_work`, all on failure."""
    try:
        with WORK_SECONDS.labels(kind).time(), database.transaction() as session:
            taken = _taken(session, kind, keys)
            left = handler(session, list(taken)) if taken else ()
            done = taken.keys() - set(left)
            session.execute(_DONE, {"kind": kind, "keys": list(done), "versions": [taken[key] for key in done]})
    except Exception as error:  # noqa: BLE001 - keys are retried one by one, so that only the cause fails
        _log.warning("work_not_done_together", work_kind=kind, rows=len(keys), error=str(error))
        return list(keys)
    return list(left)


def _taken(session: Session, kind: str, keys: Sequence[int]) -> dict[int, int]:
    ours = session.scalars(_TAKE, {"kind": kind, "keys": list(keys)}).all()
    return {row.key: row.version for row in session.execute(_OPEN, {"kind": kind, "keys": ours})}


def run_errand(database: Database, errand: Errand[Any, Any], kind: str, key: int, now: datetime) -> None:
    """Run an errand like `do_work`, without a connection during `go`."""
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
    with database.transaction() as session:
        session.execute(_PUT_OFF, {"kind": kind, "key": key, "until": until})


def _complete(session: Session, kind: str, key: int, version: int, again_at: datetime | None) -> None:
    """Mark this version done, or postponed. Later requests stay open."""
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
