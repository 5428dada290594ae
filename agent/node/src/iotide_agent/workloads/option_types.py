"""Types of options: units by which people read a number, choices of a list, and sizes left to the node's memory."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.config import JsonDict

from iotide_agent.workloads.base import Place
from iotide_wire.expressions import AUTO, Expression, Number, Operation, Option, evaluate
from iotide_wire.units import MIB

Bytes = Annotated[int, Field(json_schema_extra={"x-unit": "bytes"})]
AutoSize = Annotated[Annotated[Bytes, Field(ge=512, le=2**60)] | Literal["auto"], Field(union_mode="left_to_right")]
"""A number of bytes, or `auto`: twice the node's memory."""
BytesPerSecond = Annotated[int, Field(json_schema_extra={"x-unit": "bytes_per_second"})]
"""A rate, which people may write in Mbit/s."""
Seconds = Annotated[float, Field(json_schema_extra={"x-unit": "seconds"})]
WholeSeconds = Annotated[int, Field(json_schema_extra={"x-unit": "seconds"})]


def choices(*default: str, title: str, needs: str | None = None) -> Any:  # noqa: ANN401 - as Field
    """Return the field of a tuple that names each choice once at most, and `needs` in any case."""
    extra: JsonDict = {"uniqueItems": True}
    if needs is not None:
        extra["contains"] = {"const": needs}
    return Field(default=default, min_length=1, title=title, json_schema_extra=extra)


def size_bytes(size: int | Literal["auto"], place: Place) -> int:
    """Return the size, `auto` in whole mebibytes, so that it suits any usual block; raise ExpressionError."""
    if size != AUTO:
        return int(size)
    exact = evaluate(Option.of("size"), {"size": AUTO, **place.facts})
    return -(-int(exact) // MIB) * MIB


def count_between(least: str, most: str, sizes: Iterable[int]) -> Expression:
    """How many of the sizes lie between two options, both included; all of them powers of two, 16 sizes at most."""
    return Operation(
        op="+",
        args=tuple(
            Operation(
                op="*",
                # A power of two is at least the other where their ratio is 1 or more, and else it is a half or less.
                args=(_clipped(Number.of(2 * size) / Option.of(least) - 1), _clipped(Option.of(most) * (2 / size) - 1)),
            )
            for size in sizes
        ),
    )


def _clipped(expression: Expression) -> Expression:
    return Operation(op="max", args=(Number.of(0), Operation(op="min", args=(Number.of(1), expression))))
