"""Sizes that may be left to the node's memory."""

from typing import Annotated, Final, Literal

from pydantic import Field

from iotide_agent.workloads.base import Place
from iotide_wire.expressions import AUTO, Option, evaluate

_MEBIBYTE: Final = 1024**2

AutoSize = Annotated[
    Annotated[int, Field(ge=512, le=2**60, json_schema_extra={"x-unit": "bytes"})] | Literal["auto"],
    Field(union_mode="left_to_right"),
]
"""A number of bytes, or `auto`: twice the node's memory."""


def size_bytes(size: int | Literal["auto"], place: Place) -> int:
    """The size in bytes, `auto` as a whole number of mebibytes, so that it suits any usual block.

    Raises:
        ExpressionError: the node's memory is not known.
    """
    if size != AUTO:
        return int(size)
    exact = evaluate(Option.of("size"), {"size": AUTO, **place.facts})
    return -(-int(exact) // _MEBIBYTE) * _MEBIBYTE
