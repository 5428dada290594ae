"""What the API takes and gives for schedules; what it takes is the wire's `SchedulePlan`, in plain values."""

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


ScheduleInput = Annotated[SchedulePlan, AfterValidator(_check)]  # a schedule in a request's body


class ScheduleState(StrEnum):
    """Whether a schedule fires."""

    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


STILL_WAITS: Final = (
    "skipped: runs of the previous campaign still wait; let them start, cancel them, or fire less often"
)
"""Why a firing was skipped for which nobody was missing."""


class FiringOutcome(StrEnum):
    """What a firing came to."""

    SUBMITTED = "submitted"
    FAILED = "failed"
    SKIPPED = "skipped"


class PlannedFiring(Output):
    """A firing to come: `fires_at` is later than planned by the random offset."""

    planned_at: datetime
    fires_at: datetime


class CalendarPreview(Output):
    """When a schedule with this calendar would fire; each firing up to its random offset later."""

    cron: Annotated[str, Field(examples=["30 2 * * 0#1"])]
    words: Annotated[str, Field(examples=["At 02:30 on the first Sunday of the month"])]
    firings: Annotated[list[datetime], Field(description="The next five, or as many as there are")]


class FiringOutput(Output):
    """What a firing came to.

    `problem` says why a failed or skipped one has no campaign. `missed` counts firings that came while no scheduler
    was there, for which this one stands. `asked_by` is the person who asked for it by hand.
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
    """A plan that is submitted by a calendar.

    `cron` is complete, also where it was made of the rule `monthly`; `firings_made` leaves out what was skipped or
    asked for by hand.
    """

    id: int
    name: Annotated[str, Field(examples=["nightly-scratch"])]
    cluster_id: int
    cluster_name: str
    owner: Annotated[PersonShown, Field(description="In whose name it submits; null when that person is gone")]
    state: ScheduleState
    plan: Annotated[CampaignPlan | None, Field(description="Null in a list where it has more than 16 KiB")]
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
    next_firings: Annotated[list[PlannedFiring], Field(description="The next five; empty unless it is active")]
    last_firing: FiringOutput | None


class ScheduleOutput(ListedSchedule):
    """A plan that is submitted by a calendar, see `ListedSchedule`."""

    plan: Annotated[CampaignPlan | None, Field(description="Null where it was removed")]
