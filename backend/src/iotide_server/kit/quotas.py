"""Bounds how much operators keep in a cluster and add to it in a day, whatever token they have.

Each is a setting (`IOTIDE_QUOTA_...`).
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import ForeignKey, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from iotide_server.kit.db import Base
from iotide_server.kit.errors import ErrorKind

IN_SESSION: Final = "quotas"
EVERYBODY: Final = 0  # stands for the person where all people of a cluster are counted together
FIRINGS: Final = "firings"  # kind of what the scheduler counts to see which cluster's turn it is

_ADD: Final = text(
    """
    INSERT INTO added_today (cluster_id, kind, user_id, added_at, number)
    SELECT :cluster_id, :kind, user_id, :now, :number
    FROM unnest(CAST(:user_ids AS bigint[])) AS user_id ORDER BY user_id
    ON CONFLICT (cluster_id, kind, user_id) DO UPDATE SET
        added_at = GREATEST(added_today.added_at, excluded.added_at),
        -- Of the two only those of the later day count: a transaction that began before midnight may end after it.
        number = CASE WHEN date_trunc('day', added_today.added_at, 'UTC') < date_trunc('day', excluded.added_at, 'UTC')
                      THEN 0 ELSE added_today.number END
               + CASE WHEN date_trunc('day', added_today.added_at, 'UTC') > date_trunc('day', excluded.added_at, 'UTC')
                      THEN 0 ELSE excluded.number END
    RETURNING user_id, number
    """
)
_ADDED: Final = text(
    """
    SELECT user_id, number FROM added_today
    WHERE cluster_id = :cluster_id AND kind = :kind AND user_id = ANY(CAST(:user_ids AS bigint[]))
      AND date_trunc('day', added_at, 'UTC') = date_trunc('day', CAST(:now AS timestamptz), 'UTC')
    """
)

QUOTA_REACHED = ErrorKind(409, "quota_reached", field="{field}", shows="count").says(
    "{field}: there would be {count:,} {what}; at most {most:,} are allowed", "{remedy}"
)


@dataclass(frozen=True, slots=True)
class Quotas:
    """Bounds on what the operators of a cluster keep in it and add to it; `docs/operations.md` has the table."""

    waiting_runs: int = 1_000_000  # of a cluster
    waiting_runs_of_person: int = 200_000  # that wait in a cluster because one person asked for them
    active_schedules: int = 500  # of a cluster
    templates: int = 1_000  # of a cluster
    # runs_a_day, schedules_a_day, templates_a_day, events_a_day: that people add to a cluster in a day (UTC), removed
    # ones included; one person at most half of them
    runs_a_day: int = 2_000_000
    schedules_a_day: int = 1_000
    templates_a_day: int = 2_000
    events_a_day: int = 400


DEFAULTS: Final = Quotas()


class QuotaKind(StrEnum):
    """Names what people add to a cluster; each has a quota of a day."""

    RUNS = "runs"
    SCHEDULES = "schedules"
    TEMPLATES = "templates"
    EVENTS = "events"


class AddedToday(Base):
    """Counts the rows of a kind that were added to a cluster, also those that were removed since."""

    __tablename__ = "added_today"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)  # a `QuotaKind`, or FIRINGS
    # of the person who added them; EVERYBODY: by all people
    user_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    added_at: Mapped[datetime]  # when the last of them was; `number` counts those of that day (UTC)
    number: Mapped[int]


@dataclass(frozen=True, slots=True)
class Addition:
    """What a person adds to a cluster."""

    kind: QuotaKind
    cluster_id: int
    user_id: int | None  # None for commands of the server, which no person's quota bounds
    now: datetime
    number: int = 1
    field: str = "cluster"  # of the request, which a refusal names


def quotas_of(session: Session) -> Quotas:
    """Return the quotas that the database was opened with; the usual ones where it was opened without."""
    found: Quotas = session.info.get(IN_SESSION, DEFAULTS)
    return found


def check_day(session: Session, addition: Addition) -> None:
    """Raise QUOTA_REACHED early; nothing is counted and nobody is made to wait."""
    before = {row.user_id: row.number for row in session.execute(_ADDED, _values(addition))}
    _check(session, addition, {who: before.get(who, 0) + addition.number for who in _counted(addition)})


def count_day(session: Session, addition: Addition) -> None:
    """Count what the transaction adds, which the next addition of its kind waits for; raise QUOTA_REACHED."""
    # So it comes last where the transaction does much, and what is counted after it is exact.
    _check(session, addition, {row.user_id: row.number for row in session.execute(_ADD, _values(addition))})


def count_firing(session: Session, cluster_id: int, now: datetime) -> None:
    """Note that a schedule of the cluster fires, which puts its other schedules behind those of other clusters."""
    values = {"cluster_id": cluster_id, "kind": FIRINGS, "user_ids": [EVERYBODY], "now": now, "number": 1}
    session.execute(_ADD, values)


def _counted(addition: Addition) -> list[int]:
    return [EVERYBODY] if addition.user_id is None else [EVERYBODY, addition.user_id]


def _values(addition: Addition) -> dict[str, object]:
    return {
        "cluster_id": addition.cluster_id,
        "kind": addition.kind,
        "user_ids": _counted(addition),
        "now": addition.now,
        "number": addition.number,
    }


def _check(session: Session, addition: Addition, numbers: dict[int, int]) -> None:
    of_cluster: int = getattr(quotas_of(session), f"{addition.kind}_a_day")
    for user_id, number in sorted(numbers.items(), reverse=True):
        most = of_cluster if user_id == EVERYBODY else max(1, of_cluster // 2)
        if number > most:
            whose = "" if user_id == EVERYBODY else " by one person"
            setting = f"IOTIDE_QUOTA_{addition.kind.upper()}_A_DAY"
            raise QUOTA_REACHED(
                what=f"{addition.kind} added to the cluster{whose} today (UTC)",
                count=number,
                most=most,
                field=addition.field,
                remedy=f"wait until tomorrow, or have an administrator raise {setting}",
            )
