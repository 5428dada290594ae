"""Reads a campaign or a schedule from a YAML file; what is wrong is named with its line, its field and the remedy."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from iotide_agent.cli.problems import Problem, RefusedError
from iotide_wire.base import Message
from iotide_wire.plan import CampaignPlan, PlannedStage, WorkloadChoice
from iotide_wire.schedule import SchedulePlan
from iotide_wire.units import MIB
from iotide_wire.window import Window

MAX_BYTES: Final = 2 * MIB
"""What the server takes in one request."""
_FIELD_NAMES: Final = tuple(
    field.alias or name
    for model in (CampaignPlan, WorkloadChoice, PlannedStage, Window, SchedulePlan)
    for name, field in model.model_fields.items()
)
_REMEDIES: Final = {
    "missing": "add it",
    "string_pattern_mismatch": "use letters, digits, dot, dash and underscore, starting with a letter or a digit",
    "string_type": "write text, in quotes where YAML would read a date, a number or yes and no",
}

_Location = tuple[str | int, ...]
PlanT = TypeVar("PlanT", bound=Message)


class _Loader(yaml.SafeLoader):
    """Reads 22:00 as the text that it is; the YAML of 2005 makes 1320 of it, since it counts to sixty."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, re.compile(f"(?!.*:){pattern.pattern}", pattern.flags) if tag.endswith((":int", ":float")) else pattern)
        for tag, pattern in resolvers
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_plan(path: Path) -> CampaignPlan:
    """Return the campaign in a YAML file; raise RefusedError with all that is wrong with it."""
    return _read_as(CampaignPlan, path)


def read_schedule(path: Path) -> SchedulePlan:
    """Return the schedule in a YAML file, its plan inside; raise RefusedError as `read_plan`."""
    return _read_as(SchedulePlan, path)


def _read_as(kind: type[PlanT], path: Path) -> PlanT:
    tree, document = _parse(path, _read(path))
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        raise RefusedError([_problem(path, tree, detail) for detail in error.errors()]) from error


def _read(path: Path) -> str:
    try:
        raw = path.read_bytes()
        text = raw.decode()
    except OSError as error:
        raise _refused(
            "file_unreadable", f"{path} cannot be read: {error.strerror}", "name an existing file"
        ) from error
    except UnicodeDecodeError as error:
        raise _refused("file_unreadable", f"{path} is no text in UTF-8", "save it as UTF-8") from error
    if len(raw) > MAX_BYTES:
        raise _refused("body_too_large", f"{path} has {len(raw)} bytes", f"keep it below {MAX_BYTES} bytes")
    return text


def _parse(path: Path, text: str) -> tuple[yaml.Node, object]:
    """The YAML as nodes that know their places, and as values."""
    try:
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        doubles = list(_double_keys(path, tree))
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader, see there
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _place(path, mark) if mark else str(path)
        message = f"not YAML: {error.problem or error.context}"
        raise RefusedError([Problem("invalid_yaml", message, place=place, remedy="correct the line")]) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # ValueError: a date that no calendar has. RecursionError: thousands of brackets, or an alias inside itself.
        raise _refused("invalid_yaml", f"{path} is not YAML: {error}", "write plain lists and mappings") from error
    if doubles:
        raise RefusedError(doubles)
    if not isinstance(tree, yaml.MappingNode):
        raise _refused("invalid_input", f"{path} holds no campaign", "write `name: ...`, `cluster: ...` and so on")
    return tree, document


def _double_keys(path: Path, node: yaml.Node | None) -> Iterator[Problem]:
    """Keys that stand twice in one mapping, where YAML would silently take the last."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _double_keys(path, item)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                place = _place(path, key.start_mark)
                yield Problem("invalid_input", f"{name} stands twice", name, place=place, remedy="keep one")
            seen.add(name)
            yield from _double_keys(path, value)


def _problem(path: Path, tree: yaml.Node, detail: ErrorDetails) -> Problem:
    location = tuple(detail["loc"])
    unknown, missing = detail["type"] == "extra_forbidden", detail["type"] == "missing"
    return Problem(
        code="invalid_input",
        message="no such field" if unknown else "missing" if missing else detail["msg"].removeprefix("Value error, "),
        field=_dotted(location),
        value=None if missing else detail["input"],
        remedy=_suggestion(str(location[-1])) if unknown else _REMEDIES.get(detail["type"]),
        place=_place(path, _mark(tree, location)),
    )


def _suggestion(name: str) -> str:
    close = difflib.get_close_matches(name, _FIELD_NAMES, n=1)
    return f"did you mean {close[0]}?" if close else f"remove it; a plan has {', '.join(CampaignPlan.model_fields)}"


def _mark(node: yaml.Node, location: _Location) -> yaml.Mark:
    """Where the deepest part of `location` that the file has begins; a key rather than its value."""
    mark = node.start_mark
    for part in location:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == str(part)), None)
            if found is None:
                break
            mark, node = found[0].start_mark, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            mark = node.start_mark
        else:
            break
    return mark


def _dotted(location: _Location) -> str:
    dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return dotted.removeprefix(".")


def _place(path: Path, mark: yaml.Mark) -> str:
    return f"{path}:{mark.line + 1}:{mark.column + 1}"


def _refused(code: str, message: str, remedy: str) -> RefusedError:
    return RefusedError([Problem(code, message, remedy=remedy)])
