"""API schemas of schedules; input is the wire's `SchedulePlan` in plain values."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from iotide_server.campaigns.plain import check_plain
from iotide_server.kit.errors import within
from iotide_server.kit.people import PersonShown
from iotide_server.kit.web import Output
from iotide_server.schedules import models
from iotide_wire.plan import CampaignPlan
from iotide_wire.schedule import MissedFirings, SchedulePlan


def _check(given: SchedulePlan) -> SchedulePlan:
    with within("plan"):
        check_plain(given.plan)
    return given


ScheduleInput = Annotated[SchedulePlan, AfterValidator(_check)]


class ScheduleState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


STILL_WAITS: Final = (
    "skipped: runs of the previous campaign still wait; let them start, cancel them, or fire less often"
)
"""Problem of a firing that was skipped although a scheduler ran."""


class FiringOutcome(StrEnum):
    SUBMITTED = "submitted"
    FAILED = "failed"
    SKIPPED = "skipped"


class PlannedFiring(Output):
    planned_at: datetime
    fires_at: datetime


class CalendarPreview(Output):
    """Planned firings, without the random offset."""

    cron: Annotated[str, Field(examples=["30 2 * * 0#1"])]
    words: Annotated[str, Field(examples=["At 02:30 on the first Sunday of the month"])]
    firings: Annotated[list[datetime], Field(description="Up to five")]


class FiringOutput(Output):
    """Firing of a schedule.

    `problem`: why it has no campaign. `missed`: firings due while no scheduler ran, which it replaces. `asked_by`:
    user who ran it manually.
    """

    id: int
    planned_at: datetime
    fired_at: datetime
    outcome: FiringOutcome
    campaign_id: int | None
    problem: str | None
    missed: int
    asked_by: PersonShown

    @classmethod
    def of(cls, row: models.Firing) -> "FiringOutput":
        outcome = FiringOutcome.SKIPPED
        if row.campaign_id is not None:
            outcome = FiringOutcome.SUBMITTED
        elif row.problem is not None:
            outcome = FiringOutcome.FAILED
        still_waits = outcome is FiringOutcome.SKIPPED and row.missed == 0
        return cls.of_row(row, outcome=outcome, problem=STILL_WAITS if still_waits else row.problem)


class ListedSchedule(Output):
    """Plan with a calendar.

    `cron` is set even if derived from `monthly`. `firings_made` is without skipped and manual ones.
    """

    id: int
    name: Annotated[str, Field(examples=["nightly-scratch"])]
    cluster_id: int
    cluster_name: str
    owner: Annotated[PersonShown, Field(description="User in whose name it submits; null if that user was deleted")]
    state: ScheduleState
    plan: Annotated[CampaignPlan | None, Field(description="Null in lists if larger than 16 KiB")]
    cron: Annotated[str, Field(examples=["30 2 * * *"])]
    monthly: Annotated[str | None, Field(examples=["first sunday at 02:30"])]
    words: Annotated[str, Field(description="`cron` as a sentence", examples=["At 02:30 every day"])]
    time_zone: Annotated[str, Field(examples=["Europe/Zurich"])]
    random_offset_seconds: float
    ends_at: datetime | None
    max_firings: int | None
    missed: MissedFirings
    firings_made: int
    created_at: datetime
    next_firings: Annotated[list[PlannedFiring], Field(description="Up to five; empty unless active")]
    last_firing: FiringOutput | None


class ScheduleOutput(ListedSchedule):
    plan: Annotated[CampaignPlan | None, Field(description="Null if the schedule was removed")]
