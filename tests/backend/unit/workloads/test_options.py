from collections.abc import Callable
from itertools import product
from time import process_time
from typing import Any

import pytest
from factories.announced import OPTION_DEFAULTS, OPTIONS_SCHEMA
from factories.ready_cluster import announced
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.kit.errors import InvalidInputError
from iotide_server.workloads.key_options import KeyOptions
from iotide_server.workloads.models import Workload, WorkloadBaseline
from iotide_server.workloads.options import complete_options, complete_sweep


def complete(**options: Any) -> dict[str, Any]:  # noqa: ANN401 - options are free
    return complete_options(OPTIONS_SCHEMA, OPTION_DEFAULTS, options, "workloads[0].options")


def test_sizes_and_times_become_base_units_and_defaults_are_filled_in() -> None:
    assert complete(file_size_bytes="64 MiB", runtime_seconds="2 min", record_sizes_bytes=["4 KiB", 512]) == {
        "file_size_bytes": 64 * 1024**2,
        "block_size_bytes": 1024**2,
        "sync": "fsync",
        "runtime_seconds": 120.0,
        "record_sizes_bytes": [4096, 512],
    }


@pytest.mark.parametrize(
    ("options", "field", "remedy"),
    [
        ({"file_size_bytes": 0}, "file_size_bytes", "give more than 0"),
        ({"file_size_bytes": -1}, "file_size_bytes", "give more than 0"),
        ({"file_size_bytes": "64 M"}, "file_size_bytes", "KiB"),
        ({"file_size_bytes": True}, "file_size_bytes", "give a value of type integer"),
        ({}, "file_size_bytes", "give the option file_size_bytes"),
        ({"file_size": 1}, "file_size", "did you mean file_size_bytes?"),
        ({"file_size_bytes": 1, "block_size_bytes": 1000}, "block_size_bytes", "give a multiple of 512"),
        ({"file_size_bytes": 1, "sync": "never"}, "sync", "choose one of none, fsync"),
        ({"file_size_bytes": 1, "record_sizes_bytes": []}, "record_sizes_bytes", "give at least 1 entries"),
        ({"file_size_bytes": 1, "record_sizes_bytes": [4096, 0]}, "record_sizes_bytes[1]", "give at least 1"),
    ],
)
def test_a_wrong_option_is_named_with_its_remedy(options: dict[str, Any], field: str, remedy: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        complete(**options)
    assert refusal.value.field == f"workloads[0].options.{field}"
    assert refusal.value.remedy is not None
    assert remedy in refusal.value.remedy


@pytest.mark.parametrize(
    ("schema", "value", "remedy"),
    [
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "soon", "give a value that fits one of "),
        ({"type": "object", "additionalProperties": False}, {"a": 1}, "remove what is not announced"),
        ({"type": "object", "required": ["a"]}, {}, "give all of a"),
        ({"not": {"type": "integer"}}, 7, "give a value that fits its schema: not "),
    ],
)
def test_every_broken_rule_of_a_schema_has_a_remedy(schema: dict[str, Any], value: object, remedy: str) -> None:
    announced = {"type": "object", "properties": {"mode": schema}}
    with pytest.raises(InvalidInputError) as refusal:
        complete_options(announced, {}, {"mode": value}, "options")
    assert refusal.value.field == "options.mode"
    assert str(refusal.value.remedy).startswith(remedy)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "$ref": "http://127.0.0.1:1/schema.json"}, "options_schema.properties.a.$ref: "),
        ({"allOf": [{}, {}]}, "options_schema.properties.a.allOf: "),
    ],
)
def test_a_stored_schema_that_no_node_may_announce_is_refused_before_it_runs(
    schema: dict[str, Any], words: str
) -> None:
    stored = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(InvalidInputError, match=r"^the schema that its nodes announced cannot be used: ") as refusal:
        complete_options(stored, {}, {"a": "b"}, "options")
    assert words in refusal.value.message
    assert str(refusal.value.remedy).startswith("do not use this workload until its nodes announce another")


def test_options_of_too_many_values_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"more than 1,000 parts$"):
        complete(file_size_bytes=1, record_sizes_bytes=[4096] * 1001)


def test_only_what_differs_from_the_frozen_defaults_is_in_the_series_key() -> None:
    baseline = WorkloadBaseline(name="dd", option_defaults={"sync": "fsync", "block_size_bytes": 4096})
    options = {"sync": "fsync", "file_size_bytes": 10, "block_size_bytes": 512}
    assert list(KeyOptions(baseline.option_defaults).chosen(options).items()) == [
        ("block_size_bytes", 512),
        ("file_size_bytes", 10),
    ]


SIZES = st.sampled_from([0, 1, 4096, "4 KiB", "4 M", -1, None])
WHOLE = {"file_size_bytes": SIZES, "block_size_bytes": SIZES, "sync": st.sampled_from(["none", "fsync", "never"])}
NOT_SMALLER = {
    "anyOf": [{"properties": {"sync": {"const": "none"}}}, {"properties": {"block_size_bytes": {"const": 1}}}]
}


IF_SYNCED = {
    "if": {"properties": {"sync": {"const": "none"}}},
    "then": {"properties": {"file_size_bytes": {"const": 4096}}},
    "not": {"properties": {"block_size_bytes": {"const": 1}, "file_size_bytes": {"const": 1}}},
}


@pytest.mark.parametrize("related", [{}, NOT_SMALLER, IF_SYNCED, NOT_SMALLER | IF_SYNCED])
@given(
    sweep=st.fixed_dictionaries(
        {}, optional={name: st.lists(kind, min_size=1, max_size=3) for name, kind in WHOLE.items()}
    )
)
def test_a_sweep_is_refused_as_its_first_wrong_combination_is(
    related: dict[str, Any], sweep: dict[str, list[Any]]
) -> None:
    workload = Workload(name="dd", options_schema={**OPTIONS_SCHEMA, **related}, option_defaults=OPTION_DEFAULTS)
    fixed = {} if "file_size_bytes" in sweep else {"file_size_bytes": 512}

    def one_by_one() -> list[dict[str, Any]]:
        sets = ({**fixed, **dict(zip(sweep, values, strict=True))} for values in product(*sweep.values()))
        return [complete_options(workload.options_schema, OPTION_DEFAULTS, given, "options") for given in sets]

    def all_at_once() -> list[dict[str, Any]]:
        options, swept = complete_sweep(workload.options_schema, OPTION_DEFAULTS, fixed, sweep, "options")
        assert list(swept) == list(sweep)
        return [{**options, **dict(zip(swept, values, strict=True))} for values in product(*swept.values())]

    assert outcome(all_at_once) == outcome(one_by_one)


def outcome(made: Callable[[], list[dict[str, Any]]]) -> object:
    """Return the result, or the reason of its refusal."""
    try:
        return made()
    except InvalidInputError as refused:
        return refused.field, refused.message, refused.value, refused.remedy


def test_only_combinations_of_related_options_are_judged() -> None:
    """fio's engine and depth are related; its 100,000 configurations took a minute."""
    (fio,) = [workload for workload in announced(()) if workload.name == "fio"]
    engines = ["libaio", "io_uring"]
    sweep: dict[str, list[Any]] = {
        "block_size_bytes": [512 * (number + 1) for number in range(500)],
        "io_engine": engines,
        "io_depth": list(range(1, 101)),
    }
    began = process_time()
    _, swept = complete_sweep(fio.options_schema, fio.option_defaults, {}, sweep, "options")
    assert process_time() - began < 2
    assert swept == sweep
    engines.append("psync")
    with pytest.raises(InvalidInputError) as refusal:
        complete_sweep(fio.options_schema, fio.option_defaults, {}, sweep, "options")
    assert (refusal.value.field, refusal.value.value) == ("options.io_depth", 2)


def test_a_sweep_that_takes_too_long_to_judge_is_refused_before_it_is() -> None:
    """A plug-in may relate all of its options, with the largest schema allowed."""
    names = [f"o{number}" for number in range(3)]
    rule = {"anyOf": [{"properties": {name: {"enum": list(range(300))} for name in names}} for _ in range(3)]}
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}, **rule}
    sweep = {name: list(range(46)) for name in names}
    began = process_time()
    with pytest.raises(InvalidInputError, match=r"checking the values of o0, o1, o2 takes [0-9,]+ steps") as refusal:
        complete_sweep(schema, {}, {}, sweep, "options")
    assert process_time() - began < 1
    assert refusal.value.remedy == "give fewer values of o0, o1, o2, or submit several campaigns"


def test_many_values_of_several_types_are_distinguished_in_one_pass() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
    mixed = [item for number in range(240) for item in (number + 2, f"{number}", [number])]
    values = [*mixed, 1, True, {"b": 1}, {"b": True}, None]
    assert complete_options(schema, {}, {"a": values}, "options")
    began = process_time()
    often = {"type": "array", "anyOf": [{"uniqueItems": True, "maxItems": 1}] * 8}
    assert complete_options(
        {"type": "object", "properties": {"a": {"anyOf": [often] * 2 + [{}]}}}, {}, {"a": values}, "o"
    )
    assert process_time() - began < 1
    for twice in ([1, 1.0], [[1], [1.0]], [{"b": [1], "c": 2}, {"c": 2, "b": [1]}], [True, True]):
        with pytest.raises(InvalidInputError, match="has non-unique elements") as refusal:
            complete_options(schema, {}, {"a": twice}, "options")
        assert refusal.value.remedy == "list each entry once"


@pytest.mark.parametrize("is_gang", [True, False])
def test_a_choice_of_programs_is_in_the_key_of_one_program_only(*, is_gang: bool) -> None:
    frozen = {"program_per_node": False, "tasks": 1}
    key = KeyOptions.of(frozen, {"kind": "name", "name": "program_per_node"}, is_gang=is_gang)
    one_program = {"program_per_node": False} if is_gang else {}
    assert key.chosen({"program_per_node": False, "tasks": 1}) == one_program
    assert key.chosen({"program_per_node": True, "tasks": 2}) == {"tasks": 2}


@pytest.mark.parametrize(
    "announced", [None, {"kind": "number", "value": 0}, {"kind": "operation", "op": "-", "args": []}]
)
def test_an_option_with_another_effect_too_is_in_the_key_as_any_other(announced: dict[str, object] | None) -> None:
    key = KeyOptions.of({"cluster": False}, announced, is_gang=True)
    assert key.chosen({"cluster": False}) == {}
    assert key.chosen({"cluster": True}) == {"cluster": True}


@pytest.mark.parametrize("is_gang", [True, False])
def test_a_number_that_also_chooses_programs_stays_in_the_key(*, is_gang: bool) -> None:
    """Otherwise runs of a plug-in with different numbers of tasks would share a series."""
    key = KeyOptions.of({"tasks": 0}, {"kind": "name", "name": "tasks"}, is_gang=is_gang)
    assert [key.chosen({"tasks": tasks}) for tasks in (0, 4, 8)] == [{}, {"tasks": 4}, {"tasks": 8}]
