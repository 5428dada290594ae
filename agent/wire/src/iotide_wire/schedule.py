"""A schedule as a person writes it: a plan, and the calendar by which it becomes a campaign again and again."""

from enum import StrEnum
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from iotide_wire.base import Message, Name, WrittenTime
from iotide_wire.plan import CampaignPlan, seconds_of
from iotide_wire.window import TimeZone


class MissedFirings(StrEnum):
    """What becomes of firings that came while no scheduler was there."""

    SKIP = "skip"
    RUN_ONCE = "run_once"


class Calendar(Message):
    """When a schedule fires; it has either `cron` or `monthly`.

    Attributes:
        cron: minute, hour, day of the month, month and day of the week, by the clocks of `time_zone`.
        monthly: the same for one day a month in words: `first sunday at 02:30`, `last friday of each month at 22:00`.
        random_offset_seconds: each firing comes up to so much later, always as much for the same firing; people may
            write `random_offset: 30 min`.
        ends_at: nothing is planned after it.
        max_firings: it ends after so many.
    """

    cron: Annotated[str, Field(max_length=200, examples=["30 2 * * *"])] | None = None
    monthly: Annotated[str, Field(max_length=100, examples=["first sunday at 02:30"])] | None = None
    time_zone: TimeZone
    random_offset_seconds: Annotated[
        float,
        BeforeValidator(seconds_of),
        Field(ge=0, le=86_400, validation_alias=AliasChoices("random_offset_seconds", "random_offset")),
    ] = 0.0
    ends_at: WrittenTime | None = None
    max_firings: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class SchedulePlan(Calendar):
    """A plan that is stored, and submitted by each firing as it stands.

    Attributes:
        missed: firings that came while no scheduler was there are left out, or made good by one campaign.
    """

    name: Name
    plan: CampaignPlan
    missed: MissedFirings = MissedFirings.SKIP
