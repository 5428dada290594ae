"""Server work as rows: a Celery message only names the row, so a lost or doubled message loses or doubles nothing."""

from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from iotide_server.kit.db import Base, Database

Handler = Callable[[Session, int], None]
"""Does the work of one kind on the row with that key, in a transaction that it is given; harmless to do twice."""


class Work(Base):
    """A piece of server work, for instance the follow-up of one run's results.

    Attributes:
        kind, key: what to do and on which row.
        due_at: the scheduler sends its message from then on, again with back-off until it is done.
        version: raised whenever the work is wanted again.
        done_version: the version that was last completed; done when equal to `version`.
    """

    __tablename__ = "work"

    kind: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[int] = mapped_column(primary_key=True)
    due_at: Mapped[datetime]
    version: Mapped[int] = mapped_column(server_default="1")
    done_version: Mapped[int] = mapped_column(server_default="0")
    sends: Mapped[int] = mapped_column(server_default="0")
    failure: Mapped[str | None]

    __table_args__ = (Index("ix_work_due", "due_at", postgresql_where=text("done_version < version")),)


def want_work(session: Session, kind: str, key: int, due_at: datetime) -> None:
    """Ask for the work (kind, key) to be done after this transaction; asking again before it ran changes nothing."""
    session.execute(
        text(
            "INSERT INTO work (kind, key, due_at) VALUES (:kind, :key, :due_at)"
            " ON CONFLICT (kind, key) DO UPDATE SET version = work.version + 1, sends = 0,"
            " due_at = LEAST(excluded.due_at, CASE WHEN work.done_version < work.version THEN work.due_at END)"
        ),
        {"kind": kind, "key": key, "due_at": due_at},
    )
    session.execute(text("SELECT pg_notify('iotide_wake', 'work')"))


def do_work(database: Database, handlers: Mapping[str, Handler], kind: str, key: int) -> None:
    """Do the work (kind, key) if it is still wanted, and in one transaction with it write that it is done.

    Nothing happens when it is done already or somebody else is at it. When it fails, why is written down before the
    error goes on, and the scheduler asks for it again.
    """
    row = {"kind": kind, "key": key}
    try:
        with database.transaction() as session:
            is_ours = session.scalar(text("SELECT pg_try_advisory_xact_lock(hashtextextended(:kind, :key))"), row)
            version = session.scalar(
                text("SELECT version FROM work WHERE kind = :kind AND key = :key AND done_version < version"), row
            )
            if not is_ours or version is None:
                return
            handlers[kind](session, key)
            session.flush()
            session.execute(
                text("UPDATE work SET done_version = :version, failure = NULL WHERE kind = :kind AND key = :key"),
                {**row, "version": version},
            )
    except Exception as error:
        with database.transaction() as session:
            session.execute(
                text("UPDATE work SET failure = :failure WHERE kind = :kind AND key = :key"),
                {**row, "failure": f"{type(error).__name__}: {error}"[:1000]},
            )
        raise
