"""Quotas of operators per cluster, across their tokens (`IOTIDE_QUOTA_...`)."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import ForeignKey, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from iotide_server.kit.db import Base
from iotide_server.kit.errors import ErrorKind

IN_SESSION: Final = "quotas"
ALL_PEOPLE: Final = 0
FIRINGS: Final = "firings"  # schedule firings, by cluster

_ADD: Final = text(
    """
    INSERT INTO added_today (cluster_id, kind, user_id, added_at, number)
    SELECT :cluster_id, :kind, user_id, :now, :number
    FROM unnest(CAST(:user_ids AS bigint[])) AS user_id ORDER BY user_id
    ON CONFLICT (cluster_id, kind, user_id) DO UPDATE SET
        added_at = GREATEST(added_today.added_at, excluded.added_at),
        -- Only rows of the later day count: a transaction may begin before midnight and end after it.
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
    "{field}: there would be {count:,} {what}; the limit is {most:,}", "{remedy}"
)


@dataclass(frozen=True, slots=True)
class Quotas:
    """See the table in `docs/operations.md`."""

    waiting_runs: int = 1_000_000
    waiting_runs_of_person: int = 200_000  # waiting in one cluster
    active_schedules: int = 500
    templates: int = 1_000
    # runs_a_day, schedules_a_day, templates_a_day, events_a_day: per cluster and UTC day, including removed ones;
    # half as many per person
    runs_a_day: int = 2_000_000
    schedules_a_day: int = 1_000
    templates_a_day: int = 2_000
    events_a_day: int = 400


DEFAULTS: Final = Quotas()


class QuotaKind(StrEnum):
    RUNS = "runs"
    SCHEDULES = "schedules"
    TEMPLATES = "templates"
    EVENTS = "events"


class AddedToday(Base):
    """Row that counts a day's additions of a kind to a cluster, including removed ones."""

    __tablename__ = "added_today"

    cluster_id: Mapped[int] = mapped_column(ForeignKey("cluster.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    # 0 for the total of all people
    user_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    added_at: Mapped[datetime]  # of the last addition; `number` counts its UTC day
    number: Mapped[int]


@dataclass(frozen=True, slots=True)
class Addition:
    kind: QuotaKind
    cluster_id: int
    user_id: int | None  # None for server commands, which have no quota
    now: datetime
    number: int = 1
    field: str = "cluster"


def quotas_of(session: Session) -> Quotas:
    found: Quotas = session.info.get(IN_SESSION, DEFAULTS)
    return found


def check_day(session: Session, addition: Addition) -> None:
    """Raise QUOTA_REACHED early, without counting or locking."""
    before = {row.user_id: row.number for row in session.execute(_ADDED, _values(addition))}
    _check(session, addition, {who: before.get(who, 0) + addition.number for who in _counted(addition)})


def count_day(session: Session, addition: Addition) -> None:
    """Count what this transaction adds. Raise QUOTA_REACHED. Other additions wait for the commit."""
    # Call it last in long transactions.
    _check(session, addition, {row.user_id: row.number for row in session.execute(_ADD, _values(addition))})


def count_firing(session: Session, cluster_id: int, now: datetime) -> None:
    """Count a firing, so that schedules of other clusters go first."""
    values = {"cluster_id": cluster_id, "kind": FIRINGS, "user_ids": [ALL_PEOPLE], "now": now, "number": 1}
    session.execute(_ADD, values)


def _counted(addition: Addition) -> list[int]:
    return [ALL_PEOPLE] if addition.user_id is None else [ALL_PEOPLE, addition.user_id]


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
        most = of_cluster if user_id == ALL_PEOPLE else max(1, of_cluster // 2)
        if number > most:
            suffix = "" if user_id == ALL_PEOPLE else " by one person"
            setting = f"IOTIDE_QUOTA_{addition.kind.upper()}_A_DAY"
            raise QUOTA_REACHED(
                what=f"{addition.kind} added to the cluster{suffix} today (UTC)",
                count=number,
                most=most,
                field=addition.field,
                remedy=f"wait until tomorrow, or ask an administrator to raise {setting}",
            )
