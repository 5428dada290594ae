"""Registry of the agent's own and plug-in workloads, and their announcements to the server."""

import platform
import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from pydantic import ValidationError

from iotide_agent.node.own_files import why_exchangeable
from iotide_agent.plug_ins import with_plug_ins
from iotide_agent.probes.reader import CommandWant, Reader, Unavailable
from iotide_agent.runner import RUNNER
from iotide_agent.workloads.base import Workload
from iotide_agent.workloads.bonnie import BonnieWorkload
from iotide_agent.workloads.command import CommandWorkload
from iotide_agent.workloads.create import CreateWorkload
from iotide_agent.workloads.dd import DdWorkload
from iotide_agent.workloads.fill import FillWorkload
from iotide_agent.workloads.fio import FioWorkload
from iotide_agent.workloads.io500 import Io500Workload
from iotide_agent.workloads.ior import IorWorkload
from iotide_agent.workloads.iozone import IozoneWorkload
from iotide_agent.workloads.mdtest import MdtestWorkload
from iotide_agent.workloads.rawread import RawreadWorkload
from iotide_agent.workloads.releases import why_unsupported
from iotide_agent.workloads.scratch import ScratchWorkload
from iotide_agent.workloads.stream import StreamWorkload
from iotide_wire.catalogue import WorkloadAnnouncement

NodeSettings = Mapping[str, Mapping[str, Any]]

_OWN: Final[tuple[type[Workload[Any]], ...]] = (
    DdWorkload,
    FillWorkload,
    CreateWorkload,
    FioWorkload,
    IozoneWorkload,
    BonnieWorkload,
    IorWorkload,
    MdtestWorkload,
    Io500Workload,
    StreamWorkload,
    RawreadWorkload,
    CommandWorkload,
)
_PREPARING: Final = ScratchWorkload()
"""Prepares the stages of a campaign, and is no benchmark: only the server plans it."""


class UnknownWorkloadError(LookupError):
    def __init__(self, name: str) -> None:
        super().__init__(f"workload {name!r} is not installed here; this agent has {', '.join(all_workloads())}")


@cache
def all_workloads() -> Mapping[str, Workload[Any]]:
    """Log and leave out broken plug-ins."""
    return with_plug_ins("workload", Workload, _OWN, lambda made: _announced(made, Unavailable("not checked yet")))


def workload(name: str, settings: NodeSettings) -> Workload[Any]:
    found = _PREPARING if name == _PREPARING.name else all_workloads().get(name)
    if found is None:
        raise UnknownWorkloadError(name)
    return type(found)(settings[name]) if name in settings else found


def announced_preparing() -> WorkloadAnnouncement:
    """Return the announcement of the workload that makes file systems on scratch disks."""
    return _announced(_PREPARING, platform.python_version())


def announcements(reader: Reader, settings: NodeSettings, run_as: tuple[int, ...] = ()) -> list[WorkloadAnnouncement]:
    found = []
    for name, unset in all_workloads().items():
        try:
            found.append(announcement(workload(name, settings), reader, run_as))
        except ValidationError as error:
            first = error.errors()[0]
            setting = ".".join(map(str, ("workloads", name, *first["loc"])))
            because = f"agent.toml: {setting} = {first['input']!r}: {first['msg']}"
            unusable = {"available": False, "unavailable_because": because[:4000], "tool_version": None}
            found.append(announcement(unset, reader, run_as).model_copy(update=unusable))
    return found


def announcement(found: Workload[Any], reader: Reader, run_as: tuple[int, ...] = ()) -> WorkloadAnnouncement:
    return _announced(found, _tool_version(found, reader, run_as))


def _announced(found: Workload[Any], version: str | Unavailable) -> WorkloadAnnouncement:
    absent = isinstance(version, Unavailable)
    return WorkloadAnnouncement(
        name=found.name,
        revision=found.revision,
        title=found.title,
        description=found.description,
        options_schema=_in_place(found.options_schema()),
        option_defaults=found.options_type.model_construct().model_dump(mode="json"),
        metrics=found.metric_specs(),
        bytes_needed=found.bytes_needed,
        bytes_moved=found.bytes_moved,
        run_seconds=found.run_seconds,
        breaks_series=found.breaks_series,
        step_roles=found.step_roles,
        own_programs=found.own_programs,
        tool=found.tool or "Python",
        tool_version=None if isinstance(version, Unavailable) else version,
        available=not absent,
        unavailable_because=version.because if isinstance(version, Unavailable) else None,
    )


def _in_place(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace references by definitions, because servers do not follow them. Self-references stay."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})

    def resolved(part: Any, outer: frozenset[str] = frozenset()) -> Any:  # noqa: ANN401 - JSON
        if isinstance(part, list):
            return [resolved(member, outer) for member in part]
        if not isinstance(part, dict):
            return part
        reference = str(part.get("$ref"))
        name = reference.removeprefix("#/$defs/")
        if name in definitions and name not in outer and reference != name:
            others = {keyword: value for keyword, value in part.items() if keyword != "$ref"}
            return resolved({**definitions[name], **others}, outer | {name})
        return {keyword: resolved(value, outer) for keyword, value in part.items()}

    whole = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    found: dict[str, Any] = resolved(whole)
    return found


def _tool_version(found: Workload[Any], reader: Reader, run_as: tuple[int, ...]) -> str | Unavailable:
    lacking = found.unavailable_because()
    if lacking is not None:
        return Unavailable(lacking)
    exchangeable = why_exchangeable(found.settings.outside_paths(), reader)
    if exchangeable:
        return Unavailable(next(iter(exchangeable.values())))
    unstartable = _why_not_started(found, reader, run_as) if run_as else None
    if unstartable is not None:
        return Unavailable(unstartable)
    if found.tool is None:
        return platform.python_version()
    answers: list[str] = []
    for argv in found.version_commands():
        printed = reader.read(CommandWant(argv, found.package, found.version_in_usage, run_as))
        if isinstance(printed, Unavailable):
            return printed
        answers.append(printed)
    match = re.search(found.version_pattern, answers[0])
    version = match[match.re.groups and 1].strip()[:200] if match else "unknown"
    unsupported = why_unsupported(version, found.supported, found.package)
    return version if unsupported is None else Unavailable(unsupported)


def _why_not_started(found: Workload[Any], reader: Reader, run_as: tuple[int, ...]) -> str | None:
    """Return why the user of the loads cannot start what the version check does not cover."""
    if found.needs_python:
        # One test covers all loads: they share interpreter and package.
        argv = (sys.executable, "-I", "-S", str(RUNNER), "--walls", "", "/")
        printed = reader.read(CommandWant(argv, "python3", run_as=run_as))
        if isinstance(printed, Unavailable):
            return f"{printed.because}, or install the agent where that user may read it (UV_TOOL_DIR=/opt/uv/tools)"
    for program in found.settings.outside_programs():
        if isinstance(reader.read(CommandWant(("test", "-x", program), "coreutils", run_as=run_as)), Unavailable):
            return (
                f"{program} cannot be started by user {run_as[0]}, who runs the loads; make it executable for that user"
            )
    return None
