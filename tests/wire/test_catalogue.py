import pytest
from pydantic import ValidationError

from iotide_wire.catalogue import MetricSpec, WorkloadAnnouncement
from iotide_wire.expressions import Number, Option
from iotide_wire.units import Unit


def announcement(**changed: object) -> WorkloadAnnouncement:
    given: dict[str, object] = {
        "name": "dd",
        "revision": 1,
        "title": "dd",
        "description": "d",
        "options_schema": {"type": "object", "properties": {"file_size_bytes": {"type": "integer"}}},
        "option_defaults": {"file_size_bytes": 1},
        "metrics": (MetricSpec(name="m", title="M", unit=Unit.COUNT, better="higher", labels=("a",)),),
        "bytes_needed": Option.of("file_size_bytes"),
        "bytes_moved": Option.of("file_size_bytes"),
        "breaks_series": False,
        "tool": "dd",
        "tool_version": "9.1",
        "available": True,
        "unavailable_because": None,
    }
    return WorkloadAnnouncement.model_validate(given | changed)


@pytest.mark.parametrize(
    "changed", [{"tool_version": "9.4"}, {"title": "DD"}, {"available": False, "unavailable_because": "absent"}]
)
def test_nodes_agree_on_a_workload_though_their_tools_differ(changed: dict[str, object]) -> None:
    assert announcement(**changed).schema_sha256 == announcement().schema_sha256


@pytest.mark.parametrize(
    "changed",
    [
        {"revision": 2},
        {"option_defaults": {"file_size_bytes": 2}},
        {"options_schema": {"type": "object"}},
        {"metrics": ()},
        {"bytes_needed": Option.of("file_size_bytes") * 2},
        {"own_programs": Option.of("file_size_bytes")},
        {"own_programs": Number.of(0)},
    ],
)
def test_nodes_disagree_where_numbers_would_mean_something_else(changed: dict[str, object]) -> None:
    assert announcement(**changed).schema_sha256 != announcement().schema_sha256


def test_a_workload_whose_nodes_start_their_own_programs_has_the_digest_of_earlier_agents() -> None:
    explicit = announcement(own_programs=Number.of(1))
    assert explicit.schema_sha256 == announcement().schema_sha256
    assert announcement().schema_sha256 == "e9dbbcfbf576d3f53489b6dd0af92a9608c94ae323705fba4c8439d7e7987097"


def test_orders_of_servers_that_read_no_own_programs_have_a_digest_of_the_workload_too() -> None:
    gang = announcement(own_programs=Number.of(0))
    assert gang.ordered_sha256 == {gang.schema_sha256, announcement().schema_sha256}
    assert announcement().ordered_sha256 == {announcement().schema_sha256}


def test_nodes_agree_on_a_workload_though_only_one_names_its_primary_metric() -> None:
    (metric,) = announcement().metrics
    named = metric.model_copy(update={"primary": True})
    assert announcement(metrics=(named,)).schema_sha256 == announcement().schema_sha256


def test_order_of_keys_does_not_matter() -> None:
    schema = {"properties": {"file_size_bytes": {"type": "integer"}}, "type": "object"}
    assert announcement(options_schema=schema).schema_sha256 == announcement().schema_sha256


@pytest.mark.parametrize("name", ["", "Dd", "../dd", "d d", "x" * 50])
def test_name_is_safe_in_a_path_and_in_a_key(name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        announcement(name=name)
