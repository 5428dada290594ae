"""Check options against the JSON Schema that agents announced. Pure functions."""

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
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
    "uniqueItems": "list each entry once",
    "pattern": "give a text that matches {limit}",
    "anyOf": "give a value that fits one of {limit}",
    "oneOf": "give a value that fits exactly one of {limit}",
    "required": "give all of {limit}",
    "additionalProperties": "remove what is not announced",
}
_RELATING: Final = (("if", "then", "else"), ("not",), ("anyOf",), ("oneOf",))
"""Keywords that relate members of an object; the keywords of one entry form one rule."""
MOST_SWEPT_STEPS: Final = 5_000_000
"""Limit for schema parts x value parts, over all values of a sweep and related combinations: some seconds."""
_USUAL_REMEDY = "give a value that fits its schema: {keyword} {limit}"


def complete_options(
    schema: Mapping[str, Any], defaults: Mapping[str, Any], options: Mapping[str, Any], field: str
) -> dict[str, Any]:
    """Return all options in base units; raise InvalidInputError."""
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


def complete_sweep(
    schema: Mapping[str, Any],
    defaults: Mapping[str, Any],
    options: Mapping[str, Any],
    sweep: Mapping[str, Sequence[Any]],
    field: str,
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return all options with the first value of each swept one, and all swept values, in base units.

    The last swept option changes fastest. Values are checked one by one, combinations only for options that a rule
    relates. Raise InvalidInputError for the first invalid one, or too many values.
    """
    first = {**options, **{name: values[0] for name, values in sweep.items()}}
    completed = complete_options(schema, defaults, first, field)
    judge = _judge(schema, field)
    _require_few_swept_steps(judge, completed, sweep, field)
    swept: dict[str, list[Any]] = {name: [completed[name]] for name in sweep}

    def require_relations() -> None:
        at = _first_unrelated(judge, completed, swept)
        if at is not None:
            chosen = {name: values[place] for (name, values), place in zip(sweep.items(), at, strict=True)}
            complete_options(schema, defaults, {**first, **chosen}, field)

    try:
        for name in reversed(list(sweep)):
            for value in sweep[name][1:]:
                swept[name].append(complete_options(schema, defaults, {**first, name: value}, field)[name])
    except InvalidInputError:
        require_relations()
        raise
    require_relations()
    return completed, swept


def _require_few_swept_steps(
    judge: "_Judge", completed: Mapping[str, Any], sweep: Mapping[str, Sequence[Any]], field: str
) -> None:
    """Reject sweeps that take too long to check, and name the costliest options."""
    all_names = judge.weights.steps(completed)
    costs: dict[tuple[str, ...], int] = {
        tuple(sweep): sum(
            all_names + judge.weights.steps({name: value}) for name, values in sweep.items() for value in values[1:]
        )
    }
    for relation in judge.relations:
        names = tuple(relation.among(sweep))
        if len(names) > 1:
            # A rule costs the same for a value under any option.
            widest = sum(max(relation.weights.steps({name: value}) for value in sweep[name]) for name in names)
            costs[names] = prod(len(sweep[name]) for name in names) * (
                relation.weights.steps(relation.read(completed)) + widest
            ) + costs.get(names, 0)
    steps = sum(costs.values())
    if steps > MOST_SWEPT_STEPS:
        worst, _ = max(costs.items(), key=lambda cost: cost[1])
        blamed = ", ".join(worst)
        raise InvalidInputError(
            f"{field}: checking the values of {blamed} takes {steps:,} steps; at most {MOST_SWEPT_STEPS:,} are allowed",
            field=field,
            value=steps,
            remedy=f"give fewer values of {blamed}, or submit several campaigns",
        )


def _first_unrelated(
    judge: "_Judge", completed: Mapping[str, Any], swept: Mapping[str, Sequence[Any]]
) -> tuple[int, ...] | None:
    """Return the first rejected combination as indexes of the swept values."""
    refused: list[tuple[int, ...]] = []
    for relation in judge.relations:
        names = relation.among(swept)
        own = relation.read(completed)
        for places in product(*(range(len(swept[name])) for name in names)):
            at = dict(zip(names, places, strict=True))
            if not relation.validator.is_valid({**own, **{name: swept[name][place] for name, place in at.items()}}):
                refused.append(tuple(at.get(name, 0) for name in swept))
                break
    return min(refused, default=None)


@dataclass(frozen=True, slots=True)
class _Judge:
    schema: Mapping[str, Any]
    validator: Validator
    weights: Weights
    relations: Sequence["_Relation"]


@dataclass(frozen=True, slots=True)
class _Relation:
    names: frozenset[str] | None  # None: any
    validator: Validator
    weights: Weights

    @classmethod
    def all_of(cls, schema: Mapping[str, Any]) -> list["_Relation"]:
        rules = [{word: schema[word] for word in words if word in schema} for words in _RELATING]
        return [cls(_names_in(rule), _BoundedValidator(rule), Weights.of(rule)) for rule in rules if rule]

    def among(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if self.names is None or name in self.names]

    def read(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {name: options[name] for name in self.among(options)}


def _names_in(rule: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the members that a rule reads; None if it may read any."""
    if "additionalProperties" in rule:
        return None
    parts = [rule[word] for word in ("if", "then", "else", "not") if word in rule]
    parts += [part for word in ("anyOf", "oneOf") for part in rule.get(word, ())]
    found = {*rule.get("properties", ()), *rule.get("required", ())}
    for names in map(_names_in, parts):
        if names is None:
            return None
        found |= names
    return frozenset(found)


def _judge(schema: Mapping[str, Any], field: str) -> _Judge:
    try:
        return _prepared(json.dumps(schema))
    except VocabularyError as error:
        raise InvalidInputError(
            f"the schema that its nodes announced cannot be used: {error.path}: {error.problem}",
            field=field,
            remedy=f"do not use this workload until its nodes announce another schema: {error.remedy}",
        ) from error


@lru_cache(maxsize=256)
def _prepared(schema_json: str) -> _Judge:
    """Raise VocabularyError."""
    schema = in_place(json.loads(schema_json))
    require_options_schema(schema)
    return _Judge(schema, _BoundedValidator(schema), Weights.of(schema), _Relation.all_of(schema))


def _unique_items(
    _validator: Validator, is_unique: object, instance: object, _schema: object
) -> Iterator[ValidationError]:
    """Check `uniqueItems` in one pass; jsonschema compares all pairs in a list of mixed types."""
    if is_unique and isinstance(instance, list) and len(set(map(_comparable, instance))) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _comparable(value: Any) -> Hashable:  # noqa: ANN401 - JSON
    """Return equal keys for equal JSON: 1 equals 1.0, but not true."""
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
