"""Names and values of options and labels for users. Pages use the same: `lib/options.ts`."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from iotide_wire.units import exact_bytes, exact_rate, format_duration

Titles = Mapping[str, str]
"""Titles of options, by their names in the schema."""

_LARGEST: Final = 1e30
_UNIT: Final = re.compile(r"_(bytes|seconds|bytes_per_second)$")


def option_titles(schema: Mapping[str, Any]) -> dict[str, str]:
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    return {name: title for name, option in properties.items() if isinstance(title := option.get("title"), str)}


def plain_title(name: str) -> str:
    """Return a title without the unit, for labels without a title: `File size` for `file_size_bytes`."""
    words = _UNIT.sub("", name).replace("_", " ")
    return words[:1].upper() + words[1:]


def title_of(name: str, titles: Titles) -> str:
    return titles.get(name) or plain_title(name)


def option_value(name: str, value: object) -> str:
    """Return a value with the unit given by its name: `256 MiB`, `write + read`, `yes`, `p99.9`."""
    if isinstance(value, list | tuple):
        return " + ".join(option_value(name, item) for item in value)
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return _text(value.replace("_", ".") if name == "percentile" else value)
    return _number(name, value) if isinstance(value, int | float) else json.dumps(value)


def described(values: Mapping[str, object], titles: Titles, names: Iterable[str] | None = None) -> str:
    """Return the named values in one line: `File size 256 MiB, Jobs 4`."""
    shown = values if names is None else [name for name in names if name in values]
    return ", ".join(f"{title_of(name, titles)} {option_value(name, values[name])}" for name in shown)


def _number(name: str, value: float) -> str:
    if not abs(value) <= _LARGEST:  # NaN too; its format may fail
        return "beyond 1e30"
    if name.endswith("_bytes"):
        return exact_bytes(value)
    if name.endswith("_bytes_per_second"):
        return exact_rate(value)
    if name.endswith("_seconds"):
        return format_duration(value)
    return str(int(value) if value == int(value) else value)


def _text(value: str) -> str:
    first, *rest = value.strip().split("\n")
    return f"{first} \N{HORIZONTAL ELLIPSIS} ({len(rest) + 1} lines)" if rest else value
