"""Sizes that may be left to the node's memory."""

from collections.abc import Iterable
from typing import Literal

from iotide_agent.workloads.base import (
    Place,
)
from iotide_wire.expressions import AUTO, Expression, Number, Operation, Option, evaluate
from iotide_wire.units import MIB


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
                args=(
                    _clipped(Number.of(2 * size) / Option.of(least) - 1),
                    _clipped(Option.of(most) * (2 / size) - 1),
                ),
            )
            for size in sizes
        ),
    )


def _clipped(expression: Expression) -> Expression:
    return Operation(op="max", args=(Number.of(0), Operation(op="min", args=(Number.of(1), expression))))
