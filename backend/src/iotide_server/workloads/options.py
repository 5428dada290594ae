"""Options that a person gave, against the JSON Schema that the agents announced; pure."""

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator

from iotide_server.kit.errors import InvalidInputError
from iotide_server.kit.suggest import choose_from
from iotide_wire.options import OptionError, to_base_units
from iotide_wire.references import in_place
from iotide_wire.vocabulary import VocabularyError, Weights, require_few_steps, require_options_schema, require_values

_REMEDIES = {
    "type": "give a value of type {limit}",
    "minimum": "give at least {limit}",
    "exclusiveMinimum": "give more than {limit}",
    "maximum": "give at most {limit}",
    "exclusiveMaximum": "give less than {limit}",
    "multipleOf": "give a multiple of {limit}",
    "enum": "choose one of {limit}",
    "const": "give {limit}",
    "minLength": "give at least {limit} characters",
    "maxLength": "give at most {limit} characters",
    "minItems": "give at least {limit} entries",
    "maxItems": "give at most {limit} entries",
    "contains": "include an entry that matches {limit}",
    "uniqueItems": "give each entry once",
    "pattern": "give a text that matches {limit}",
    "anyOf": "give a value that fits one of {limit}",
    "oneOf": "give a value that fits exactly one of {limit}",
    "required": "give all of {limit}",
    "additionalProperties": "leave out what is not announced",
}
_BY_OPTION = frozenset(
    {
        *("$schema", "$id", "$defs", "$comment", "title", "description", "examples", "default", "deprecated"),
        *("type", "properties", "required", "additionalProperties"),
    }
)
"""Keywords of an object that relate no member to another one."""
_USUAL_REMEDY = "give a value that fits its schema: {keyword} {limit}"


def is_by_option(schema: Mapping[str, Any]) -> bool:
    """Check that the schema says of each option by itself what it may be, and nothing of several together."""
    return all(keyword in _BY_OPTION or keyword.startswith("x-") for keyword in schema)


def complete_options(
    schema: Mapping[str, Any], defaults: Mapping[str, Any], options: Mapping[str, Any], field: str
) -> dict[str, Any]:
    """All options in base units: those given, defaults for the rest.

    Args:
        field: where the options stand in the request, for the error.

    Raises:
        InvalidInputError: an option is unknown, missing, of the wrong type or out of its range; or the schema itself,
            stored by an earlier release, is not one that nodes may announce.
    """
    judge = _judge(schema, field)
    schema = judge.schema
    known = schema.get("properties", {})
    for name, value in options.items():
        if name not in known:
            raise InvalidInputError(
                f"there is no option {name}", field=f"{field}.{name}", value=value, remedy=choose_from(name, known)
            )
    try:
        completed = {**defaults, **to_base_units(schema, options)}
    except OptionError as error:
        raise InvalidInputError(
            f"{error.option}: not a quantity", field=f"{field}.{error.option}", value=error.value, remedy=error.remedy
        ) from error
    for name in schema.get("required", ()):
        if name not in completed:
            raise InvalidInputError(f"{name} is missing", field=f"{field}.{name}", remedy=f"give the option {name}")
    try:
        require_values(completed, field)
        require_few_steps(judge.weights, completed, field)
    except VocabularyError as error:
        raise InvalidInputError(
            f"{field}: {error.problem}", field=field, remedy="give fewer or smaller values"
        ) from error
    failure = best_match(judge.validator.iter_errors(completed))
    if failure is not None:
        raise _refusal(failure, field)
    return completed


@dataclass(frozen=True, slots=True)
class _Judge:
    """A schema without references, and what judges options by it; many configurations are judged by the same."""

    schema: Mapping[str, Any]
    validator: Validator
    weights: Weights


def _judge(schema: Mapping[str, Any], field: str) -> _Judge:
    try:
        return _prepared(json.dumps(schema))
    except VocabularyError as error:
        raise InvalidInputError(
            f"the schema that its nodes announced cannot be used: {error.path}: {error.problem}",
            field=field,
            remedy=f"leave this workload out until its nodes announce another: {error.remedy}",
        ) from error


@lru_cache(maxsize=256)
def _prepared(schema_json: str) -> _Judge:
    """Return the judge of a stored schema.

    Raises:
        VocabularyError: it cannot be used.
    """
    schema = in_place(json.loads(schema_json))
    require_options_schema(schema)
    return _Judge(schema, _BoundedValidator(schema), Weights.of(schema))


def _unique_items(
    _validator: Validator, is_unique: object, instance: object, _schema: object
) -> Iterator[ValidationError]:
    """Judge `uniqueItems` in one pass; jsonschema compares each pair where a list mixes types."""
    if is_unique and isinstance(instance, list) and len(set(map(_comparable, instance))) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _comparable(value: Any) -> Hashable:  # noqa: ANN401 - JSON
    """Return what is equal for equal JSON: 1 is 1.0, and is not true."""
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, list):
        return tuple(map(_comparable, value))
    if isinstance(value, Mapping):
        return frozenset((name, _comparable(member)) for name, member in value.items())
    return cast("Hashable", value)


_BoundedValidator: Final = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"uniqueItems": _unique_items}
)


def _refusal(failure: ValidationError, field: str) -> InvalidInputError:
    path = field + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in failure.absolute_path)
    limit: Any = failure.validator_value
    keyword = str(failure.validator)
    shown = ", ".join(map(str, limit)) if isinstance(limit, list) else limit
    return InvalidInputError(
        f"{path.rpartition('.')[2]}: {failure.message}",
        field=path,
        value=failure.instance,
        remedy=_REMEDIES.get(keyword, _USUAL_REMEDY).format(keyword=keyword, limit=shown),
    )
