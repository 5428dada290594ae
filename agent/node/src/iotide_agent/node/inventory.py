"""What this node has: facts, mounts, approved directories and workloads, as hello announces them."""

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from itertools import count
from pathlib import PurePosixPath
from typing import Final

from iotide_agent.node.config import AgentConfig
from iotide_agent.node.load_user import LoadUser, find_load_user
from iotide_agent.node.own_files import why_exchangeable
from iotide_agent.node.receiving import data_address
from iotide_agent.probes.reader import CommandWant, SystemReader, Unavailable
from iotide_agent.probes.registry import collect_facts, look_again
from iotide_agent.workloads.registry import announcements
from iotide_wire.catalogue import WorkloadAnnouncement
from iotide_wire.endpoint import DATA_ADDRESS
from iotide_wire.expressions import TARGET_FREE, TARGET_TOTAL
from iotide_wire.facts import Facts, MountFacts

AGENT_VERSION: Final = metadata.version("iotide-agent")
_SYSTEM_DIRECTORIES: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Inventory:
    """What was found.

    Attributes:
        approved_directories: of the configuration, without symbolic links where they could be followed.
        workloads: by name.
        data_address: where other nodes of a run may send to; None where agent.toml names no address of this node. Told
            with the facts, but no part of them: only runs that receive depend on it.
        budget: of the configuration, by directories without symbolic links.
        resolved: the approved directories as they are configured, and as they are without symbolic links.
        exchangeable: by approved directory without symbolic links, why runs there are refused: others could exchange
            it, or the user who runs the loads cannot use it.
        load_user: whose rights loads have.
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

    def real(self, path: str) -> str:
        """A path below an approved directory, without the symbolic links by which agent.toml names that."""
        for directory, real in self.resolved.items():
            if PurePosixPath(path).is_relative_to(directory):
                return str(PurePosixPath(real, PurePosixPath(path).relative_to(directory)))
        return path

    @property
    def told_facts(self) -> Facts:
        """What the server is told of the node."""
        return self.facts if self.data_address is None else {**self.facts, DATA_ADDRESS: self.data_address}

    def facts_at(self, directory: str, mount_point: str) -> Facts:
        """What the probes said of the place nearest above a directory on its mount; nothing of a mount that came later.

        Two approved directories of one mount may have different facts, such as the stripes of Lustre.
        """
        on_mount = [mount for mount in self.mounts if mount.mount_point == mount_point]
        nearest = _nearest(on_mount, directory) or next(iter(on_mount), None)
        return nearest.facts if nearest else {}

    def mount_above(self, path: str) -> MountFacts | None:
        """The approved directory or mount that is nearest above a path."""
        return _nearest([mount for mount in self.mounts if mount.approved], path)

    def space_at(self, path: str) -> Facts:
        """Total and free bytes of the file system at an approved directory, as they were when this was taken."""
        mount = next((mount for mount in self.mounts if mount.path == path), None)
        if mount is None:
            return {}
        return {TARGET_TOTAL: mount.total_bytes, TARGET_FREE: mount.free_bytes}


def take_inventory(config: AgentConfig, known_user: LoadUser | None = None) -> Inventory:
    """Look at the node, in a tenth of a second, or seconds where a mount is dead; `known_user` runs loads already."""
    reader, user = SystemReader(), find_load_user(config, known_user)
    resolved = {directory: _resolve(directory, reader) for directory in config.approved_directories}
    approved = tuple(dict.fromkeys(resolved.values()))
    facts, mounts = collect_facts(approved, reader)
    return Inventory(
        facts=facts,
        mounts=tuple(mounts),
        approved_directories=approved,
        workloads={found.name: found for found in announcements(reader, config.workloads, user.ids)},
        data_address=data_address(config),
        budget={_resolve(directory, reader): limit_bytes for directory, limit_bytes in config.budget.items()},
        resolved=resolved,
        exchangeable={resolved[it]: why for it, why in why_exchangeable(tuple(resolved), reader, user.ids).items()},
        load_user=user,
    )


def renewed(inventory: Inventory, paths: Iterable[str]) -> Inventory:
    """Return the inventory with the mounts at these paths as they are now; raise MountsUnknownError."""
    old = {mount.path for path in paths if (mount := inventory.mount_above(path))}
    new = look_again(sorted(old), SystemReader())
    return replace(inventory, mounts=tuple(new.get(mount.path, mount) for mount in inventory.mounts))


def _nearest(mounts: Iterable[MountFacts], path: str) -> MountFacts | None:
    above = [mount for mount in mounts if PurePosixPath(path).is_relative_to(mount.path)]
    return max(above, key=lambda mount: len(PurePosixPath(mount.path).parts), default=None)


def load_environment() -> dict[str, str]:
    """What every load gets: where tools are found, and a locale in which they can be read."""
    environment = {"PATH": f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_DIRECTORIES}", "LC_ALL": "C"}
    libraries = os.environ.get("LD_LIBRARY_PATH")
    return environment | {"LD_LIBRARY_PATH": libraries} if libraries else environment


def _resolve(directory: str, reader: SystemReader) -> str:
    # As a command, because following the links of a dead mount in this process would hang it.
    real = reader.read(CommandWant(("readlink", "--canonicalize", directory), "coreutils"))
    return directory if isinstance(real, Unavailable) else real.strip() or directory


class Looks:
    """Takes the inventory, perhaps twice at a time: what began earlier and ends later has seen less."""

    def __init__(self, take: Callable[[], Inventory], keep: Callable[[Inventory], None]) -> None:
        self._take = take
        self._keep = keep
        self._numbers = count(1)
        self._kept = 0
        self._lock = threading.Lock()

    def look(self) -> Inventory:
        """Takes the inventory and keeps it unless another look that began later was kept meanwhile."""
        number = next(self._numbers)
        found = self._take()
        with self._lock:
            if number > self._kept:
                self._keep(found)
                self._kept = number
        return found
