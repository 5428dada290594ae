"""Commands that only root may run, on a terminal: adopt a disk, release it, wipe a set."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Final
from uuid import uuid4

from iotide_agent.scratch import arenas
from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.disk import Disk, names_of
from iotide_agent.scratch.mark import Adoption
from iotide_agent.scratch.recovery import Recovery
from iotide_agent.scratch.refusals import ScratchRefusedError, joined
from iotide_agent.scratch.requests import ScratchRequest, Verb
from iotide_agent.scratch.sets import read_config
from iotide_agent.scratch.site import Site
from iotide_agent.scratch.sysfs import DiskIdentity
from iotide_agent.scratch.uses import is_blank, live_uses, uses
from iotide_agent.scratch.wiping import Wiper

_OWN_TABLE: Final = frozenset({"gpt", "PMBR"})
Ask = Callable[[str], str]


class Root:
    """Commands of root under the lock. `ask` shows a question and returns what was typed; `by` is the user's name."""

    def __init__(self, site: Site, commands: Commands, ask: Ask, by: str) -> None:
        self._site = site
        self._commands = commands
        self._ask = ask
        self._by = by

    def adopt(self, device: str) -> str:
        """Adopt a listed disk, or complete an interrupted adoption of it; return the adoption id.

        Raise ScratchRefusedError with every use of the disk.
        """
        if read_config(self._site.config_file).set_of(device) is None:
            raise ScratchRefusedError(f"{device} is in no set of {self._site.config_file}; list it there first")
        with closing(Disk(self._site.sysfs, device)) as disk:
            found = _whole_mark(disk)
            if found is None or not found.is_of(disk.identity):
                return self._adopt_new(disk)
            adoption = disk.adoption(self._site)
            if not disk.has_table(adoption.id):
                self._check_unused(disk, own=_OWN_TABLE)
                self._confirm(disk.identity, _now(disk), "complete the adoption of")
                self._check_unused(disk, own=_OWN_TABLE)
                disk.write_table(adoption.id)
            elif _is_unfinished(disk):
                self._confirm(disk.identity, _now(disk), "complete the adoption of")
                self._check_not_live(disk)
            self._finish(disk, adoption)
            return adoption.id

    def adopt_same_disk(self, device: str) -> str:
        """Take over a mark that root's record does not have, such as one of an earlier installation of this node.

        Return the adoption id.
        """
        with closing(Disk(self._site.sysfs, device)) as disk:
            found = disk.any_adoption()
            if not found.is_of(disk.identity):
                raise ScratchRefusedError(f"{device}: the mark is of another disk, or the disk has changed: {found}")
            if not disk.has_table(found.id):
                raise ScratchRefusedError(f"{device}: its partition table is not the one of its adoption")
            self._confirm(disk.identity, _now(disk), f"take over from machine-id {found.machine_id}")
            if disk.any_adoption() != found:
                raise ScratchRefusedError(f"{device}: its mark changed during the question; nothing was changed")
            taken = replace(found, machine_id=self._site.this_machine())
            self._record(disk, taken)
            disk.write_adoption(taken, is_new=False)
            disk.check_ready(self._site)
            self._commands.journal.write("adopted", device=device, id=found.id, by=self._by)
            return found.id

    def release(self, device: str) -> None:
        """Wipe arena, table and mark of an adopted disk, listed or not; forget one that is not there any longer.

        Raise ScratchRefusedError or DirtyError.
        """
        recorded = self._site.adoptions.of(device)
        if recorded is not None and not names_of(self._site.sysfs, device):
            self._confirm(recorded.adoption.identity, device, "forget without wiping")
            self._site.adoptions.forget(device)
            return
        with closing(Disk(self._site.sysfs, device)) as disk:
            adoption = disk.adoption(self._site)
            self._confirm(disk.identity, _now(disk), "release and wipe")
            if not disk.has_table(adoption.id):
                self._check_unused(disk, own=_OWN_TABLE)
            elif disk.state().is_clean:
                reason = arenas.why_foreign(self._site, disk, self._commands)
                if reason is not None:
                    raise ScratchRefusedError(reason)
            else:
                found = read_config(self._site.config_file).set_of(device)
                before_unmount = () if found is None else found.before_unmount
                self._wiper().clean([disk], discards=False, before_unmount=before_unmount)
            disk.clear()
            disk.read_partitions()
            self._site.adoptions.forget(device)
            self._commands.journal.write("released", device=device, id=adoption.id, by=self._by)

    def wipe(self, name: str) -> list[str]:
        """Wipe the dirty disks of a set and accept orders of any number again; return reasons of disks left alone."""
        found = read_config(self._site.config_file).sets.get(name)
        if found is None:
            raise ScratchRefusedError(f"{self._site.config_file} has no set {name}")
        if self._ask(f"All data that iotide wrote on set {name} is lost. Type the name of the set: ") != name:
            raise ScratchRefusedError("not confirmed; nothing was changed")
        answer = Recovery(self._site, self._commands, found).recover(ScratchRequest(Verb.RECOVER, name))
        for device in answer["wiped"]:
            with closing(Disk(self._site.sysfs, device)) as disk:
                arenas.forget_orders([disk])
        reasons: list[str] = answer["reasons"]
        return reasons

    def _adopt_new(self, disk: Disk) -> str:
        self._check_unused(disk)
        self._confirm(disk.identity, _now(disk), "give to iotide for good")
        if not is_blank(disk):
            phrase = f"destroy {disk.identity.serial or disk.device}"
            question = f"It has no known signature, but its ends are not blank. Type `{phrase}` to overwrite it: "
            if self._ask(question) != phrase:
                raise ScratchRefusedError("not confirmed; nothing was changed")
        # An answer can take hours.
        self._check_unused(disk)
        identity = disk.identity
        adoption = Adoption(
            id=str(uuid4()),
            wwn=identity.wwn,
            serial=identity.serial,
            model=identity.model,
            size_bytes=identity.size_bytes,
            machine_id=self._site.this_machine(),
            adopted_at_s=int(time.time()),
            adopted_by=self._by,
        )
        self._record(disk, adoption)
        disk.write_adoption(adoption, is_new=True)
        self._commands.journal.write("mark_written", device=disk.device, id=adoption.id)
        disk.write_table(adoption.id)
        self._finish(disk, adoption)
        return adoption.id

    def _record(self, disk: Disk, adoption: Adoption) -> None:
        self._site.adoptions.record(disk.device, adoption, self._site.sysfs.bay(disk.name))

    def _finish(self, disk: Disk, adoption: Adoption) -> None:
        self._commands.journal.write("table_written", device=disk.device)
        if self._site.sysfs.partition(disk.name, 1) is None:
            disk.read_partitions()
        disk.check_ready(self._site)
        if _is_unfinished(disk):
            # Old data may lie in the arena, where no check of the whole disk sees it.
            self._wiper().clean([disk], discards=False)
        self._commands.journal.write("adopted", device=disk.device, id=adoption.id, by=self._by)

    def _check_unused(self, disk: Disk, own: frozenset[str] = frozenset()) -> None:
        found = uses(disk, self._site.sysfs, self._commands, own=own)
        if found:
            raise ScratchRefusedError(f"{disk.device}: {joined(found)}")

    def _check_not_live(self, disk: Disk) -> None:
        found = live_uses(self._site.sysfs, disk)
        if found:
            raise ScratchRefusedError(f"{disk.device}: {joined(found)}")

    def _confirm(self, identity: DiskIdentity, name: str, what: str) -> None:
        shown = f"{identity.model or 'unknown model'}, {identity.size_bytes} bytes, {name}"
        key = identity.serial or identity.wwn
        if self._ask(f"{what}: {shown}\nAll data on it is lost. Type its serial number: ") != key:
            raise ScratchRefusedError("not confirmed: that is not its serial number; nothing was changed")

    def _wiper(self) -> Wiper:
        return Wiper(self._site, self._commands)


def _now(disk: Disk) -> str:
    return f"{disk.device}, now {disk.name}"


def _is_unfinished(disk: Disk) -> bool:
    state = disk.state()
    return not state.is_clean and state.order == 0


def _whole_mark(disk: Disk) -> Adoption | None:
    try:
        return disk.any_adoption()
    except ScratchRefusedError:
        return None
