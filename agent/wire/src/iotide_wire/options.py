"""Conversion of options with units into base units by their JSON Schema, for all clients."""

from collections.abc import Mapping
from typing import Any

from iotide_wire.units import UnitError, parse_bytes, parse_rate, parse_seconds


class OptionError(ValueError):
    """An option that cannot be read.

    Attributes:
        remedy: what would be accepted.
    """

    def __init__(self, option: str, value: object, remedy: str) -> None:
        super().__init__(f"option {option} = {value!r}: {remedy}")
        self.option = option
        self.value = value
        self.remedy = remedy


def to_base_units(schema: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with texts such as `64 MiB` as numbers, if the schema names a unit (`x-unit`).

    Values without a unit and unknown names stay for the validator.

    Raises:
        OptionError: a text is not a number with a unit.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    return {name: _to_base_unit(name, properties.get(name, {}), value) for name, value in options.items()}


def _to_base_unit(name: str, specification: Mapping[str, Any], value: object) -> object:
    if isinstance(value, list):
        items: Mapping[str, Any] = next((kind["items"] for kind in _kinds(specification) if "items" in kind), {})
        return [_to_base_unit(name, items, item) for item in value]
    if not isinstance(value, str) or _is_named(specification, value):
        return value
    unit = next((kind["x-unit"] for kind in _kinds(specification) if "x-unit" in kind), None)
    try:
        match unit:
            case "bytes":
                return parse_bytes(value)
            case "bytes_per_second":
                return parse_rate(value)
            case "seconds":
                return parse_seconds(value)
            case _:
                return value
    except UnitError as error:
        raise OptionError(name, value, str(error)) from error


def _is_named(specification: Mapping[str, Any], value: str) -> bool:
    """Return true if the schema names this text, as `auto` next to a size."""
    return any(value == kind.get("const") or value in kind.get("enum", ()) for kind in _kinds(specification))


def _kinds(specification: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [specification, *specification.get("anyOf", ()), *specification.get("oneOf", ())]
