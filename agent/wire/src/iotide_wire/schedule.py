"""Schedule: a plan with a calendar of submissions."""

from enum import StrEnum
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from iotide_wire.base import Message, Name, WrittenTime
from iotide_wire.plan import CampaignPlan, seconds_of
from iotide_wire.window import TimeZone


class MissedFirings(StrEnum):
    """Policy for firings that were missed while no scheduler ran."""

    SKIP = "skip"
    RUN_ONCE = "run_once"


class Calendar(Message):
    """Firing times of a schedule, by either `cron` or `monthly`.

    Attributes:
        cron: minute, hour, day of the month, month and day of the week, in `time_zone`.
        monthly: one day a month in words: `first sunday at 02:30`, `last friday of each month at 22:00`.
        random_offset_seconds: maximum delay, fixed for each firing. `random_offset: 30 min` works too.
        max_firings: number of firings after which it ends.
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
    """A stored plan that each firing submits unchanged.

    Attributes:
        missed: what happens to firings that were missed while no scheduler ran.
    """

    name: Name
    plan: CampaignPlan
    missed: MissedFirings = MissedFirings.SKIP
