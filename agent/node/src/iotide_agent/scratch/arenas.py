"""The disks of a set, opened together, and what their marks allow an order to do."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.disk import Disk
from iotide_agent.scratch.mark import MarkCondition, MarkState
from iotide_agent.scratch.openers import worded
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.requests import ScratchRequest
from iotide_agent.scratch.sets import DiskSet
from iotide_agent.scratch.site import Site
from iotide_agent.scratch.uses import is_claimed, lasting_openers, loops_and_exports, signatures


@contextmanager
def opened(site: Site, devices: Sequence[str]) -> Iterator[list[Disk]]:
    """Open and lock disks, and close them at the end; raise ScratchRefusedError if one is missing or doubtful."""
    with ExitStack() as stack:
        disks = []
        for device in devices:
            disk = Disk(site.sysfs, device)
            stack.callback(disk.close)
            disk.check_ready(site)
            disks.append(disk)
        yield disks


def check_newest(disks: Sequence[Disk], request: ScratchRequest) -> None:
    """Raise ScratchRefusedError if a newer order used these disks, or another attempt of this one."""
    for disk in disks:
        state = disk.state()
        if state.order > request.order:
            raise ScratchRefusedError(
                f"{disk.device}: order {request.order} is older than {state.order}, which used it"
            )
        if state.order == request.order and state.fence != request.fence:
            raise ScratchRefusedError(f"{disk.device}: order {request.order} used it with another fence")


def is_of(state: MarkState, request: ScratchRequest) -> bool:
    return (state.order, state.fence) == (request.order, request.fence)


def why_foreign(site: Site, disk: Disk, commands: Commands) -> str | None:
    """Return what another program did to a clean arena; None for one that can be used."""
    holders = site.sysfs.names(disk.arena, "holders")
    if holders:
        return f"{disk.device}: clean by its mark, but held by {', '.join(holders)}"
    if is_claimed(disk.arena_path):
        return f"{disk.device}: clean by its mark, but the kernel reports that its arena is in use"
    found = signatures(disk.arena_path, commands)
    if found:
        return f"{disk.device}: clean by its mark, but it holds {', '.join(found)}"
    # Also of the whole disk: a virtual machine may have it.
    names = (disk.name, disk.arena)
    above = loops_and_exports(site.sysfs, names)
    if above:
        return f"{disk.device}: clean by its mark, but {above[0]} is on it"
    who = lasting_openers(site.sysfs, names)
    return f"{disk.device}: clean by its mark, but open in {worded(who)}" if who else None


def mark_all(disks: Sequence[Disk], condition: MarkCondition, request: ScratchRequest, commands: Commands) -> None:
    for disk in disks:
        variant = request.making.variant if request.making else disk.state().variant
        state = MarkState(condition, request.order, request.fence, variant, int(time.time()))
        disk.write_state(state)
        commands.journal.write("marked", device=disk.device, condition=condition, order=request.order)


def forget_orders(disks: Sequence[Disk]) -> None:
    """Have clean disks accept any order again: root's answer to a server whose order numbers went back."""
    for disk in disks:
        disk.write_state(replace(disk.state(), order=0, fence=0))


def first_devices(found: DiskSet, count: int) -> tuple[str, ...]:
    """Return the first `count` disks of a set; raise ScratchRefusedError if it has fewer."""
    if count > len(found.devices):
        raise ScratchRefusedError(f"set {found.name} has {len(found.devices)} disks, not {count}")
    return found.devices[:count]
