"""Option schemas from nodes cost the server little: the hello rejects bombs, and stored bombs never run."""

import json
from enum import StrEnum
from typing import Annotated, Any, Final

import pytest
from factories.announced import workload as made_up
from factories.people import Person
from factories.two_clusters import TwoClusters
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field
from sqlalchemy import update

from iotide_server.kit.db import Database
from iotide_server.main import API
from iotide_server.workloads.models import Workload
from iotide_wire.catalogue import WorkloadAnnouncement
from iotide_wire.expressions import Expression, Number, Operation, Option

TEXT: Final = {"type": "string", "default": "b"}


def workload(name: str, **changes: object) -> WorkloadAnnouncement:
    """Return a workload that needs the same space whatever its options are."""
    return made_up(name, **{"bytes_needed": Number.of(1), "bytes_moved": Number.of(1)} | changes)


def with_option(**option: object) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": option}}


def doubling(levels: int) -> dict[str, Any]:
    """Return a schema whose validation takes 2 to the power of `levels` steps."""
    halves = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)}
    return {**with_option(**{"$ref": "#/$defs/d0"}), "$defs": {**halves, f"d{levels}": TEXT}}


def doubling_by_choice(levels: int) -> dict[str, Any]:
    """Return a schema that has 2 to the power of `levels` parts once its definitions are inlined."""
    halves = {f"d{level}": {"anyOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)}
    return {**with_option(**{"$ref": "#/$defs/d0"}), "$defs": {**halves, f"d{levels}": TEXT}}


def nested(levels: int) -> dict[str, Any]:
    return TEXT if levels == 0 else {"type": "array", "items": nested(levels - 1)}


BOMBS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "doubling": (doubling(40), "but allOf is not in the vocabulary; write its rules next to one another"),
    "doubling by choice": (doubling_by_choice(14), "options_schema: more than 4,000 parts; offer fewer options"),
    "a definition that holds itself": (
        {**with_option(**{"$ref": "#/$defs/d"}), "$defs": {"d": {"type": "array", "items": {"$ref": "#/$defs/d"}}}},
        "options_schema.properties.a.items.$ref: '#/$defs/d' is given, but $ref is not in the vocabulary; write the",
    ),
    "a long way": (
        {
            **with_option(**{"$ref": "#/$defs/d0"}),
            "$defs": {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(999)},
        },
        "options_schema: more than 16 levels of lists and objects; offer fewer options",
    ),
    "every rule twice": (
        with_option(allOf=[TEXT, TEXT]),
        "options_schema.properties.a.allOf: [{'type': 'string', 'default': 'b'}, {'type': 'string', 'default': 'b'}] ",
    ),
    "reference elsewhere": (with_option(**{"$ref": "http://127.0.0.1:1/"}), "options_schema.properties.a.$ref: "),
    "deep": (with_option(**nested(20)), "options_schema: more than 16 levels of lists and objects; offer fewer"),
    "large": (with_option(**TEXT, title="x" * 40_000), "options_schema: more than 32,768 characters; offer fewer"),
    "many choices": (with_option(enum=[str(number) for number in range(1_001)]), "is not a list of 1 to 1,000 texts"),
    "many options": (
        {"type": "object", "properties": {f"o{number}": TEXT for number in range(201)}},
        "options_schema.properties: {'o0': {'type': 'string', 'default': 'b'}, ",
    ),
    "many alternatives": (with_option(anyOf=[TEXT] * 9), "options_schema.properties.a.anyOf: "),
    "no schema": (with_option(items=True), "options_schema.properties.a.items: True is not a schema; give a schema"),
    "a number without an end": (with_option(maximum=10**400), "options_schema: a number beyond 1e300"),
    "a text that cannot be stored": (with_option(**TEXT, title="\0"), "options_schema: '\\x00' has a NUL character"),
}


@pytest.fixture
def clusters(client: TestClient, database: Database, admin: Person) -> TwoClusters:
    return TwoClusters(client, database, admin)


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_rejected_with_a_message_and_its_node_continues(clusters: TwoClusters, kind: str) -> None:
    schema, words = BOMBS[kind]
    shown = clusters.say("alpha", workload("bomb", options_schema=schema, option_defaults={"a": "b"}))
    assert (shown["bomb"]["available"], shown["fio"]["available"]) == (False, True)
    assert shown["bomb"]["unavailable_because"].startswith("rejected: bomb: options_schema")
    assert words in shown["bomb"]["unavailable_because"]
    refused = clusters.preview("alpha", "bomb")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "workload_unavailable")
    assert words in refused.json()["error"]["remedy"]
    assert clusters.preview("alpha", "fio").status_code == 200


@pytest.mark.parametrize(
    "kind", ["doubling", "doubling by choice", "every rule twice", "deep", "many alternatives", "no schema"]
)
def test_a_bomb_that_an_earlier_release_stored_is_never_run(clusters: TwoClusters, kind: str) -> None:
    """The default almost matches, and its validation would not end."""
    clusters.say("alpha", workload("bomb", options_schema=with_option(**TEXT), option_defaults={"a": "a" * 40 + "b"}))
    assert clusters.preview("alpha", "bomb").status_code == 200
    with clusters.database.transaction() as session:
        session.execute(update(Workload).where(Workload.name == "bomb").values(options_schema=BOMBS[kind][0]))
    refused = clusters.preview("alpha", "bomb")
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["field"]) == (422, "invalid_input", "workloads[0].options")
    assert error["message"].startswith("the schema that its nodes announced cannot be used: options_schema")


def test_a_regular_expression_is_not_stored_and_one_that_an_earlier_release_stored_is_not_run(
    clusters: TwoClusters,
) -> None:
    schema = with_option(type="string", pattern="^(a+)+$")
    clusters.say("alpha", workload("bomb", options_schema=schema, option_defaults={"a": "a" * 40 + "b"}))
    assert clusters.catalogue("alpha")["bomb"]["options_schema"] == with_option(type="string")
    with clusters.database.transaction() as session:
        session.execute(update(Workload).where(Workload.name == "bomb").values(options_schema=schema))
    assert clusters.preview("alpha", "bomb").status_code == 200


def test_definitions_of_honest_plug_ins_are_written_where_they_are_used(clusters: TwoClusters) -> None:
    """Agents of 0.1.0 and 0.2.0 announce pydantic's schemas of an Enum and of a nested model."""

    class Mode(StrEnum):
        FAST = "fast"
        SAFE = "safe"

    class Layout(BaseModel):
        pattern: Annotated[str, Field(pattern="^[a-z]+$")] = "plain"
        mode: Mode = Mode.SAFE

    class Options(BaseModel):
        mode: Mode = Mode.FAST
        layout: Layout = Layout()
        size_bytes: Annotated[int, Field(gt=0, json_schema_extra={"x-unit": "bytes"})] = 4096

    schema = Options.model_json_schema()
    assert "$defs" in schema
    said = workload("copy", options_schema=schema, option_defaults=Options().model_dump(mode="json"))
    assert clusters.say("alpha", said)["copy"]["available"]
    shown = clusters.catalogue("alpha")["copy"]
    assert shown["schema_sha256"] == said.schema_sha256
    stored = shown["options_schema"]
    assert "$" not in json.dumps(stored)
    assert stored["properties"]["mode"]["enum"] == ["fast", "safe"]
    assert stored["properties"]["mode"]["default"] == "fast"
    assert stored["properties"]["layout"]["properties"]["pattern"] == {
        "default": "plain",
        "title": "Pattern",
        "type": "string",
    }
    assert clusters.preview("alpha", "copy", mode="safe", layout={"mode": "fast"}).status_code == 200
    assert clusters.preview("alpha", "copy", layout={"mode": "slow"}).status_code == 422
    with clusters.database.transaction() as session:  # as an earlier release stored it
        session.execute(update(Workload).where(Workload.name == "copy").values(options_schema=schema))
    assert clusters.preview("alpha", "copy", size_bytes="1 KiB").status_code == 200
    clusters.say("alpha", said)
    assert clusters.catalogue("alpha")["copy"]["options_schema"] == stored


def choices(levels: int) -> dict[str, Any]:
    """Return a schema of 8 to the power of `levels` alternatives. No alternative accepts a number."""
    return {"type": "string"} if levels == 0 else {"anyOf": [choices(levels - 1)] * 8}


def test_many_alternatives_meet_few_values(clusters: TwoClusters) -> None:
    """512 alternatives for each of 900 values took gigabytes and minutes in one preview."""
    schema = with_option(type="array", items=choices(3))
    shown = clusters.say("alpha", workload("bomb", options_schema=schema, option_defaults={"a": ["b"] * 900}))
    words = "parts of the schema times parts of the values are more than 100,000; give fewer values"
    assert shown["bomb"]["unavailable_because"].startswith(f"rejected: bomb: option_defaults: {words}")
    assert clusters.say("alpha", workload("bomb", options_schema=schema, option_defaults={"a": []}))["bomb"][
        "available"
    ]
    refused = clusters.preview("alpha", "bomb", a=[1] * 900)
    assert refused.status_code == 422
    assert "parts of the schema times parts of the values" in refused.json()["error"]["message"]
    refused = clusters.preview("alpha", "bomb", a=["b" * 90_000])
    assert "parts of the schema times parts of the values" in refused.json()["error"]["message"]
    assert clusters.preview("alpha", "bomb", a=["b"] * 50).status_code == 200


def summed(levels: int) -> Expression:
    """Return an expression of 16 to the power of `levels` names."""
    return Option.of("size") if levels == 0 else Operation(op="+", args=(summed(levels - 1),) * 16)


def test_an_expression_is_small_and_is_computed_for_few_option_sets(clusters: TwoClusters) -> None:
    """19,000 names for each of 100,000 option sets took the API minutes in one preview."""
    size = {"type": "integer", "x-unit": "bytes"}
    schema = {"type": "object", "properties": {"size": size, "times": {"type": "integer"}}}
    fields: dict[str, Any] = {"options_schema": schema, "option_defaults": {"size": 1, "times": 1}}
    shown = clusters.say("alpha", workload("bomb", **fields, run_seconds=summed(3)))
    words = "rejected: bomb: run_seconds: more than 400 numbers, names and operations; use fewer"
    assert shown["bomb"]["unavailable_because"] == words

    seconds = summed(2) * 0 + Option.of("times")
    assert clusters.say("alpha", workload("bomb", **fields, run_seconds=seconds))["bomb"]["available"]
    sizes, times = list(range(1, 161)), list(range(1, 121))

    def preview(**sweep: object) -> Any:  # noqa: ANN401 - a response
        plan = clusters.clusters["alpha"].plan(workloads=[{"workload": "bomb", "sweep": sweep}])
        return clusters.client.post(f"{API}/campaigns/preview", json=plan, headers=clusters.admin.headers)

    refused = preview(size=sizes, times=times)
    error = refused.json()["error"]
    assert (refused.status_code, error["field"]) == (422, "workloads[0]")
    assert error["message"] == "workloads[0]: estimating space and time of bomb takes over 5,000,000 steps"
    assert preview(size=sizes).status_code == 200


def test_defaults_and_descriptions_without_end_are_rejected_as_well(clusters: TwoClusters) -> None:
    many = {"a": [[number] for number in range(20_000)]}
    shown = clusters.say(
        "alpha",
        workload("many", options_schema=with_option(type="array", uniqueItems=True), option_defaults=many),
        workload("long", metrics=made_up().metrics * 3_000),
    )
    assert shown["many"]["unavailable_because"].startswith("rejected: many: option_defaults: more than 1,000 parts")
    assert shown["long"]["unavailable_because"].startswith("rejected: long: announcement: more than 131,072 characters")


def test_every_form_of_the_dashboards_tests_is_taken(clusters: TwoClusters) -> None:
    """Lists, sizes or `auto`, texts of several lines: forms that a plug-in's author may write."""
    schema = {
        **with_option(anyOf=[{"type": "integer", "minimum": 1, "x-unit": "bytes"}, {"const": "auto"}], default="auto"),
        "additionalProperties": False,
        "if": {"properties": {"a": {"const": "auto"}}, "required": ["a"]},
        "then": {"properties": {"b": {"maxItems": 1}}},
    }
    schema["properties"] |= {
        "b": {"type": "array", "items": {"enum": ["x", "y"]}, "uniqueItems": True, "contains": {"const": "x"}},
        "c": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        "d": {"type": "object", "additionalProperties": {"type": "number"}, "format": "path", "x-multiline": True},
    }
    defaults = {"a": "auto", "b": ["x"], "c": [1, "z"], "d": {"e": 0.5}}
    said = workload("copy", options_schema=json.loads(json.dumps(schema)), option_defaults=defaults)
    assert clusters.say("alpha", said)["copy"]["available"]
    assert clusters.preview("alpha", "copy", b=["x", "y"]).status_code == 422
