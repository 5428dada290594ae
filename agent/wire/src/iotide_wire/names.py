"""Names of options and labels as people read them, with their values. Pages say the same: `lib/options.ts`."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from iotide_wire.units import exact_bytes, exact_rate, format_duration

Titles = Mapping[str, str]
"""The title of each option, by its name in the schema."""

_LARGEST: Final = 1e30
_UNIT: Final = re.compile(r"_(bytes|seconds|bytes_per_second)$")


def option_titles(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the titles that a workload's JSON Schema gives its options."""
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    return {name: title for name, option in properties.items() if isinstance(title := option.get("title"), str)}


def plain_title(name: str) -> str:
    """Return `File size` for `file_size_bytes`, for labels that no schema gives a title: the value has the unit."""
    words = _UNIT.sub("", name).replace("_", " ")
    return words[:1].upper() + words[1:]


def title_of(name: str, titles: Titles) -> str:
    """Return the schema's title of an option, or a plain reading of its name."""
    return titles.get(name) or plain_title(name)


def option_value(name: str, value: object) -> str:
    """Return a value with the unit that its name tells: `256 MiB`, `write + read`, `yes`, `p99.9`."""
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
    if not abs(value) <= _LARGEST:  # NaN, too; a format for such numbers may fail
        return "beyond 1e30"
    if name.endswith("_bytes"):
        return exact_bytes(value)
    if name.endswith("_bytes_per_second"):
        return exact_rate(value)
    if name.endswith("_seconds"):
        return format_duration(value)
    return str(int(value) if value == int(value) else value)


def _text(value: str) -> str:
    """Return a text of several lines as the first and their number: the plan has the rest."""
    first, *rest = value.strip().split("\n")
    return f"{first} \N{HORIZONTAL ELLIPSIS} ({len(rest) + 1} lines)" if rest else value
