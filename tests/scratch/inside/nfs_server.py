"""The kernel's NFS server of this machine, and clients that are this machine, too."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from scratch.inside.rig import list_sets, run

from iotide_agent.scratch.sets import SYSTEM_SETS

CONTROL: Final = Path("/proc/fs/nfsd")
ADDRESS: Final = "127.0.0.1"
CLIENT: Final = "node02"
OTHER: Final = Path("/srv/others")
"""A directory that others export."""
_PERIODS: Final = ("nfsv4leasetime", "nfsv4gracetime")
_LEAST_SECONDS: Final = 10
"""The shortest that there is: for as long, a new server opens no files."""


@contextmanager
def nfs_server() -> Iterator[None]:
    """Start the server with one export of others."""
    run("modprobe", "-a", "nfsd", "nfsv4")
    with ExitStack() as stack:
        run("mount", "-t", "nfsd", "nfsd", str(CONTROL))
        stack.callback(run, "umount", str(CONTROL))
        for period in _PERIODS:
            (CONTROL / period).write_text(f"{_LEAST_SECONDS}\n")
        OTHER.mkdir(parents=True, exist_ok=True)
        run("rpcbind", "-w")
        run("rpc.mountd")
        run("exportfs", "-o", "rw,no_root_squash,no_subtree_check,fsid=77", f"{ADDRESS}:{OTHER}")
        stack.callback(run, "exportfs", "-u", f"{ADDRESS}:{OTHER}")
        run("rpc.nfsd", "2")
        stack.callback(run, "rpc.nfsd", "0")
        yield


def list_client(sets: Mapping[str, Sequence[str]]) -> None:
    """List sets and this machine as a client of them."""
    list_sets(sets)
    with SYSTEM_SETS.open("a") as file:
        file.write(f'[clients]\n{CLIENT} = "{ADDRESS}"\n')


@contextmanager
def mounted(source: Path, point: Path) -> Iterator[None]:
    point.mkdir(exist_ok=True)
    # Soft: a request that the server no longer answers fails.
    run("mount", "-t", "nfs", "-o", "vers=4.2,soft,timeo=50,retrans=1", f"{ADDRESS}:{source}", str(point))
    try:
        yield
    finally:
        run("umount", "--force", "--lazy", "--no-canonicalize", str(point))


def states() -> str:
    """Return what the server holds for its clients, for the text of a failure."""
    return "\n".join(file.read_text() for file in CONTROL.glob("clients/*/states"))
