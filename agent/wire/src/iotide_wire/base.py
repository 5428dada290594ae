"""Base of all messages: immutable, and unknown fields are errors."""

from datetime import UTC, datetime
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import ErrorDetails


class Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def for_version(self, version: int) -> Self:
        """Return the message without values that were added after that wire version. Fields are left out elsewhere."""
        del version
        return self


def problem_in(detail: ErrorDetails) -> str:
    """Return the message of a validation error without the prefix that pydantic gives to a ValueError."""
    return detail["msg"].removeprefix("Value error, ")


def _to_utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        message = "a time needs its zone, for instance 2026-11-21T10:00:00Z"
        raise ValueError(message)
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        message = "a time in UTC must be in the years 1 to 9999"
        raise ValueError(message) from error


UtcTime = Annotated[datetime, AfterValidator(_to_utc)]
"""An absolute time, converted to UTC. Times without a zone are rejected."""


def _refuse_number(given: object) -> object:
    if _is_number(given):
        message = "write a time with date and zone, for instance 2026-11-21T10:00:00Z"
        raise ValueError(message)
    return given


def _is_number(given: object) -> bool:
    if not isinstance(given, str):
        return isinstance(given, int | float)
    try:
        float(given)  # also -5 and 1e-9
    except ValueError:
        return not set(given) & set("-:")
    return True


WrittenTime = Annotated[UtcTime, BeforeValidator(_refuse_number)]
"""A time as a user writes it; a number of seconds is rejected."""

Fence = Annotated[int, Field(ge=1, le=2**63 - 1)]
"""A random number that names one attempt of a run; compared for equality, never for order."""

NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
"""A name given by a user: cluster, node, target, campaign or workload. Safe in a path and in a Redis key."""

Text = Annotated[str, Field(max_length=4000)]
"""A text for users, with a limit so that a broken tool cannot fill the database."""
