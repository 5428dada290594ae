"""Keywords that an options schema may use, and limits for announcements.

A server runs schemas that nodes announce, so it accepts only those with bounded work. Without references, and with
patterns of iotide only, each part of a schema meets each part of a value at most once.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from iotide_wire.catalogue import WorkloadAnnouncement
from iotide_wire.expressions import node_count

MOST_PARTS: Final = 4_000
"""Maximum members of all lists and objects of a schema together."""
MOST_CHARACTERS: Final = 32 * 1024
MOST_DEPTH: Final = 16
"""Maximum nesting of lists and objects; a list of sizes or `auto` needs 9."""
MOST_ANNOUNCED_PARTS: Final = 20_000
MOST_ANNOUNCED_CHARACTERS: Final = 128 * 1024
"""Of a whole announcement; iozone's has 20,000."""
MOST_ANNOUNCED_DEPTH: Final = 100

MOST_NODES: Final = 400
"""Maximum size of an announced expression; iozone's largest has 308."""

MOST_VALUES: Final = 1_000
"""Maximum number of values in the options of one configuration, and in their defaults."""
MOST_OPTIONS: Final = 200
MOST_CHOICES: Final = 1_000
MOST_ALTERNATIVES: Final = 8
MOST_TEXT: Final = 4_000
LARGEST_NUMBER: Final = 1e300
MOST_STEPS: Final = 100_000
"""Maximum of schema parts times value parts; the longest list of a built-in workload needs 20,000."""
CHARACTERS_OF_A_PART: Final = 100
"""A longer text counts as several parts, because each error quotes it."""

PATTERNS: Final = frozenset({r"^$|\[[^\]]+\]", r"^(/?[^/\s.][^/\s]*(/[^/\s.][^/\s]*)*)?$"})
"""Patterns of fio's job file and rawread's path. Others could run forever."""
FORMATS: Final = frozenset({"date", "date-time", "duration", "ipv4", "ipv6", "path", "time", "uri", "uuid"})
TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
UNITS: Final = frozenset({"bytes", "bytes_per_second", "seconds"})

_REMEDIES: Final = {
    "$ref": "write the definition where it is used",
    "$defs": "write each definition where it is used",
    "allOf": "write its rules next to one another",
    "pattern": "remove it, and check the text in the workload's options class",
}
_USUAL_REMEDY: Final = "remove it; docs/plug-ins lists the keywords"
_SHOWN_CHARACTERS: Final = 80

Rule = tuple[Callable[[Any], bool], str]


class VocabularyError(ValueError):
    """An announcement that servers reject, with its path there, such as `options_schema.properties.size.pattern`."""

    def __init__(self, path: str, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}; {remedy}")
        self.path = path
        self.problem = problem
        self.remedy = remedy


def require_vocabulary(announced: WorkloadAnnouncement) -> None:
    """Check that a server can use the announcement of a workload; raise VocabularyError."""
    texts = announced.model_dump(exclude={"options_schema", "option_defaults"})
    _require_plain(texts, "announcement", MOST_ANNOUNCED_PARTS, MOST_ANNOUNCED_CHARACTERS, MOST_ANNOUNCED_DEPTH)
    for name in ("bytes_needed", "bytes_moved", "run_seconds", "own_programs"):
        if node_count(getattr(announced, name)) > MOST_NODES:
            problem = f"more than {MOST_NODES} numbers, names and operations"
            raise VocabularyError(name, problem, "use fewer")
    require_values(announced.option_defaults, "option_defaults")
    require_options_schema(announced.options_schema)
    require_few_steps(Weights.of(announced.options_schema), announced.option_defaults, "option_defaults")


@dataclass(frozen=True, slots=True)
class Weights:
    """Counts of schema parts that judge values: of each option's own schema, and of rules for several options."""

    by_option: Mapping[str, int]
    together: int

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> "Weights":
        rules = (*OF_ONE, *OF_SEVERAL, "additionalProperties")
        by_option = {name: _weight(part) for name, part in schema.get("properties", {}).items()}
        return cls(by_option, sum(_weight(schema[keyword]) for keyword in rules if keyword in schema))

    def steps(self, options: Mapping[str, Any]) -> int:
        return sum(_weight(value) * (self.by_option.get(name, 0) + self.together) for name, value in options.items())


def require_few_steps(weights: Weights, options: Mapping[str, Any], path: str) -> None:
    """Check that options are judged within a second and rejected within 100 MB of text; raise VocabularyError."""
    if weights.steps(options) > MOST_STEPS:
        problem = f"parts of the schema times parts of the values are more than {MOST_STEPS:,}"
        raise VocabularyError(path, problem, "give fewer values, or offer fewer alternatives for each")


def _weight(value: object) -> int:
    parts = 0
    waiting: list[object] = [value]
    while waiting:
        part = waiting.pop()
        parts += 1
        if isinstance(part, str):
            parts += len(part) // CHARACTERS_OF_A_PART
        elif isinstance(part, Mapping):
            waiting += part.values()
            parts += sum(len(name) for name in part) // CHARACTERS_OF_A_PART
        elif isinstance(part, list | tuple):
            waiting += part
    return parts


def require_values(options: Mapping[str, Any], path: str) -> None:
    _require_plain(options, path, MOST_VALUES, MOST_ANNOUNCED_CHARACTERS, MOST_DEPTH)


def require_options_schema(schema: Mapping[str, Any]) -> None:
    """Check an options schema, in time that grows with `MOST_PARTS` at most; raise VocabularyError."""
    _require_plain(schema, "options_schema", MOST_PARTS, MOST_CHARACTERS, MOST_DEPTH)
    if schema.get("type") != "object":
        raise VocabularyError("options_schema", "not the schema of an object", 'start it with "type": "object"')
    waiting: list[tuple[str, Any]] = [("options_schema", schema)]
    while waiting:
        path, part = waiting.pop()
        if not isinstance(part, Mapping):
            raise VocabularyError(path, f"{_shown(part)} is not a schema", "write an object of keywords")
        for keyword, value in part.items():
            inner = f"{path}.{_printable(keyword)}"
            _require_rule(inner, keyword, value)
            waiting += _schemas(inner, keyword, value)


def _require_plain(value: object, path: str, most_parts: int, most_characters: int, most_depth: int) -> None:
    parts = characters = 0
    waiting: list[tuple[int, object]] = [(1, value)]
    while waiting:
        depth, part = waiting.pop()
        members: list[Any] = []
        if isinstance(part, str):
            characters += len(part)
            if "\0" in part or not _is_encodable(part):
                raise VocabularyError(path, f"{_shown(part)} has a NUL character or a lone surrogate", "remove it")
        elif isinstance(part, Mapping):
            members = [*part, *part.values()]
            parts += len(part)
        elif isinstance(part, list | tuple):
            members = list(part)
            parts += len(part)
        elif isinstance(part, int | float) and not _is_number(part) and not isinstance(part, bool):
            raise VocabularyError(path, "a number beyond 1e300", "give a smaller one")
        for size, most, words in (
            (parts, most_parts, "parts"),
            (characters, most_characters, "characters"),
            (depth, most_depth, "levels of lists and objects"),
        ):
            if size > most:
                raise VocabularyError(path, f"more than {most:,} {words}", "offer fewer options or choices")
        waiting += ((depth + 1, member) for member in members)


def _is_encodable(text: str) -> bool:
    """Return true if UTF-8 can hold the text; JSON may contain half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _require_rule(path: str, keyword: str, value: object) -> None:
    if keyword not in _RULES:
        raise VocabularyError(
            path, f"{_shown(value)} is given, but {_printable(keyword)} is not in the vocabulary", _remedy(keyword)
        )
    holds, wanted = _RULES[keyword]
    if not holds(value):
        remedy = _remedy(keyword) if keyword == "pattern" else f"give {wanted}"
        raise VocabularyError(path, f"{_shown(value)} is not {wanted}", remedy)


def _schemas(path: str, keyword: str, value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - JSON
    if keyword in OF_ONE or (keyword == "additionalProperties" and not isinstance(value, bool)):
        yield path, value
    elif keyword in OF_SEVERAL:
        yield from ((f"{path}[{place}]", part) for place, part in enumerate(value))
    elif keyword == "properties":
        yield from ((f"{path}.{_printable(name)}", part) for name, part in value.items())


def _remedy(keyword: str) -> str:
    return _REMEDIES.get(keyword, _USUAL_REMEDY)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]} ..."


def _printable(name: str) -> str:
    return re.sub(r"[^\w$.-]", "?", name[:_SHOWN_CHARACTERS], flags=re.ASCII)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | bool) or _is_number(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MOST_TEXT


def _is_list(value: object, most: int, holds: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and 0 < len(value) <= most and all(map(holds, value))


def _one_of(known: frozenset[str]) -> Rule:
    return lambda value: isinstance(value, str) and value in known, f"one of {', '.join(sorted(known))}"


def _list_of(most: int, holds: Callable[[Any], bool], words: str) -> Rule:
    return lambda value: _is_list(value, most, holds), f"a list of 1 to {most:,} {words}"


def _is_any(_value: object) -> bool:
    return True


_NUMBER: Final[Rule] = (_is_number, "a number")
_COUNT: Final[Rule] = (_is_count, "a whole number of at least 0")
_TEXT: Final[Rule] = (_is_text, f"a text of at most {MOST_TEXT:,} characters")
_SWITCH: Final[Rule] = (lambda value: isinstance(value, bool), "true or false")
_SCHEMA: Final[Rule] = (lambda value: isinstance(value, Mapping), "a schema")
OF_ONE: Final = ("items", "contains", "not", "if", "then", "else")
OF_SEVERAL: Final = ("anyOf", "oneOf", "prefixItems")
_RULES: Final[Mapping[str, Rule]] = {
    "type": _one_of(TYPES),
    "title": _TEXT,
    "description": _TEXT,
    "default": (_is_any, "a value"),
    "examples": _list_of(MOST_CHOICES, _is_any, "values"),
    "deprecated": _SWITCH,
    "enum": _list_of(MOST_CHOICES, _is_scalar, "texts, numbers, true, false or null"),
    "const": (_is_scalar, "a text, a number, true, false or null"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    "multipleOf": (lambda value: _is_number(value) and value > 0, "a number above 0"),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _COUNT),
    "format": _one_of(FORMATS),
    "pattern": (lambda value: isinstance(value, str) and value in PATTERNS, "a pattern of iotide"),
    "uniqueItems": _SWITCH,
    "properties": (
        lambda value: isinstance(value, Mapping) and len(value) <= MOST_OPTIONS,
        f"an object of at most {MOST_OPTIONS} schemas",
    ),
    "required": (
        lambda value: value == [] or _is_list(value, MOST_OPTIONS, _is_text),
        f"a list of at most {MOST_OPTIONS} names",
    ),
    "additionalProperties": (lambda value: isinstance(value, bool | Mapping), "true, false or a schema"),
    **dict.fromkeys(OF_ONE, _SCHEMA),
    **dict.fromkeys(OF_SEVERAL, _list_of(MOST_ALTERNATIVES, _is_any, "schemas")),
    "x-unit": _one_of(UNITS),
    "x-multiline": _SWITCH,
}
"""Rule for each keyword; other keywords are rejected."""
