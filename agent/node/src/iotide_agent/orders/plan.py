"""Directories and steps of a run, planned once the runner made the directories, and stored until its end."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from iotide_agent.core.spool import OrderFiles
from iotide_agent.node.inventory import Inventory
from iotide_agent.probes.mounts import lasting_options
from iotide_agent.runner.card import Go, StepCard
from iotide_agent.runner.files import replace_file
from iotide_agent.runner.mounts import effective_options
from iotide_agent.workloads.base import Before, Group, Options, Place, PlanRefusedError, Step, Workload
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_wire.endpoint import DATA_ADDRESS, Endpoint
from iotide_wire.facts import Facts
from iotide_wire.measured import StepRole
from iotide_wire.plan import CachePolicy


@dataclass(frozen=True, slots=True)
class Plan:
    """Groups run in sequence; the steps of a group in parallel."""

    places: tuple[Place, ...]
    groups: tuple[Group, ...]

    def place_of(self, step: Step) -> Place:
        return next(place for place in self.places if place.target_id == step.target_id)

    def own_part(self, step: Step) -> Step:
        """Return the step with the bytes that this node moves, of one program over several nodes its share."""
        layout = next((place.layout for place in self.places if place.target_id == step.target_id), None)
        if layout is None or step.bytes_moved is None:
            return step
        return replace(step, bytes_moved=step.bytes_moved // len(layout.nodes))

    def group_at(self, ordinal: int) -> Group:
        begin = 0
        for group in self.groups:
            if begin == ordinal:
                return group
            begin += len(group)
        return ()

    def go(self, at_boottime_seconds: float | None) -> Go:
        return Go(at_boottime_seconds, tuple(tuple(_step_card(step) for step in group) for group in self.groups))


_PLAN: Final = TypeAdapter(Plan)
_INSTEAD_OF_DROP: Final = {
    CachePolicy.DROP: Before.DROP,
    CachePolicy.REMOUNT: Before.REMOUNT,
    CachePolicy.LARGER_THAN_MEMORY: Before.LARGER_THAN_MEMORY,
    CachePolicy.NONE: Before.SYNC,
}


@dataclass(frozen=True, slots=True)
class Work:
    """Work of an order.

    Attributes:
        reserves: bytes to keep free by target id.
        own_facts: of the order itself; only a maker gets them.
        layout: of one program over several nodes.
    """

    workload: Workload[Any]
    options: Options
    cache: CachePolicy
    reserves: Mapping[int, int]
    step_role: StepRole = StepRole.CLIENT
    own_facts: Facts = field(default_factory=dict)
    layout: RankLayout | None = None


def make_plan(files: OrderFiles, phase: Mapping[str, Any], work: Work, inventory: Inventory) -> Plan:
    places = _places(files, phase, work, inventory)
    if work.step_role is StepRole.RECEIVER:
        # The token is new with each plan, and an order has one plan.
        token = secrets.token_hex(16)
        write_endpoint(files, Endpoint(address=phase["address"], ports=tuple(phase["ports"]), token=token))
    groups = work.workload.plan(work.options, places)
    plan = Plan(places, tuple(tuple(_under(work, step) for step in group) for group in groups))
    if work.layout is not None and any(len(group) != 1 for group in plan.groups):
        raise PlanRefusedError(
            f"{work.workload.name} has steps in parallel, which one program over several nodes cannot"
        )
    for place in places:
        place.scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_input_files(plan.groups, files.scratch)
    replace_file(files.plan, _PLAN.dump_json(plan).decode(), durable=True)
    return plan


def _places(files: OrderFiles, phase: Mapping[str, Any], work: Work, inventory: Inventory) -> tuple[Place, ...]:
    made_places = phase["places"]
    found = [
        replace(
            _place(made, files, inventory),
            reserve_bytes=work.reserves[made["target_id"]],
            target_count=len(made_places),
        )
        for made in made_places
    ]
    if work.layout is not None:
        role, layout, mpi = work.step_role, work.layout, inventory.mpi
        return tuple(replace(place, step_role=role, layout=layout, facts={**place.facts, **mpi}) for place in found)
    if work.step_role is StepRole.CLIENT:
        return tuple(found)
    own: Facts = {DATA_ADDRESS: phase["address"]} if work.step_role is StepRole.RECEIVER else work.own_facts
    return tuple(
        replace(place, facts={**place.facts, **own}, step_role=work.step_role, endpoint=files.endpoint)
        for place in found or [_off_targets(files, inventory)]
    )


def _off_targets(files: OrderFiles, inventory: Inventory) -> Place:
    directory = files.scratch / "off-targets"
    return Place(
        target_id=None,
        directory=directory,
        scratch=directory,
        fstype="",
        direct_works=False,
        total_bytes=0,
        free_bytes=0,
        facts=inventory.facts,
        target_count=0,
    )


def write_endpoint(files: OrderFiles, endpoint: Endpoint) -> None:
    replace_file(files.endpoint, endpoint.model_dump_json(), durable=False)


def read_endpoint(files: OrderFiles) -> Endpoint | None:
    try:
        return Endpoint.model_validate_json(files.endpoint.read_bytes())
    except FileNotFoundError:
        return None


def read_plan(files: OrderFiles) -> Plan | None:
    try:
        return parse_plan(files.plan.read_bytes())
    except FileNotFoundError:
        return None


def write_input_files(groups: Iterable[Group], scratch: Path) -> None:
    """Raise ValueError for a file outside `scratch`."""
    for step in chain.from_iterable(groups):
        for file in step.input_files:
            if ".." in file.path.parts or not file.path.is_relative_to(scratch):
                raise ValueError(f"step {step.name}: the input file {file.path} is not below {scratch}")
            file.path.write_text(file.text, encoding="utf-8")


def parse_plan(text: str | bytes) -> Plan:
    return _PLAN.validate_json(text)


def _place(made: Mapping[str, Any], files: OrderFiles, inventory: Inventory) -> Place:
    mount = made["mount"]
    options = effective_options(mount["options"], mount["super_options"])
    return Place(
        target_id=made["target_id"],
        directory=Path(made["directory"]),
        scratch=files.scratch / f"target-{made['target_id']}",
        fstype=mount["fstype"],
        direct_works=made["direct_works"],
        total_bytes=made["total_bytes"],
        free_bytes=made["free_bytes"],
        # The inventory may be old; the runner has just read the mount options.
        facts={
            **inventory.facts,
            **inventory.facts_at(made["directory"], mount["mount_point"]),
            "mount.options": lasting_options(options),
        },
        source=mount["source"],
    )


def _under(work: Work, step: Step) -> Step:
    """Apply the campaign's cache policy. A step that only reads need not use the remounted target."""
    if work.layout is not None:
        step = replace(step, role=work.step_role)
    if step.before is not Before.DROP or (work.cache is CachePolicy.REMOUNT and not work.workload.writes):
        return step
    return replace(step, before=_INSTEAD_OF_DROP[work.cache])


def _step_card(step: Step) -> StepCard:
    return StepCard(
        step.name,
        step.argv,
        step.before.value,
        tuple(str(file) for file in step.declared_files),
        int(step.stop_signal),
        step.stall_seconds,
        step.complained_stall_seconds,
        step.socket,
        tuple(str(file) for file in step.direct_files),
        step.end_mark,
        None if step.end_file is None else str(step.end_file),
    )
