"""Arithmetic that a workload announces, for the server to predict space and time without the plug-in's code."""

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from math import frexp, isfinite, ldexp
from operator import add, mul, sub, truediv
from typing import Annotated, Literal, Self

from pydantic import Field

from iotide_wire.base import Message

MAX_DEPTH = 32
"""Deeper expressions are rejected: nodes send them, and the server evaluates them."""

AUTO = "auto"
"""As a size: MEMORY_FACTOR times the node's memory, so that its page cache cannot hold the data."""
MEMORY_FACTOR = 2
MEMORY = "memory.total_bytes"

TARGET_TOTAL = "target.total_bytes"
TARGET_FREE = "target.free_bytes"
TARGET_RESERVE = "target.reserve_bytes"
TARGET_COUNT = "targets.count"
"""Number of targets that the run loads together."""

_FIRST_AND_MOST = 2
_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": truediv,
    "min": min,
    "max": max,
}

FactName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]{0,80}$")]


class ExpressionError(ValueError):
    """An announced expression that cannot be evaluated with the given names."""


class _Operand:
    """Operators, to write `Option.of("file_size_bytes") * 2` instead of nested messages."""

    def __add__(self, other: "Expression | float") -> "Operation":
        return Operation(op="+", args=(_lift(self), _lift(other)))

    def __sub__(self, other: "Expression | float") -> "Operation":
        return Operation(op="-", args=(_lift(self), _lift(other)))

    def __mul__(self, other: "Expression | float") -> "Operation":
        return Operation(op="*", args=(_lift(self), _lift(other)))

    def __truediv__(self, other: "Expression | float") -> "Operation":
        return Operation(op="/", args=(_lift(self), _lift(other)))


class Number(Message, _Operand):
    kind: Literal["number"] = "number"
    value: Annotated[float, Field(allow_inf_nan=False)]

    @classmethod
    def of(cls, value: float) -> Self:
        return cls(value=value)


class Option(Message, _Operand):
    """Value of an option or fact. true counts as 1, a list as its length, `auto` as twice the node's memory."""

    kind: Literal["name"] = "name"
    name: FactName

    @classmethod
    def of(cls, name: str) -> Self:
        return cls(name=name)


class Holds(Message, _Operand):
    """1 if an option is `value`, or is a list that contains it; else 0."""

    kind: Literal["holds"] = "holds"
    name: FactName
    value: str | int | float | bool

    @classmethod
    def of(cls, name: str, value: str | float | bool) -> Self:  # noqa: FBT001 - a value to compare with, no switch
        return cls(name=name, value=value)


class Operation(Message, _Operand):
    """An operator over its arguments, from left to right.

    `double` takes two arguments: it doubles the first while it does not exceed the second.
    """

    kind: Literal["operation"] = "operation"
    # double: IOzone's rule for its largest file; agent and server must get the same size.
    op: Literal["+", "-", "*", "/", "min", "max", "double"]
    args: Annotated[tuple["Expression", ...], Field(min_length=1, max_length=16)]


Expression = Annotated[Number | Option | Holds | Operation, Field(discriminator="kind")]
Operation.model_rebuild()


def _lift(value: object) -> Expression:
    if isinstance(value, Number | Option | Holds | Operation):
        return value
    if isinstance(value, int | float):
        return Number.of(value)
    raise TypeError(f"an expression is made of numbers, names and operations, not of {type(value).__name__}")


def evaluate(expression: Expression, values: Mapping[str, object]) -> float:
    """Return the value of the expression, with names from `values` (options over facts, in base units).

    Raises:
        ExpressionError: a name is missing or not a number, the result is not finite, or the depth exceeds MAX_DEPTH.
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
            return _number(name, values.get(name), values)
        case Holds(name=name, value=value):
            return _holds(values.get(name), value)
        case Operation(op=op, args=args):
            return _apply(op, [_evaluate(arg, values, depth + 1) for arg in args])


def _holds(named: object, value: object) -> float:
    return float(value in named if isinstance(named, list | tuple) else named == value)


def names_in(expression: Expression) -> frozenset[str]:
    match expression:
        case Number():
            return frozenset()
        case Option(name=name) | Holds(name=name):
            return frozenset({name})
        case Operation(args=args):
            return frozenset[str]().union(*map(names_in, args))


def node_count(expression: Expression) -> int:
    return 1 + sum(map(node_count, expression.args)) if isinstance(expression, Operation) else 1


def evaluate_rows(
    expression: Expression, values: Mapping[str, object], columns: Mapping[str, Sequence[object]], row_count: int
) -> list[float]:
    """Return the result of `evaluate` for each row, much faster; raise ExpressionError.

    Args:
        values: by name, for all rows.
        columns: by name, one value per row; they override `values`.
    """
    if MEMORY in columns:  # `auto` differs by row
        rows = ({**values, **dict(zip(columns, row, strict=True))} for row in zip(*columns.values(), strict=True))
        return [evaluate(expression, row) for row in rows]
    try:
        found = _evaluate_rows(expression, values, columns, 0)
    except ZeroDivisionError as error:
        raise ExpressionError("division by zero") from error
    results = found if isinstance(found, list) else [found] * row_count
    if not all(map(isfinite, results)):
        raise ExpressionError("a result is not a finite number")
    return results


def _evaluate_rows(
    expression: Expression, values: Mapping[str, object], columns: Mapping[str, Sequence[object]], depth: int
) -> float | list[float]:
    """Return one number if it is the same in all rows."""
    if depth > MAX_DEPTH:
        raise ExpressionError(f"nested more than {MAX_DEPTH} deep")
    match expression:
        case Option(name=name) if name in columns:
            return [_number(name, value, values) for value in columns[name]]
        case Holds(name=name, value=value) if name in columns:
            return [_holds(named, value) for named in columns[name]]
        case Operation(op=op, args=args):
            return _apply_rows(op, [_evaluate_rows(arg, values, columns, depth + 1) for arg in args])
        case _:
            return _evaluate(expression, values, depth)


def _apply_rows(
    op: Literal["+", "-", "*", "/", "min", "max", "double"], numbers: list[float | list[float]]
) -> float | list[float]:
    alike = [number for number in numbers if not isinstance(number, list)]
    if len(alike) == len(numbers):
        return _apply(op, alike)
    if op == "double":
        together = [number if isinstance(number, list) else repeat(number) for number in numbers]
        return [_doubled(list(row)) for row in zip(*together, strict=False)]
    result = numbers[0]
    for number in numbers[1:]:
        if isinstance(result, list) or isinstance(number, list):
            left, right = (side if isinstance(side, list) else repeat(side) for side in (result, number))
            result = list(map(_OPERATORS[op], left, right))
        else:
            result = _apply(op, [result, number])
    return result


def _number(name: str, value: object, values: Mapping[str, object]) -> float:
    if isinstance(value, list | tuple):
        return float(len(value))
    if value == AUTO:
        return MEMORY_FACTOR * _number(MEMORY, values.get(MEMORY), {})
    if not isinstance(value, int | float):
        raise ExpressionError(f"{name} is {value!r}, which is not a number")
    try:
        return float(value)
    except OverflowError as error:
        raise ExpressionError(f"{name} is larger than any size or time") from error


def _apply(op: Literal["+", "-", "*", "/", "min", "max", "double"], numbers: list[float]) -> float:
    if op == "min":
        return min(numbers)
    if op == "max":
        return max(numbers)
    if op == "double":
        return _doubled(numbers)
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


def _doubled(numbers: list[float]) -> float:
    if len(numbers) != _FIRST_AND_MOST or numbers[0] <= 0 or not isfinite(numbers[1]):
        raise ExpressionError(f"double takes a number above 0 and its maximum, not {numbers}")
    first, most = numbers
    if most < first:
        return first
    (fraction, exponent), (most_fraction, most_exponent) = frexp(first), frexp(most)
    return ldexp(first, most_exponent - exponent - (fraction > most_fraction))
