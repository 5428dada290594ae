"""Inventory of this node for hello: facts, mounts, approved directories and workloads."""

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from itertools import count, islice
from pathlib import PurePosixPath
from typing import Final

from iotide_agent.node.config import AgentConfig
from iotide_agent.node.load_user import LoadUser, find_load_user
from iotide_agent.node.mpi_facts import mpi_facts
from iotide_agent.node.own_files import why_exchangeable
from iotide_agent.node.receiving import data_address
from iotide_agent.node.scratch_sets import read_scratch_sets
from iotide_agent.probes.reader import CommandWant, SystemReader, Unavailable
from iotide_agent.probes.registry import collect_facts, look_again
from iotide_agent.workloads.registry import announced_preparing, announcements
from iotide_wire.catalogue import WorkloadAnnouncement
from iotide_wire.endpoint import DATA_ADDRESS
from iotide_wire.expressions import TARGET_FREE, TARGET_TOTAL
from iotide_wire.facts import Facts, MountFacts
from iotide_wire.scratch_sets import ScratchSet, ScratchState

AGENT_VERSION: Final = metadata.version("iotide-agent")
MOST_DIRECTORIES: Final = 100
"""Maximum number of approved directories in hello."""
_SYSTEM_DIRECTORIES: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Inventory:
    """Inventory of a node.

    Attributes:
        approved_directories: With symbolic links resolved if possible.
        data_address: Address for data from other nodes, or None. Sent with the facts, but not one of them: only
            receiving runs depend on it.
        budget: By directories with symbolic links resolved.
        resolved: Approved directories as configured, and with symbolic links resolved.
        exchangeable: By approved directory, why runs there are declined: other users could exchange it, or the user
            of the loads cannot use it.
        scratch_sets: None if unknown. The mount points of those in use are approved.
        mpi: Of the launcher. Sent with the facts, but only runs of one program over several nodes depend on it.
    """

    facts: Facts
    mounts: tuple[MountFacts, ...]
    approved_directories: tuple[str, ...]
    workloads: Mapping[str, WorkloadAnnouncement]
    data_address: str | None = None
    budget: Mapping[str, int] = field(default_factory=dict)
    resolved: Mapping[str, str] = field(default_factory=dict)
    exchangeable: Mapping[str, str] = field(default_factory=dict)
    load_user: LoadUser = field(default_factory=lambda: LoadUser((), ""))
    scratch_sets: tuple[ScratchSet, ...] | None = ()
    mpi: Facts = field(default_factory=dict)

    def real(self, path: str) -> str:
        """Resolve an approved directory's symbolic links in a path below it."""
        for directory, real in self.resolved.items():
            if PurePosixPath(path).is_relative_to(directory):
                return str(PurePosixPath(real, PurePosixPath(path).relative_to(directory)))
        return path

    @property
    def announced_facts(self) -> Facts:
        address: Facts = {} if self.data_address is None else {DATA_ADDRESS: self.data_address}
        return {**self.facts, **address, **self.mpi}

    def facts_at(self, directory: str, mount_point: str) -> Facts:
        """Return the facts of the nearest approved directory or mount above; empty for a mount made later.

        Two approved directories of one mount may differ in facts, such as Lustre stripes.
        """
        on_mount = [mount for mount in self.mounts if mount.mount_point == mount_point]
        nearest = _nearest(on_mount, directory) or next(iter(on_mount), None)
        return nearest.facts if nearest else {}

    def mount_above(self, path: str) -> MountFacts | None:
        return _nearest([mount for mount in self.mounts if mount.approved], path)

    def space_at(self, path: str) -> Facts:
        mount = next((mount for mount in self.mounts if mount.path == path), None)
        if mount is None:
            return {}
        return {TARGET_TOTAL: mount.total_bytes, TARGET_FREE: mount.free_bytes}


def take_inventory(
    config: AgentConfig,
    known_user: LoadUser | None = None,
    read_sets: Callable[[], tuple[ScratchSet, ...] | None] = read_scratch_sets,
) -> Inventory:
    """Inspect the node, in a tenth of a second, or seconds on a dead mount. `known_user` already runs loads."""
    reader, user, sets = SystemReader(), find_load_user(config, known_user), read_sets()
    made = [one.mount_path for one in sets or () if one.state is ScratchState.IN_USE]
    allowed = dict.fromkeys((*config.approved_directories, *made))
    resolved = {directory: _resolve(directory, reader) for directory in islice(allowed, MOST_DIRECTORIES)}
    approved = tuple(dict.fromkeys(resolved.values()))
    facts, mounts = collect_facts(approved, reader)
    return Inventory(
        facts=facts,
        mounts=tuple(mounts),
        approved_directories=approved,
        workloads={
            found.name: found
            for found in (
                *announcements(reader, config.workloads, user.ids),
                *([announced_preparing()] if sets or config.remount_command else ()),
            )
        },
        data_address=data_address(config),
        mpi=mpi_facts(config.mpi, reader, user.ids),
        budget={_resolve(directory, reader): limit_bytes for directory, limit_bytes in config.budget.items()},
        resolved=resolved,
        exchangeable={resolved[it]: why for it, why in why_exchangeable(tuple(resolved), reader, user.ids).items()},
        load_user=user,
        scratch_sets=sets,
    )


def renewed(inventory: Inventory, paths: Iterable[str]) -> Inventory:
    """Raise MountsUnknownError."""
    old = {mount.path for path in paths if (mount := inventory.mount_above(path))}
    new = look_again(sorted(old), SystemReader())
    return replace(inventory, mounts=tuple(new.get(mount.path, mount) for mount in inventory.mounts))


def _nearest(mounts: Iterable[MountFacts], path: str) -> MountFacts | None:
    above = [mount for mount in mounts if PurePosixPath(path).is_relative_to(mount.path)]
    return max(above, key=lambda mount: len(PurePosixPath(mount.path).parts), default=None)


def load_environment() -> dict[str, str]:
    environment = {"PATH": f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_DIRECTORIES}", "LC_ALL": "C"}
    libraries = os.environ.get("LD_LIBRARY_PATH")
    return environment | {"LD_LIBRARY_PATH": libraries} if libraries else environment


def _resolve(directory: str, reader: SystemReader) -> str:
    # Resolving links on a dead mount would hang this process.
    real = reader.read(CommandWant(("readlink", "--canonicalize", directory), "coreutils"))
    return directory if isinstance(real, Unavailable) else real.strip() or directory


class Looks:
    """Inventories, possibly two at a time. One that began earlier does not replace a later one."""

    def __init__(self, take: Callable[[], Inventory], keep: Callable[[Inventory], None]) -> None:
        self._take = take
        self._keep = keep
        self._numbers = count(1)
        self._kept = 0
        self._lock = threading.Lock()

    def look(self) -> Inventory:
        number = next(self._numbers)
        found = self._take()
        with self._lock:
            if number > self._kept:
                self._keep(found)
                self._kept = number
        return found
