"""Settings of /etc/iotide/scratch.toml: sets of disks that may be adopted. Root's file; the agent may read it."""

import ipaddress
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from iotide_agent.runner.walls import why_changeable
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_wire.scratch_vocabulary import MOST_DISKS

SYSTEM_SETS: Final = Path("/etc/iotide/scratch.toml")
SET_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
MOST_SETS: Final = 50
MOST_LISTED: Final = 256
"""Maximum number of disks in all sets: what the server takes, and an answer holds."""
_DEVICE: Final = re.compile(r"(wwn-0x|nvme-|serial-)[A-Za-z0-9._-]{1,120}")
NODE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_HOOKS: Final = ("after_mount", "before_unmount")
_SET_FIELDS: Final = frozenset({"devices", "discard", "max_bytes_per_day", *_HOOKS})


@dataclass(frozen=True, slots=True)
class DiskSet:
    """Names the disks of a set.

    Attributes:
        devices: names of its disks, in the order of a layout's members.
        discard: whether wiping also discards the arena.
        max_bytes_per_day: bytes that makes and wipes may write in 24 hours; None for no limit.
        after_mount, before_unmount: the site's commands, run by root; empty for none.
    """

    name: str
    devices: tuple[str, ...]
    discard: bool = False
    max_bytes_per_day: int | None = None
    after_mount: tuple[str, ...] = ()
    before_unmount: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScratchConfig:
    """Holds all sets by name, and the addresses of NFS clients by node name."""

    sets: Mapping[str, DiskSet]
    clients: Mapping[str, str]

    def set_of(self, device: str) -> DiskSet | None:
        return next((found for found in self.sets.values() if device in found.devices), None)


def read_config(file: Path = SYSTEM_SETS) -> ScratchConfig:
    """Return the settings, none without the file.

    Raise ScratchRefusedError for a wrong file, or one that other users may change.
    """
    try:
        reason = why_changeable(str(file))
        if reason is not None:
            raise ScratchRefusedError(reason)
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ScratchConfig({}, {})
    except (OSError, ValueError, RecursionError) as error:
        raise ScratchRefusedError(f"{file}: {error}") from error
    _only(values, {"sets", "clients"}, str(file))
    sets = {name: _set_of(name, found, file) for name, found in _table(values, "sets", file).items()}
    if len(sets) > MOST_SETS:
        raise ScratchRefusedError(f"{file}: {len(sets)} sets; a node has at most {MOST_SETS}")
    listed = [device for found in sets.values() for device in found.devices]
    if len(listed) > MOST_LISTED:
        raise ScratchRefusedError(f"{file}: {len(listed)} disks; all sets of a node have at most {MOST_LISTED}")
    twice = {device for device in listed if listed.count(device) > 1}
    if twice:
        raise ScratchRefusedError(f"{file}: {', '.join(sorted(twice))} is listed twice")
    return ScratchConfig(sets, _clients(_table(values, "clients", file), file))


def _set_of(name: str, values: object, file: Path) -> DiskSet:
    where = f"{file}: sets.{name}"
    if not SET_NAME.fullmatch(name):
        raise ScratchRefusedError(f"{where}: use a name of a-z, 0-9 and -, of at most 32 characters")
    if not isinstance(values, dict):
        raise ScratchRefusedError(f'{where}: write a table, such as [sets.{name}] devices = ["wwn-0x5000c500a1b2c3d4"]')
    _only(values, _SET_FIELDS, where)
    devices, discard, most = (values.get(key) for key in ("devices", "discard", "max_bytes_per_day"))
    if not isinstance(devices, list) or not 0 < len(devices) <= MOST_DISKS:
        raise ScratchRefusedError(
            f"{where}: devices lists 1 to {MOST_DISKS} disks; `iotide-agent scratch list` names them"
        )
    for device in devices:
        if not isinstance(device, str) or not _DEVICE.fullmatch(device):
            raise ScratchRefusedError(f"{where}: {device!r} is not a disk as `iotide-agent scratch list` names it")
    if not isinstance(discard, bool | None):
        raise ScratchRefusedError(f"{where}: discard is true or false")
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
        raise ScratchRefusedError(f"{where}: max_bytes_per_day is a whole number of bytes")
    return DiskSet(
        name, tuple(devices), bool(discard), most, *(_command(values.get(key), key, where) for key in _HOOKS)
    )


def _command(words: object, key: str, where: str) -> tuple[str, ...]:
    if words is None:
        return ()
    is_text = isinstance(words, list) and all(isinstance(word, str) and word for word in words)
    if not isinstance(words, list) or not is_text or not words or not words[0].startswith("/"):
        raise ScratchRefusedError(
            f'{where}: {key} is {words!r}; list an absolute path and its arguments, such as ["/usr/local/sbin/start"]'
        )
    return tuple(words)


def _clients(values: Mapping[str, Any], file: Path) -> Mapping[str, str]:
    for node, address in values.items():
        try:
            ipaddress.ip_address(address)
        except ValueError as error:
            raise ScratchRefusedError(f"{file}: clients.{node}: {address!r} is not an IP address") from error
        # Of IPv6, the text after % may be anything.
        if not NODE_NAME.fullmatch(node) or not isinstance(address, str) or "%" in address:
            raise ScratchRefusedError(f"{file}: clients.{node}: write a node name and its IP address as text")
    return values


def _table(values: Mapping[str, Any], key: str, file: Path) -> Mapping[str, Any]:
    found = values.get(key, {})
    if not isinstance(found, dict):
        raise ScratchRefusedError(f"{file}: {key} is a table")
    return found


def _only(values: Mapping[str, Any], known: set[str] | frozenset[str], where: str) -> None:
    unknown = sorted(set(values) - known)
    if unknown:
        raise ScratchRefusedError(f"{where}: {', '.join(unknown)} is unknown; known are {', '.join(sorted(known))}")
