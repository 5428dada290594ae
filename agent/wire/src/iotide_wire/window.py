"""Hours of a day in which runs may start, in a time zone."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from iotide_wire.base import Message

ClockTime = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", examples=["22:00"])]

TimeZone = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_+/-]{0,63}$", examples=["Europe/Zurich"])]
"""A name of the IANA time zone database; the server checks it."""


class Window(Message):
    """Daily hours in which runs may start; they must be able to end within them by their time limit.

    If `until` is earlier than `from`, the window extends over midnight.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    from_: Annotated[ClockTime, Field(alias="from")]
    until: ClockTime
    time_zone: TimeZone

    @model_validator(mode="after")
    def _refuse_empty(self) -> Self:
        if self.from_ == self.until:
            message = "from and until are the same; remove the window if runs may start at any hour"
            raise ValueError(message)
        return self

    def __str__(self) -> str:
        return f"{self.from_} to {self.until} {self.time_zone}"
