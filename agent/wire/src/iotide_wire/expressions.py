"""Arithmetic that a workload announces: the server foresees space and time of a plug-in it has no code of."""

from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Literal, Self

from pydantic import Field

from iotide_wire.base import Message

MAX_DEPTH = 32
"""A deeper expression is refused: it comes from a node and is evaluated on the server."""


class ExpressionError(ValueError):
    """An announced expression cannot be evaluated with the given names."""


class _Operand:
    """Lets a plug-in write `Option.of("file_size_bytes") * 2` instead of nested messages."""

    def __add__(self, other: "Expression | float") -> "Operation":
        return Operation(op="+", args=(_lift(self), _lift(other)))

    def __sub__(self, other: "Expression | float") -> "Operation":
        return Operation(op="-", args=(_lift(self), _lift(other)))

    def __mul__(self, other: "Expression | float") -> "Operation":
        return Operation(op="*", args=(_lift(self), _lift(other)))

    def __truediv__(self, other: "Expression | float") -> "Operation":
        return Operation(op="/", args=(_lift(self), _lift(other)))


class Number(Message, _Operand):
    """A constant."""

    kind: Literal["number"] = "number"
    value: Annotated[float, Field(allow_inf_nan=False)]

    @classmethod
    def of(cls, value: float) -> Self:
        """The constant `value`."""
        return cls(value=value)


class Option(Message, _Operand):
    """The value of an option or a fact by its name; true counts as 1, false as 0, a list as its length."""

    kind: Literal["name"] = "name"
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]{0,80}$")]

    @classmethod
    def of(cls, name: str) -> Self:
        """The option or fact called `name`."""
        return cls(name=name)


class Operation(Message, _Operand):
    """An operator over its arguments, from left to right."""

    kind: Literal["operation"] = "operation"
    op: Literal["+", "-", "*", "/", "min", "max"]
    args: Annotated[tuple["Expression", ...], Field(min_length=1, max_length=16)]


Expression = Annotated[Number | Option | Operation, Field(discriminator="kind")]
Operation.model_rebuild()


def _lift(value: object) -> Expression:
    if isinstance(value, Number | Option | Operation):
        return value
    if isinstance(value, int | float):
        return Number.of(value)
    raise TypeError(f"an expression is made of numbers, names and operations, not of {type(value).__name__}")


def evaluate(expression: Expression, values: Mapping[str, object]) -> float:
    """The value of `expression`, its names taken from `values` (options over facts, in base units).

    Raises:
        ExpressionError: a name is missing or no number, a division by zero, a result that is not finite, or an
            expression nested more than MAX_DEPTH deep.
    """
    result = _evaluate(expression, values, 0)
    if not isfinite(result):
        raise ExpressionError(f"the result is {result}, which is not a finite number")
    return result


def _evaluate(expression: Expression, values: Mapping[str, object], depth: int) -> float:
    if depth > MAX_DEPTH:
        raise ExpressionError(f"nested more than {MAX_DEPTH} deep")
    match expression:
        case Number(value=value):
            return value
        case Option(name=name):
            named = values.get(name)
            if isinstance(named, list | tuple):
                return float(len(named))
            if not isinstance(named, int | float):
                raise ExpressionError(f"{name} is {named!r}, which is not a number")
            return _finite(name, named)
        case Operation(op=op, args=args):
            return _apply(op, [_evaluate(arg, values, depth + 1) for arg in args])


def _finite(name: str, value: float) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise ExpressionError(f"{name} is larger than any size or time") from error


def _apply(op: Literal["+", "-", "*", "/", "min", "max"], numbers: list[float]) -> float:
    if op == "min":
        return min(numbers)
    if op == "max":
        return max(numbers)
    result, *rest = numbers
    for number in rest:
        if op == "+":
            result += number
        elif op == "-":
            result -= number
        elif op == "*":
            result *= number
        elif number == 0:
            raise ExpressionError("division by zero")
        else:
            result /= number
    return result
