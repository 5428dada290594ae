"""Identity of file systems: shared ones have the same on all nodes, private ones are the node's own."""

from collections.abc import Iterable
from ipaddress import ip_address
from typing import ClassVar, Final

from iotide_agent.probes.base import Probe, Texts, on_mount, text_of
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import Want
from iotide_wire.facts import Facts

_CLUSTER_FSTYPES: Final = frozenset({"gfs2", "ocfs2"})
"""On one block device that several nodes mount at once."""
# -p reads the device; blkid's cache may be seconds old after a mkfs.
_blkid: Final = on_mount("util-linux", "blkid", "-p", "-o", "value", "-s", "UUID", "{0.source}")
_lsblk: Final = on_mount("util-linux", "lsblk", "--nodeps", "--noheadings", "--output", "UUID", "{0.source}")


def shared(identity: str) -> Facts:
    return {"fs.identity": identity, "fs.identity_scope": "shared"}


def private(identity: str) -> Facts:
    """A UUID is no identity here: cloned disks have the same one on many nodes."""
    return {"fs.identity": identity, "fs.identity_scope": "node"}


def served(identity: str, server: str) -> Facts:
    """A loopback address is a different server on each node."""
    return private(identity) if _is_loopback(server) else shared(identity)


class UuidProbe(Probe):
    """UUID of a file system on a block device; mkfs creates a new one, which shows a re-format."""

    name: ClassVar[str] = "uuid"

    def matches(self, mount: Mount) -> bool:
        return mount.source.startswith("/dev/") and mount.fstype != "gpfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """Read it from the device, which needs root; otherwise from udev, which some nodes lack."""
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
