"""How much operators may keep in a cluster: bounds that no token exceeds, each a setting (`IOTIDE_QUOTA_...`)."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.kit.errors import ConflictError

IN_SESSION: Final = "quotas"


@dataclass(frozen=True, slots=True)
class Quotas:
    """Bounds on what the operators of a cluster keep in it; `docs/operations.md` has the table.

    Attributes:
        waiting_runs: of a cluster.
        waiting_runs_of_person: of the campaigns of one person in a cluster.
        active_schedules: of a cluster.
        templates: of a cluster.
        events_a_day: that people add to a cluster within 24 hours.
    """

    waiting_runs: int = 1_000_000
    waiting_runs_of_person: int = 200_000
    active_schedules: int = 500
    templates: int = 1_000
    events_a_day: int = 200


DEFAULTS: Final = Quotas()


class QuotaReachedError(ConflictError):
    """The cluster, or a person in it, would have more of something than its quota allows."""

    code = "quota_reached"

    def __init__(self, what: str, count: int, most: int, *, field: str, remedy: str) -> None:
        super().__init__(
            f"{field}: there would be {count:,} {what}; at most {most:,} are allowed",
            field=field,
            value=count,
            remedy=remedy,
        )


def quotas_of(session: Session) -> Quotas:
    """Return the quotas that the database was opened with; the usual ones where it was opened without."""
    found: Quotas = session.info.get(IN_SESSION, DEFAULTS)
    return found
