"""Plans and schedules from YAML files; each error has its line, its field and a remedy."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from iotide_agent.cli.node_groups import with_groups
from iotide_agent.cli.problems import Problem, RefusedError
from iotide_wire.base import Message, problem_in
from iotide_wire.plan import AdaptiveRepeats, CampaignPlan, PlannedStage, WorkloadChoice
from iotide_wire.schedule import SchedulePlan
from iotide_wire.units import MIB
from iotide_wire.window import Window

MAX_BYTES: Final = 2 * MIB
"""Largest request that the server accepts."""
_FIELD_NAMES: Final = tuple(
    field.alias or name
    for model in (CampaignPlan, AdaptiveRepeats, WorkloadChoice, PlannedStage, Window, SchedulePlan)
    for name, field in model.model_fields.items()
)
_REMEDIES: Final = {
    "missing": "add it",
    "string_pattern_mismatch": "use letters, digits, dot, dash and underscore, starting with a letter or a digit",
    "string_type": "write text; put dates, numbers, yes and no in quotes",
}

_Location = tuple[str | int, ...]
PlanT = TypeVar("PlanT", bound=Message)


class _Loader(yaml.SafeLoader):
    """Reads 22:00 as text; YAML 1.1 would read it as the base-60 number 1320."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, re.compile(f"(?!.*:){pattern.pattern}", pattern.flags) if tag.endswith((":int", ":float")) else pattern)
        for tag, pattern in resolvers
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_plan(path: Path) -> CampaignPlan:
    """Raise RefusedError with all errors of the file."""
    return _read_as(CampaignPlan, path)


def read_schedule(path: Path) -> SchedulePlan:
    return _read_as(SchedulePlan, path)


def _read_as(kind: type[PlanT], path: Path) -> PlanT:
    tree, document = _parse(path, _read(path))
    try:
        return kind.model_validate(with_groups(document))
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
        raise _refused("file_unreadable", f"{path} is not UTF-8 text", "save it as UTF-8") from error
    if len(raw) > MAX_BYTES:
        raise _refused("body_too_large", f"{path} has {len(raw)} bytes", f"keep it at or below {MAX_BYTES} bytes")
    return text


def _parse(path: Path, text: str) -> tuple[yaml.Node, object]:
    """Return the YAML nodes, which have positions, and the values."""
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
        # ValueError: a date that does not exist. RecursionError: thousands of brackets, or an alias inside itself.
        raise _refused("invalid_yaml", f"{path} is not YAML: {error}", "use plain lists and mappings") from error
    if doubles:
        raise RefusedError(doubles)
    if not isinstance(tree, yaml.MappingNode):
        raise _refused(
            "invalid_input",
            f"{path} contains no campaign or schedule",
            "begin with `name: ...` and `cluster: ...`; see examples/",
        )
    return tree, document


def _double_keys(path: Path, node: yaml.Node | None) -> Iterator[Problem]:
    """YAML would silently use the last of two equal keys."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _double_keys(path, item)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                place = _place(path, key.start_mark)
                yield Problem("invalid_input", f'the key "{name}" occurs twice', name, place=place, remedy="keep one")
            seen.add(name)
            yield from _double_keys(path, value)


def _problem(path: Path, tree: yaml.Node, detail: ErrorDetails) -> Problem:
    location = tuple(detail["loc"])
    if location[:1] == ("adaptive",) and _mark(tree, location) == _mark(tree, ()):
        location = ("repeats", *location[1:])  # where the file has them
    unknown, missing = detail["type"] == "extra_forbidden", detail["type"] == "missing"
    return Problem(
        code="invalid_input",
        message="unknown field" if unknown else "missing" if missing else problem_in(detail),
        field=_dotted(location),
        value=None if missing else detail["input"],
        remedy=_suggestion(str(location[-1])) if unknown else _REMEDIES.get(detail["type"]),
        place=_place(path, _mark(tree, location)),
    )


def _suggestion(name: str) -> str:
    close = difflib.get_close_matches(name, _FIELD_NAMES, n=1)
    return f"did you mean {close[0]}?" if close else f"remove it; a plan has {', '.join(CampaignPlan.model_fields)}"


def _mark(node: yaml.Node, location: _Location) -> yaml.Mark:
    """Return the position of the deepest existing part of `location`; of a key rather than its value."""
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
