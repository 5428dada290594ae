"""What can go wrong with schedules."""

from datetime import datetime

from iotide_server.kit.errors import ConflictError, InvalidInputError, NotFoundError


class ScheduleNotFoundError(NotFoundError):
    """No such schedule, or none that the caller may see."""

    code = "schedule_not_found"

    def __init__(self, schedule_id: int) -> None:
        super().__init__(f"there is no schedule {schedule_id}", field="schedule_id", value=schedule_id)


class ScheduleNameTakenError(ConflictError):
    """Another schedule of the cluster has the name."""

    code = "schedule_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the cluster has a schedule {name} already",
            field="name",
            value=name,
            remedy="choose another name, or change or remove that schedule",
        )


class ScheduleEndedError(ConflictError):
    """Its calendar has no firing left."""

    code = "schedule_ended"

    def __init__(self, schedule_id: int) -> None:
        super().__init__(
            f"schedule {schedule_id} has ended",
            field="schedule_id",
            value=schedule_id,
            remedy="give it a later ends_at or more max_firings, or run it once by hand",
        )


class CalendarUnclearError(InvalidInputError):
    """Both a cron expression and a monthly rule, or neither."""

    code = "calendar_unclear"

    def __init__(self) -> None:
        super().__init__(
            "cron: a schedule has either cron or monthly",
            field="cron",
            remedy="give one of them: `cron: 30 2 * * *` or `monthly: first sunday at 02:30`",
        )


class CronRefusedError(InvalidInputError):
    """No cron expression."""

    code = "cron_refused"

    def __init__(self, cron: str, problem: str) -> None:
        super().__init__(
            f"cron: {problem}",
            field="cron",
            value=cron,
            remedy="write minute, hour, day of the month, month and day of the week: `30 2 * * MON-FRI` is each working"
            " day at 02:30",
        )


class MonthlyRefusedError(InvalidInputError):
    """No monthly rule."""

    code = "monthly_refused"

    def __init__(self, monthly: str) -> None:
        super().__init__(
            "monthly: not a rule for one day a month",
            field="monthly",
            value=monthly,
            remedy="write first, second, third, fourth or last, a weekday and a time: `first sunday at 02:30`",
        )


class NeverFiresError(InvalidInputError):
    """The calendar has no firing to come."""

    code = "never_fires"

    def __init__(self, ends_at: datetime | None) -> None:
        super().__init__(
            "cron: there is no such day" if ends_at is None else "ends_at: nothing is planned until then",
            field="cron" if ends_at is None else "ends_at",
            value=None if ends_at is None else ends_at.isoformat(),
            remedy="give a day that comes" if ends_at is None else "give a later time",
        )
