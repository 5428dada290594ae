"""Results of an earlier run, read again from its raw output by a newer parser."""

from typing import Annotated

from pydantic import Field

from iotide_wire.base import Message, Text
from iotide_wire.measured import Flag, SampleMessage


class OrderReading(Message):
    order_id: int
    samples: Annotated[tuple[SampleMessage, ...], Field(max_length=100_000)]
    flags: Annotated[tuple[Flag, ...], Field(max_length=1000)]


class RunReading(Message):
    """New results from the raw output of a run.

    Attributes:
        workload_revision: the parser's, which an agent must have announced.
        parser_version: of the parser's package.
        orders: all of the run's last attempt.
    """

    workload_revision: Annotated[int, Field(ge=1)]
    parser_version: Annotated[Text, Field(min_length=1)]
    orders: Annotated[tuple[OrderReading, ...], Field(min_length=1, max_length=1000)]
