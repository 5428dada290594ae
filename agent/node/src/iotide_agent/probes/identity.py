"""Under which name a file system is known: a shared one has the same on all nodes, a private one is the node's own."""

from collections.abc import Iterable
from ipaddress import ip_address
from typing import ClassVar, Final

from iotide_agent.probes.base import Probe, Texts, on_mount, text_of
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import Want
from iotide_wire.facts import Facts

_CLUSTER_FSTYPES: Final = frozenset({"gfs2", "ocfs2"})
"""File systems that several nodes mount from one block device at a time."""
# -p reads the device itself: blkid's cache may say for seconds what stood there before a mkfs.
_blkid: Final = on_mount("util-linux", "blkid", "-p", "-o", "value", "-s", "UUID", "{0.source}")
_lsblk: Final = on_mount("util-linux", "lsblk", "--nodeps", "--noheadings", "--output", "UUID", "{0.source}")


def shared(identity: str) -> Facts:
    """Of a file system that is the same one wherever this identity shows up."""
    return {"fs.identity": identity, "fs.identity_scope": "shared"}


def private(identity: str) -> Facts:
    """Of a file system of this node alone; cloned disks have the same UUID on many nodes."""
    return {"fs.identity": identity, "fs.identity_scope": "node"}


def served(identity: str, server: str) -> Facts:
    """Of a file system that `server` exports; behind a loopback address each node has a server of its own."""
    return private(identity) if _is_loopback(server) else shared(identity)


class UuidProbe(Probe):
    """The UUID of what stands on a block device; mkfs makes a new one, so a re-formatted target is told apart."""

    name: ClassVar[str] = "uuid"

    def matches(self, mount: Mount) -> bool:
        return mount.source.startswith("/dev/") and mount.fstype != "gpfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """From the device, which takes root; else from udev, which not every node runs."""
        yield _blkid(mount)
        if _blkid(mount) in texts and not text_of(texts, _blkid(mount)):
            yield _lsblk(mount)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        uuid = text_of(texts, _blkid(mount)) or text_of(texts, _lsblk(mount))
        if not uuid or len(uuid.split()) > 1:
            return {}
        identity = f"{mount.fstype}:{uuid}"
        return shared(identity) if mount.fstype in _CLUSTER_FSTYPES else private(identity)


def _is_loopback(server: str) -> bool:
    try:
        return ip_address(server).is_loopback
    except ValueError:
        return server == "localhost"
