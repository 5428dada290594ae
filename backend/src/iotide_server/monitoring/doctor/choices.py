"""What is somebody's choice or duty rather than a state of the service: who reads without signing in, backups."""

from datetime import datetime, timedelta
from typing import Final

from iotide_server.monitoring.doctor.findings import Finding, fine, note, warning

BACKUP_OLD_AFTER: Final = timedelta(days=8)
"""A weekly one that came a little late is no reason to worry."""
_HOUR: Final = timedelta(hours=1)
_TWO_DAYS: Final = timedelta(days=2)


def judge_reading(*, is_public: bool) -> Finding:
    """Who looks at all without signing in."""
    if is_public:
        sentence = "whoever reaches the service reads everything but people, tokens, channels and audit, unknown to it"
        return note("public_read", sentence, "nothing, if that is meant; else set IOTIDE_PUBLIC_READ=false")
    return fine("public_read", "nobody reads anything without signing in")


def judge_backup(newest_at: datetime | None, now: datetime) -> Finding:
    """Say how much would be lost with the database; `newest_at` is None where the audit knows of no backup."""
    elsewhere = "of those taken in another way nothing is known here"
    remedy = "run `iotide-server backup` every night (docs/backup.md), and keep its files on another machine"
    if newest_at is None:
        return note("backup", f"`iotide-server backup` never wrote one; {elsewhere}", remedy)
    age = now - newest_at
    sentence = f"the newest one by `iotide-server backup` is {_words(age)} old"
    if age > BACKUP_OLD_AFTER:
        return warning("backup", f"{sentence}; {elsewhere}", remedy)
    return fine("backup", f"{sentence}; whether its file is still there, is not known here")


def _words(age: timedelta) -> str:
    return f"{age // _HOUR} h" if age < _TWO_DAYS else f"{age.days} days"
