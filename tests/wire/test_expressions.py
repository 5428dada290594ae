from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from iotide_wire.expressions import (
    AUTO,
    MAX_DEPTH,
    Expression,
    ExpressionError,
    Holds,
    Number,
    Operation,
    Option,
    evaluate,
    evaluate_rows,
    names_in,
    node_count,
)

EXPRESSION: TypeAdapter[Expression] = TypeAdapter(Expression)
SIZE = Option.of("file_size_bytes")


def of_kind(kind: str, **fields: object) -> dict[str, Any]:
    return {"kind": kind} | fields


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Number.of(3), 3),
        (SIZE * 2 + 1, 201),
        (SIZE - Option.of("num_jobs"), 96),
        (SIZE / Option.of("num_jobs") / 5, 5),
        (Operation(op="-", args=(Number.of(10), Number.of(3), Number.of(2))), 5),
        (Operation(op="max", args=(SIZE, Option.of("memory.total_bytes"))), 1000),
        (Operation(op="min", args=(SIZE, Option.of("memory.total_bytes"))), 100),
        (Operation(op="double", args=(Number.of(3), SIZE)), 96),
        (Operation(op="double", args=(Number.of(25), SIZE)), 100),
        (Operation(op="double", args=(Number.of(101), SIZE)), 101),
        (Option.of("operations") * SIZE, 200),
        (Option.of("direct") * SIZE, 100),
    ],
)
def test_arithmetic_over_options_and_facts(expression: Expression, expected: float) -> None:
    values = {
        "file_size_bytes": 100,
        "num_jobs": 4,
        "memory.total_bytes": 1000,
        "operations": ["write", "read"],
        "direct": True,
    }
    assert evaluate(expression, values) == pytest.approx(expected)
    assert evaluate(EXPRESSION.validate_json(EXPRESSION.dump_json(expression)), values) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        (SIZE, "file_size_bytes is None, which is not a number"),
        (Option.of("rw"), "rw is 'write', which is not a number"),
        (Number.of(1) / Number.of(0), "division by zero"),
        (Number.of(1e308) * Number.of(10), "not a finite number"),
        (Option.of("huge") * 1, "larger than any size"),
        (Operation(op="double", args=(Number.of(0), Number.of(9))), "a number above 0"),
        (Operation(op="double", args=(Number.of(1), Number.of(1e308) * 10)), "and its maximum"),
        (Operation(op="double", args=(Number.of(1),)), "double takes"),
    ],
)
def test_a_missing_value_is_an_error_that_names_it(expression: Expression, problem: str) -> None:
    with pytest.raises(ExpressionError, match=problem):
        evaluate(expression, {"rw": "write", "huge": 10**400})


def test_a_deep_expression_from_a_node_is_refused() -> None:
    expression: Expression = Number.of(1)
    for _ in range(MAX_DEPTH + 1):
        expression = Operation(op="+", args=(expression,))
    with pytest.raises(ExpressionError, match=f"more than {MAX_DEPTH} deep"):
        evaluate(expression, {})


def test_deeper_than_any_parser_is_no_crash() -> None:
    text = '{"kind":"operation","op":"+","args":[' * 5000 + "]}" * 5000
    with pytest.raises(ValidationError):
        EXPRESSION.validate_json(text)


@pytest.mark.parametrize(
    "document",
    [
        of_kind("number", value="NaN"),
        of_kind("number", value=float("inf")),
        of_kind("name", name="__class__"),
        of_kind("operation", op="**", args=[of_kind("number", value=2)]),
        of_kind("operation", op="+", args=[]),
        of_kind("call", name="exit"),
        of_kind("number", value=1, more=2),
    ],
)
def test_anything_but_arithmetic_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EXPRESSION.validate_python(document)


def test_plug_in_that_mixes_in_a_string_gets_an_error_at_once() -> None:
    with pytest.raises(TypeError, match="not of str"):
        SIZE * "2"  # type: ignore[operator]  # the mistake under test


numbers = st.integers(min_value=0, max_value=10**12)


@given(a=numbers, b=numbers, c=numbers)
def test_operators_mean_what_python_means(a: int, b: int, c: int) -> None:
    expression = (Option.of("a") + Option.of("b")) * 2 - Option.of("c")
    assert evaluate(expression, {"a": a, "b": b, "c": c}) == pytest.approx((a + b) * 2 - c)


NAMES = ("a", "b", "c", "memory.total_bytes")
VALUES = st.one_of(
    st.integers(-4, 4),
    st.floats(-4, 4),
    st.booleans(),
    st.none(),
    st.just(AUTO),
    st.lists(st.just("write"), max_size=2),
)
EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(
        st.builds(Number.of, st.integers(-2, 2)),
        st.builds(Option.of, st.sampled_from(NAMES)),
        st.builds(Holds.of, st.sampled_from(NAMES), st.sampled_from(["write", 1])),
    ),
    lambda inner: st.builds(
        Operation,
        op=st.sampled_from(["+", "-", "*", "/", "min", "max", "double"]),
        args=st.lists(inner, min_size=1, max_size=3).map(tuple),
    ),
    max_leaves=8,
)


@given(
    expression=EXPRESSIONS,
    values=st.dictionaries(st.sampled_from(NAMES), VALUES),
    rows=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4),
    swept=st.permutations(NAMES),
)
def test_many_rows_have_the_same_values_as_single_ones(
    expression: Expression, values: dict[str, object], rows: list[tuple[object, object]], swept: list[str]
) -> None:
    columns = dict(zip(swept, zip(*rows, strict=True), strict=False))
    try:
        expected = [evaluate(expression, {**values, **dict(zip(columns, row, strict=True))}) for row in rows]
    except ExpressionError:
        with pytest.raises(ExpressionError):
            evaluate_rows(expression, values, columns, len(rows))
        return
    assert evaluate_rows(expression, values, columns, len(rows)) == pytest.approx(expected)


def test_the_names_of_an_expression_are_all_that_it_reads() -> None:
    expression = Operation(op="max", args=(SIZE * Holds.of("rw", "write"), Number.of(1)))
    assert names_in(expression) == {"file_size_bytes", "rw"}


@pytest.mark.parametrize(
    ("first", "most", "doubled"),
    [(1, 1, 1), (1, 1.5, 1), (1, 2, 2), (3, 23, 12), (3, 24, 24), (5, 2, 5), (5, -2, 5), (5e-324, 1e-323, 1e-323)],
)
def test_doubling_stops_at_the_most_in_one_step(first: float, most: float, doubled: float) -> None:
    assert evaluate(Operation(op="double", args=(Number.of(first), Number.of(most))), {}) == doubled


def test_nodes_of_an_expression_are_counted() -> None:
    assert node_count(Number.of(1)) == 1
    assert node_count(Option.of("a") * 2 + Holds.of("b", 1)) == 5
