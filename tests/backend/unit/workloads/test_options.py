from typing import Any

import pytest
from factories.announced import OPTION_DEFAULTS, OPTIONS_SCHEMA

from iotide_server.kit.errors import InvalidInputError
from iotide_server.workloads.models import WorkloadBaseline
from iotide_server.workloads.options import check_schema, complete_options
from iotide_server.workloads.service import series_options


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
        ({"type": "object", "additionalProperties": False}, {"a": 1}, "leave out what is not announced"),
        ({"type": "object", "required": ["a"]}, {}, "give all of a"),
        ({"not": {"type": "integer"}}, 7, "give a value that fits its schema: not "),
    ],
)
def test_whatever_rule_of_a_schema_is_broken_there_is_a_remedy(
    schema: dict[str, Any], value: object, remedy: str
) -> None:
    announced = {"type": "object", "properties": {"mode": schema}}
    with pytest.raises(InvalidInputError) as refusal:
        complete_options(announced, {}, {"mode": value}, "options")
    assert refusal.value.field == "options.mode"
    assert str(refusal.value.remedy).startswith(remedy)


def test_a_schema_that_points_elsewhere_fetches_nothing() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:1/schema.json"}}}
    with pytest.raises(InvalidInputError, match=r"refers to http://127.0.0.1:1/schema.json"):
        complete_options(schema, {}, {"a": 1}, "options")


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"type": "array"}, {}])
def test_an_announced_schema_must_describe_an_object(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=r"^workloads.dd.options_schema: "):
        check_schema(schema, "workloads.dd.options_schema")


def test_only_what_differs_from_the_frozen_defaults_is_in_the_series_key() -> None:
    baseline = WorkloadBaseline(name="dd", option_defaults={"sync": "fsync", "block_size_bytes": 4096})
    options = {"sync": "fsync", "file_size_bytes": 10, "block_size_bytes": 512}
    assert list(series_options(baseline, options).items()) == [("block_size_bytes", 512), ("file_size_bytes", 10)]
