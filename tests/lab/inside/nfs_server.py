"""Kernel NFS server on RAID 5, and its clients: each a network namespace with its own address and name."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from lab.inside.volumes import MOUNT_POINT, is_mounted, mounted, raid
from lab.nodes import system

ADDRESS: Final = "10.77.0.254"
CLIENTS: Final = ("client-1", "client-2")
MAX_BLOCK_BYTES: Final = 512 * 1024
"""Maximum transfer size of the server; the kernel's own default depends on its memory."""
_CONTROL: Final = Path("/proc/fs/nfsd")
_PERIODS: Final = ("nfsv4leasetime", "nfsv4gracetime")
_LEASE_SECONDS: Final = 10
"""The shortest that there is: half of it is how long a client of version 4 waits at most until it connects again."""
_EXPORTS: Final = f"{MOUNT_POINT} *(rw,sync,no_root_squash,no_subtree_check,insecure)\n"
_MKFS: Final = ("mkfs.xfs", "-q", "-f")


class NfsServer:
    """Server that exports MOUNT_POINT."""

    def __init__(self, device: str) -> None:
        self._device = device

    def start(self) -> None:
        """Serve the exports of /etc/exports."""
        system("exportfs", "-ra")
        system("rpc.nfsd", "4")

    def stop(self) -> None:
        """Stop answering, as after a crash; clients with hard mounts wait."""
        system("rpc.nfsd", "0")

    def replace_export(self) -> None:
        """Replace the exported file system by a fresh one: every handle of a client becomes stale."""
        self.stop()
        system("exportfs", "-au")
        system("umount", str(MOUNT_POINT))
        system(*_MKFS, self._device)
        system("mount", self._device, str(MOUNT_POINT))
        self.start()


@contextmanager
def nfs_server() -> Iterator[NfsServer]:
    """Return the server on a bridge, to which each client is connected."""
    system("modprobe", "-a", "nfsd", "nfsv3", "nfsv4", "veth", "bridge")
    with ExitStack() as stack:
        device = stack.enter_context(mounted(raid(5, 64), _MKFS))
        system("mount", "-t", "nfsd", "nfsd", str(_CONTROL))
        stack.callback(system, "umount", str(_CONTROL))
        (_CONTROL / "max_block_size").write_text(str(MAX_BLOCK_BYTES))
        for period in _PERIODS:
            (_CONTROL / period).write_text(str(_LEASE_SECONDS))
        Path("/etc/exports").write_text(_EXPORTS)
        system("rpcbind", "-w")
        system("rpc.mountd")
        system("ip", "link", "add", "lab0", "type", "bridge")
        system("ip", "address", "add", f"{ADDRESS}/24", "dev", "lab0")
        system("ip", "link", "set", "lab0", "up")
        for number, client in enumerate(CLIENTS, start=1):
            _connect(client, number)
        server = NfsServer(device)
        server.start()
        stack.callback(server.stop)
        yield server


def _connect(client: str, number: int) -> None:
    system("ip", "netns", "add", client)
    system("ip", "link", "add", f"lab{number}", "type", "veth", "peer", "name", "eth0", "netns", client)
    system("ip", "link", "set", f"lab{number}", "master", "lab0", "up")
    for command in (f"address add 10.77.0.{number}/24 dev eth0", "link set eth0 up", "link set lo up"):
        system("ip", "-n", client, *command.split())


@contextmanager
def mounted_on(client: str, version: str) -> Iterator[Path]:
    """Mount the export on a client, by an NFS version, with larger transfers requested than the server allows."""
    mount_point = Path("/mnt") / client
    mount_point.mkdir(exist_ok=True)
    options = f"vers={version},rsize=1048576,wsize=1048576" + (",nolock" if version == "3" else "")
    command = f"mount -t nfs -o {options} {ADDRESS}:{MOUNT_POINT} {mount_point}"
    # In version 4 a client is identified by its host name: two equal names would take each other's state.
    inside = ("nsenter", f"--net=/run/netns/{client}", "unshare", "--uts")
    system(*inside, "sh", "-c", f"echo {client} >/proc/sys/kernel/hostname && exec {command}")
    try:
        yield mount_point
    finally:
        if is_mounted(mount_point):
            system("umount", "--force", "--lazy", "--no-canonicalize", str(mount_point))
