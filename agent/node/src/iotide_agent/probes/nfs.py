"""NFS, versions 3 and 4: effective options from the kernel's statistics, and the server's id of the volume."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, number, options_of, text_of
from iotide_agent.probes.identity import served
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import FileWant, Want
from iotide_agent.runner.mounts import decode
from iotide_wire.facts import Facts, FactValue
from iotide_wire.units import KIB

_MOUNTSTATS: Final = FileWant("/proc/self/mountstats")
_VOLUMES: Final = FileWant("/proc/fs/nfsfs/volumes")
_NUMBERS: Final = {
    "rsize": "nfs.rsize_bytes",
    "wsize": "nfs.wsize_bytes",
    "retrans": "nfs.retransmission_count",
    "acregmin": "nfs.acregmin_seconds",
    "acregmax": "nfs.acregmax_seconds",
    "acdirmin": "nfs.acdirmin_seconds",
    "acdirmax": "nfs.acdirmax_seconds",
}
_HEAD: Final = re.compile(r"^device (\S+) mounted on (\S+) with fstype (\S+)", re.MULTILINE)
_VOLUME_FIELDS: Final = 5


class NfsProbe(Probe):
    name: ClassVar[str] = "nfs"

    def matches(self, mount: Mount) -> bool:
        return mount.fstype in {"nfs", "nfs4"}

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield from (_MOUNTSTATS, _VOLUMES, read_ahead(mount))
        yield from network.wants(_server(mount), texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        block = _block(mount, text_of(texts, _MOUNTSTATS))
        options = options_of(mount.options) | _mountstats_options(block)
        found: dict[str, FactValue] = {
            "nfs.version": options.get("vers"),
            "nfs.transport": options.get("proto"),
            "nfs.security": options.get("sec"),
            "nfs.hard": "hard" in options,
            "nfs.sync": "sync" in options,
            "nfs.attribute_cache": "noac" not in options,
            "nfs.fscache": "fsc" in options,
            **{fact: number(options.get(option)) for option, fact in _NUMBERS.items()},
            "nfs.connection_count": number(options.get("nconnect")) or 1,
            "nfs.pnfs": _pnfs(block),
            "nfs.fsid": _fsid(mount, text_of(texts, _VOLUMES)),
        }
        found["nfs.read_ahead_bytes"] = read_ahead_bytes(mount, texts)
        tenths = number(options.get("timeo"))
        found["nfs.timeout_seconds"] = tenths / 10 if tenths is not None else None
        return known(found) | nfs_identity(_server(mount), _export(mount)) | network.facts(_server(mount), texts)


def nfs_identity(server: str, export: str) -> Facts:
    """The same for kernel and user-space clients. `server` is an address, because names vary."""
    return served(f"nfs:{server}:{export}", server)


def _server(mount: Mount) -> str:
    return mount.option("addr") or mount.source.partition(":/")[0].strip("[]")


def _export(mount: Mount) -> str:
    path = "/" + mount.source.partition(":/")[2]
    return path.rstrip("/") or "/"


def read_ahead(mount: Mount) -> FileWant:
    return FileWant(f"/sys/class/bdi/{mount.device}/read_ahead_kb")


def read_ahead_bytes(mount: Mount, texts: Texts) -> int | None:
    kibibytes = number(text_of(texts, read_ahead(mount)))
    return None if kibibytes is None else kibibytes * KIB


def _block(mount: Mount, mountstats: str) -> str:
    """The last section counts if several are mounted at one path."""
    block = ""
    heads = list(_HEAD.finditer(mountstats))
    ends = [*(head.start() for head in heads[1:]), len(mountstats)]
    for head, end in zip(heads, ends, strict=False):
        if (decode(head[1]), decode(head[2]), head[3]) == (mount.source, mount.mount_point, mount.fstype):
            block = mountstats[head.end() : end]
    return block


def _mountstats_options(block: str) -> dict[str, str]:
    found = re.search(r"^\s*opts:\s*(\S+)$", block, re.MULTILINE)
    return options_of(found[1].split(",")) if found else {}


def _pnfs(block: str) -> str | None:
    found = re.search(r"^\s*nfsv4:.*\bpnfs=([^,\n]+)", block, re.MULTILINE)
    return found[1] if found else None


def _fsid(mount: Mount, volumes: str) -> str | None:
    """The server derives it from the file system's UUID, or takes `fsid=` from /etc/exports."""
    rows = [line.split() for line in volumes.splitlines()]
    return next((row[4] for row in rows if len(row) >= _VOLUME_FIELDS and row[3] == mount.device), None)
