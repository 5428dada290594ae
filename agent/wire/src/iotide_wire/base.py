"""The base of every message: immutable, and an unknown field is an error rather than silently dropped."""

from datetime import UTC, datetime
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field


class Message(BaseModel):
    """A message or a part of one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def for_version(self, version: int) -> Self:
        """Return the message without values that were added after that wire version; fields are left out elsewhere."""
        del version
        return self


def _to_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        message = "a time needs its zone, for instance 2026-11-21T10:00:00Z"
        raise ValueError(message)
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        message = "a time in UTC lies in the years 1 to 9999"
        raise ValueError(message) from error


UtcTime = Annotated[datetime, AfterValidator(_to_utc)]
"""An absolute time; naive ones are refused, others are turned into UTC."""


def _refuse_number(given: object) -> object:
    is_number = isinstance(given, int | float) or (isinstance(given, str) and not set(given) & set("-:"))
    if is_number:
        message = "a time is written with date and zone, for instance 2026-11-21T10:00:00Z"
        raise ValueError(message)
    return given


WrittenTime = Annotated[UtcTime, BeforeValidator(_refuse_number)]
"""A time as a person writes it; a number of seconds is no such thing."""

Fence = Annotated[int, Field(ge=1, le=2**63 - 1)]
"""A random number that names one attempt of a run; compared for equality, never for order."""

NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
"""A name that a person gave: cluster, node, target, campaign or workload. Safe in a path and in a Redis key."""

Text = Annotated[str, Field(max_length=4000)]
"""A sentence for a person, bounded so that a broken tool cannot fill the database."""
