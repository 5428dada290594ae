"""Replaces references in an options schema by definitions."""

from collections.abc import Mapping
from typing import Any, Final

from iotide_wire.vocabulary import MOST_DEPTH, MOST_PARTS, OF_ONE, OF_SEVERAL, PATTERNS, VocabularyError

_LOCAL: Final = "#/$defs/"
_MOST_STEPS: Final = 2 * MOST_DEPTH
"""Maximum nesting of schemas and references."""


def in_place(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an options schema with definitions in place of `#/$defs/NAME`, without foreign patterns.

    Other references stay, for `require_options_schema` to reject. Foreign patterns could run forever; the agent
    checks them.

    Raises:
        VocabularyError: the result has more than MOST_PARTS parts.
    """
    definitions = schema.get("$defs")
    writer = _Writer(definitions if isinstance(definitions, Mapping) else {})
    return writer.written({keyword: value for keyword, value in schema.items() if keyword != "$defs"}, frozenset(), 0)


class _Writer:
    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._parts = 0

    def written(self, schema: Mapping[str, Any], outer: frozenset[str], steps: int) -> dict[str, Any]:
        self._parts += 1 + len(schema)
        if self._parts > MOST_PARTS or steps > _MOST_STEPS:
            most = f"{MOST_PARTS:,} parts" if self._parts > MOST_PARTS else f"{MOST_DEPTH} levels of lists and objects"
            raise VocabularyError("options_schema", f"more than {most}", "offer fewer options or choices")
        name = self._defined(schema, outer)
        if name is not None:
            others = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
            return self.written({**self._definitions[name], **others}, outer | {name}, steps + 1)
        return {
            keyword: self._value(keyword, value, outer, steps)
            for keyword, value in schema.items()
            if keyword != "pattern" or not isinstance(value, str) or value in PATTERNS
        }

    def _defined(self, schema: Mapping[str, Any], outer: frozenset[str]) -> str | None:
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith(_LOCAL):
            return None
        name = reference.removeprefix(_LOCAL)
        return name if name not in outer and isinstance(self._definitions.get(name), Mapping) else None

    def _value(self, keyword: str, value: Any, outer: frozenset[str], steps: int) -> Any:  # noqa: ANN401 - JSON
        def written(part: Any) -> Any:  # noqa: ANN401 - JSON
            return self.written(part, outer, steps + 1) if isinstance(part, Mapping) else part

        if keyword in OF_ONE or keyword == "additionalProperties":
            return written(value)
        if keyword in OF_SEVERAL and isinstance(value, list):
            return [written(part) for part in value]
        if keyword == "properties" and isinstance(value, Mapping):
            return {name: written(part) for name, part in value.items()}
        return value
