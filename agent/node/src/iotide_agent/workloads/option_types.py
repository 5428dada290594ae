"""Types of options: numbers with units, lists of choices, and sizes derived from the node's memory."""

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
"""A rate that users may write in Mbit/s."""
Seconds = Annotated[float, Field(json_schema_extra={"x-unit": "seconds"})]
WholeSeconds = Annotated[int, Field(json_schema_extra={"x-unit": "seconds"})]


def choices(*default: str, title: str, needs: str | None = None) -> Any:  # noqa: ANN401 - as Field
    extra: JsonDict = {"uniqueItems": True}
    if needs is not None:
        extra["contains"] = {"const": needs}
    return Field(default=default, min_length=1, title=title, json_schema_extra=extra)


def size_bytes(size: int | Literal["auto"], place: Place) -> int:
    """Return the size in bytes, `auto` rounded up to whole MiB for any usual block; raise ExpressionError."""
    if size != AUTO:
        return int(size)
    exact = evaluate(Option.of("size"), {"size": AUTO, **place.facts})
    return -(-int(exact) // MIB) * MIB


def count_between(least: str, most: str, sizes: Iterable[int]) -> Expression:
    """Return the number of sizes from one option to another, both included; sizes are at most 16 powers of two."""
    return Operation(
        op="+",
        args=tuple(
            Operation(
                op="*",
                # For two powers of two, the ratio is 1 or more if the first is not smaller, otherwise at most a half.
                args=(_clipped(Number.of(2 * size) / Option.of(least) - 1), _clipped(Option.of(most) * (2 / size) - 1)),
            )
            for size in sizes
        ),
    )


def _clipped(expression: Expression) -> Expression:
    return Operation(op="max", args=(Number.of(0), Operation(op="min", args=(Number.of(1), expression))))
