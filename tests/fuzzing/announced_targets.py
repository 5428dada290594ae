"""Fuzz targets for announcements: schemas with options against them, and whole hellos."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from fuzzing.target import Target
from fuzzing.texts import SEPARATOR
from pydantic import TypeAdapter, ValidationError
from wire_recordings import kind_of, recordings

from iotide_agent.workloads.registry import all_workloads
from iotide_server.kit.errors import InvalidInputError
from iotide_server.workloads.options import complete_options
from iotide_server.workloads.primary import metric_places
from iotide_wire.built_in import as_shipped
from iotide_wire.catalogue import WorkloadAnnouncement
from iotide_wire.messages import HelloRequest
from iotide_wire.names import option_titles
from iotide_wire.references import in_place
from iotide_wire.vocabulary import VocabularyError, require_options_schema, require_vocabulary

_OBJECT: Final[TypeAdapter[dict[str, Any]]] = TypeAdapter(dict[str, Any])
_BOMBS: Final = (
    '{"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}',
    '{"type": "object", "properties": {"a": {"$ref": "#"}}, "$defs": {"b": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}',
    '{"$ref": "#/$defs/o", "$defs": {"o": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}, "a": {}}}',
    '{"type": "object", "properties": {"a": {"anyOf": [{"const": "auto"}, {"items": {"enum": [1, 2.5, null]}}]}}}',
    '{"type": "object", "properties": {"a": {"type": "array", "uniqueItems": true, "contains": {"minimum": 3}}}}',
)


class AnnouncedSchema(Target):
    """A schema of options from a node and, after it, the options that a user gives."""

    name = "schema"

    def seeds(self) -> Iterator[bytes]:
        for workload in all_workloads().values():
            schema = json.dumps(workload.options_schema()).encode()
            defaults = workload.options_type.model_construct().model_dump_json().encode()
            yield SEPARATOR.join((schema, defaults))
        for bomb in _BOMBS:
            yield SEPARATOR.join((bomb.encode(), b'{"a": [1, 3, 2, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"]}'))

    def feed(self, data: bytes) -> None:
        first, _, second = data.partition(SEPARATOR)
        with suppress(ValidationError, InvalidInputError):
            schema, options = _OBJECT.validate_json(first), _OBJECT.validate_json(second or b"{}")
            completed = complete_options(schema, {}, options, "options")
            stored = in_place(schema)
            assert completed.keys() <= stored.get("properties", {}).keys()
            option_titles(stored)


class SaidHello(Target):
    """A hello; each of its workloads is judged as the server does."""

    name = "hello"

    def seeds(self) -> Iterator[bytes]:
        for file in recordings():
            if kind_of(file) is HelloRequest:
                yield file.read_bytes()

    def feed(self, data: bytes) -> None:
        with suppress(ValidationError):
            for announced in HelloRequest.model_validate_json(data).workloads:
                self._judge(announced)

    def _judge(self, announced: WorkloadAnnouncement) -> None:
        if as_shipped(announced) is not None:
            return
        refusal = self._refusal(announced)
        if refusal is not None:
            assert "\0" not in str(refusal)
            assert all((refusal.path, refusal.problem, refusal.remedy))
            return
        require_options_schema(in_place(announced.options_schema))
        metric_places(metric.model_dump(mode="json") for metric in announced.metrics)
        json.dumps(announced.model_dump(mode="json"), allow_nan=False)

    def _refusal(self, announced: WorkloadAnnouncement) -> VocabularyError | None:
        try:
            schema = in_place(announced.options_schema)
            require_vocabulary(announced.model_copy(update={"options_schema": schema}))
        except VocabularyError as error:
            return error
        return None
