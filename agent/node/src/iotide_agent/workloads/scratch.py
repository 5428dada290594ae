"""scratch: makes a file system on a set of scratch disks, mounts its export on clients, or cleans the set."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, WithJsonSchema, model_validator

from iotide_agent.node.scratch_sets import HELPER
from iotide_agent.workloads.base import (
    Counters,
    Group,
    Options,
    OutputRefusedError,
    Parsed,
    Place,
    PlanRefusedError,
    Step,
    StepOutcome,
    Workload,
)
from iotide_wire.base import Name
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Number
from iotide_wire.measured import StepRole
from iotide_wire.scratch import ScratchMake
from iotide_wire.scratch_sets import SetName
from iotide_wire.scratch_vocabulary import MOST_CLIENTS

ORDER: Final = "order.id"
FENCE: Final = "order.fence"
"""Facts of the place of a maker: identity of the make for the helper, which refuses older orders."""
REMOUNTS: Final = "order.remounts"
"""Fact of the place of a maker: JSON list of the commands of agent.toml for the paths of its options."""
MOST_PATHS: Final = 16
_EITHER: Final = {"anyOf": [{"type": "object"}, {"type": "null"}]}
_LOAD: Final = Path(__file__).parent.parent / "loads" / "scratch_set.py"


class ScratchOptions(Options):
    set: SetName = Field(default="", title="Set")
    """Name of the set in the node's scratch.toml."""
    verb: Literal["make", "mount", "clean"] = Field(default="make", title="Operation")
    """make: removes what was there, then makes the file system and mounts it. mount: on a client, mounts its export
    by `remount_command` of agent.toml. clean: only removes.
    """
    make: Annotated[ScratchMake | None, WithJsonSchema(_EITHER | {"title": "File system"})] = None
    """Layout, file system and mount options."""
    clients: Annotated[tuple[Name, ...], Field(max_length=MOST_CLIENTS)] = Field(default=(), title="Clients")
    """Nodes that the file system is exported to by NFS, once it is made."""
    paths: Annotated[tuple[str, ...], Field(max_length=MOST_PATHS)] = Field(default=(), title="Directories")
    """Directories at which a client mounts the export."""

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if (self.make is None) is (self.verb == "make"):
            raise ValueError("give make with the verb make, and only there")
        if self.clients and self.verb != "make":
            raise ValueError("give clients with the verb make only")
        if bool(self.paths) is not (self.verb == "mount"):
            raise ValueError("give paths with the verb mount, and only there")
        return self


class _Record(BaseModel):
    """Record of one operation of the helper; its commands are raw output only."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    verb: Literal["recover", "make", "mount", "export"]
    outcome: Literal["done"]
    commands: tuple[Annotated[dict[str, Any], Field(min_length=1)], ...]


_RECORD: Final = TypeAdapter(_Record)


class ScratchWorkload(Workload[ScratchOptions]):
    name: ClassVar[str] = "scratch"
    title: ClassVar[str] = "scratch: makes and cleans scratch disks"
    description: ClassVar[str] = (
        "Before a stage, makes its layout and file system on a set of scratch disks that root of the node adopted, and "
        "mounts its export on clients; at the end of the campaign, cleans the set."
    )
    revision: ClassVar[int] = 1
    tool: ClassVar[str | None] = None
    needs_python: ClassVar[bool] = True
    step_roles: ClassVar[tuple[StepRole, ...]] = (StepRole.MAKER,)
    metrics: ClassVar[tuple[MetricSpec, ...]] = ()
    bytes_needed: ClassVar[Expression] = Number.of(0)
    bytes_moved: ClassVar[Expression] = Number.of(0)
    options_type = ScratchOptions

    def groups(self, options: ScratchOptions, place: Place) -> list[Group]:
        if place.step_role is not StepRole.MAKER:
            raise PlanRefusedError("scratch is planned by the server only; write the plan's block `scratch`")
        if options.verb == "mount":
            return list(_remounts(options, place))
        packets = _packets(options, {"order": place.facts[ORDER], "fence": place.facts[FENCE]})
        argv = (sys.executable, "-I", "-S", str(_LOAD), str(HELPER), json.dumps(packets))
        made = options.make
        doing = "cleaning" if made is None else f"making {made.layout.layout.text} / {made.fs.type} on"
        step = Step(options.verb, f"{doing} {options.set}", argv, place.target_id, role=StepRole.MAKER, threads=1)
        return [(step,)]

    def read(self, options: ScratchOptions, place: Place, outcome: StepOutcome) -> Parsed:
        """Check that the helper performed each operation. It gives no numbers."""
        if options.verb == "mount":
            return Parsed()
        try:
            records = [_RECORD.validate_json(line) for line in outcome.stdout.splitlines()]
        except ValidationError as error:
            raise OutputRefusedError(outcome.step.name, "a record of the root helper is invalid", str(error)) from error
        done, wanted = [record.verb for record in records], [packet["verb"] for packet in _packets(options, {})]
        if done != wanted:
            raise OutputRefusedError(outcome.step.name, f"the plan was {', '.join(wanted)}", ", ".join(done))
        return Parsed()

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        """Return the finished fraction of an array's synchronisation, the only step that may take hours."""
        lines = output_tail.splitlines()
        try:
            finished, _, total = str(json.loads(lines[-1])["progress"]).partition(" / ")
            return min(1.0, int(finished) / int(total))
        except (IndexError, KeyError, TypeError, ValueError, ZeroDivisionError):
            return None


def _packets(options: ScratchOptions, order: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the requests to the helper. Recovery first removes what a previous order left."""
    recover = {"verb": "recover", "set": options.set}
    if options.make is None:
        return [recover]
    own, made = {"set": options.set, **order}, options.make.model_dump(mode="json")
    mount = {"verb": "mount", **own, "options": made.pop("mount")}
    packets = [recover, {"verb": "make", **own, **made}, mount]
    if options.clients:
        packets.append({"verb": "export", **own, "kind": "nfs", "clients": list(options.clients)})
    return packets


def _remounts(options: ScratchOptions, place: Place) -> Iterator[Group]:
    """Yield the node's own command for each directory, as a step; raise PlanRefusedError without one."""
    commands: list[list[str]] = json.loads(str(place.facts[REMOUNTS]))
    for number, (path, command) in enumerate(zip(options.paths, commands, strict=True), start=1):
        if not command:
            reason = f"agent.toml of this node has no command that mounts {path}; add one to [remount_command]"
            raise PlanRefusedError(reason)
        phase = f"mounting {options.set} at {path}"
        yield (Step(f"mount-{number}", phase, tuple(command), place.target_id, role=StepRole.MAKER, threads=1),)
