"""What a corrected parser says of a run that ended long ago, whose raw output an operator's command read again."""

from typing import Annotated

from pydantic import Field

from iotide_wire.base import Message, Text
from iotide_wire.measured import Flag, SampleMessage


class OrderReading(Message):
    """What the raw output of one order says now."""

    order_id: int
    samples: Annotated[tuple[SampleMessage, ...], Field(max_length=100_000)]
    flags: Annotated[tuple[Flag, ...], Field(max_length=1000)]


class RunReading(Message):
    """What the raw output of a run says now.

    Attributes:
        workload_revision: of the workload whose parser read it; an agent must have announced it.
        parser_version: of the package that the parser came with.
        orders: all that the run's last attempt has.
    """

    workload_revision: Annotated[int, Field(ge=1)]
    parser_version: Annotated[Text, Field(min_length=1)]
    orders: Annotated[tuple[OrderReading, ...], Field(min_length=1, max_length=1000)]
