"""File systems in user space by subtype and source, and the kernel's FUSE settings."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final
from urllib.parse import urlsplit

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, number, text_of
from iotide_agent.probes.identity import served
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.nfs import nfs_identity, read_ahead, read_ahead_bytes
from iotide_agent.probes.reader import FileWant, Want
from iotide_wire.facts import Facts

_SSH_SOURCE: Final = re.compile(r"^(?:sshfs#)?(?:[^@/]*@)?(\[[^\]]+\]|[^:/]+):(.*)$")
_OBJECT_STORES: Final = frozenset({"s3fs", "mount-s3", "goofys", "geesefs", "gcsfuse", "rclone"})


def fuse_name(mount: Mount) -> str:
    """Return the kind of a FUSE mount by subtype, or by a source like `mfs#host`; "" if it is not FUSE.

    Subtypes exist since libfuse 2.9, and some clients still set none.
    """
    if mount.fstype.startswith("fuse."):
        return mount.fstype.removeprefix("fuse.")
    if mount.fstype not in {"fuse", "fuseblk"}:
        return ""
    found = re.match(r"[\w.-]+(?=#|$)", mount.source)
    return found[0] if found else mount.fstype


class FuseProbe(Probe):
    """Facts common to all FUSE mounts, and the only ones of sshfs, fuse-nfs and object stores such as s3fs."""

    name: ClassVar[str] = "fuse"

    def matches(self, mount: Mount) -> bool:
        return bool(fuse_name(mount))

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield from (read_ahead(mount), *_limits(mount).values())
        yield from network.wants(_server(mount), texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        facts = known(
            {
                "fuse.file_system": fuse_name(mount),
                "fuse.max_read_bytes": number(mount.option("max_read")),
                "fuse.read_ahead_bytes": read_ahead_bytes(mount, texts),
                **{fact: number(text_of(texts, want)) for fact, want in _limits(mount).items()},
            }
        )
        return facts | _identity(mount, texts) | network.facts(_server(mount), texts)


def _limits(mount: Mount) -> dict[str, FileWant]:
    base = f"/sys/fs/fuse/connections/{mount.device.partition(':')[2]}"
    return {f"fuse.{name}": FileWant(f"{base}/{name}") for name in ("max_background", "congestion_threshold")}


def _server(mount: Mount) -> str:
    match fuse_name(mount):
        case "sshfs":
            found = _SSH_SOURCE.match(mount.source)
            return found[1].strip("[]") if found else ""
        case "fuse-nfs":
            return _nfs_url(mount)[0]
        case _:
            return ""


def _nfs_url(mount: Mount) -> tuple[str, str]:
    try:
        url = urlsplit(mount.source)
        return url.hostname or "", url.path.rstrip("/") or "/"
    except ValueError:
        return "", ""


def _identity(mount: Mount, texts: Texts) -> Facts:
    if fuse_name(mount) in _OBJECT_STORES:
        # The bucket is only in the program's arguments, next to its keys.
        return {"fs.identity_scope": "shared"}
    server = _server(mount)
    if not server:
        return {}
    if fuse_name(mount) == "fuse-nfs":
        return nfs_identity(network.address_of(server, texts) or server, _nfs_url(mount)[1])
    found = _SSH_SOURCE.match(mount.source)
    return served(f"sshfs:{server}:{found[2]}", server) if found else {}
