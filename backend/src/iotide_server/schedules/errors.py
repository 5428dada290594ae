"""Errors of schedules."""

from datetime import datetime

from iotide_server.kit.errors import ErrorKind, IotideError

SCHEDULE_NOT_FOUND = ErrorKind(404, "schedule_not_found", field="schedule_id").says(
    "there is no schedule {schedule_id}"
)
SCHEDULE_NAME_TAKEN = ErrorKind(409, "schedule_name_taken", field="name").says(
    "the cluster already has a schedule {name}", "choose another name, or change or remove that schedule"
)
SCHEDULE_ENDED = ErrorKind(409, "schedule_ended", field="schedule_id").says(
    "schedule {schedule_id} has ended", "set a later ends_at or a higher max_firings, or run it once manually"
)
CALENDAR_UNCLEAR = ErrorKind(422, "calendar_unclear", field="cron", shows="").says(
    "cron: a schedule needs either cron or monthly, not both",
    "give exactly one: `cron: 30 2 * * *` or `monthly: first sunday at 02:30`",
)
CRON_REFUSED = ErrorKind(422, "cron_refused", field="cron").says(
    "cron: {problem}",
    "write minute, hour, day of the month, month and day of the week: `30 2 * * MON-FRI` is each working day at 02:30",
)
MONTHLY_REFUSED = ErrorKind(422, "monthly_refused", field="monthly").says(
    "monthly: not a rule for one day of each month",
    "write first, second, third, fourth or last, a weekday and a time: `first sunday at 02:30`",
)
NEVER_FIRES = ErrorKind(422, "never_fires", field="cron", shows="").says(
    "cron: the expression never fires, because no such day exists", "choose a day of the month that exists"
)
ENDS_BEFORE_FIRING = ErrorKind(422, "never_fires", field="ends_at", shows="{ends_at:iso}").says(
    "ends_at: the schedule would not fire before it ends", "choose a later time"
)


def never_fires(ends_at: datetime | None) -> IotideError:
    return NEVER_FIRES() if ends_at is None else ENDS_BEFORE_FIRING(ends_at=ends_at)
