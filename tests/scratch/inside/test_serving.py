"""A set served by the kernel's own NFS server to a client that keeps its files open."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest
from scratch.inside.rig import SITE, done, leftovers, list_sets, new_order, performed, run

from iotide_agent.scratch.sets import SYSTEM_SETS

CONTROL: Final = Path("/proc/fs/nfsd")
PERIODS: Final = ("nfsv4leasetime", "nfsv4gracetime")
LEAST_SECONDS: Final = 10
"""The shortest that there is: a new server lets nobody open a file for as long."""
ADDRESS: Final = "127.0.0.1"
CLIENT: Final = Path("/mnt/client")
OTHER: Final = Path("/srv/others")
CLIENT_OF_OTHER: Final = Path("/mnt/client-of-others")
MAKE: Final[dict[str, Any]] = {"layout": {"kind": "single"}, "fs": {"type": "ext4"}}


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    """Start the server with one export of others."""
    run("modprobe", "-a", "nfsd", "nfsv4")
    with ExitStack() as stack:
        run("mount", "-t", "nfsd", "nfsd", str(CONTROL))
        stack.callback(run, "umount", str(CONTROL))
        for period in PERIODS:
            (CONTROL / period).write_text(f"{LEAST_SECONDS}\n")
        OTHER.mkdir(parents=True, exist_ok=True)
        run("rpcbind", "-w")
        run("rpc.mountd")
        run("exportfs", "-o", "rw,no_root_squash,no_subtree_check,fsid=77", f"{ADDRESS}:{OTHER}")
        stack.callback(run, "exportfs", "-u", f"{ADDRESS}:{OTHER}")
        run("rpc.nfsd", "2")
        stack.callback(run, "rpc.nfsd", "0")
        yield


@pytest.fixture
def exported(sets: dict[str, list[str]]) -> Iterator[Path]:
    """Yield the mount point of a made set that is exported to this machine."""
    list_sets(sets)
    with SYSTEM_SETS.open("a") as file:
        file.write(f'[clients]\nnode02 = "{ADDRESS}"\n')
    head = new_order()
    done("make", **head, **MAKE)
    point = Path(done("mount", **head, options={})["mount"])
    done("export", **head, kind="nfs", clients=["node02"])
    yield point
    performed("recover")


@contextmanager
def mounted(source: Path, point: Path) -> Iterator[None]:
    point.mkdir(exist_ok=True)
    # Soft: a request that the server no longer answers fails.
    run("mount", "-t", "nfs", "-o", "vers=4.2,soft,timeo=50,retrans=1", f"{ADDRESS}:{source}", str(point))
    try:
        yield
    finally:
        run("umount", "--force", "--lazy", "--no-canonicalize", str(point))


@contextmanager
def opened(file: Path, flags: int) -> Iterator[None]:
    descriptor = os.open(file, flags, 0o600)
    try:
        yield
    finally:
        with suppress(OSError):  # the server may have ended the export
            os.close(descriptor)


def states() -> str:
    """Return what the server holds for its clients, for the text of a failure."""
    return "\n".join(file.read_text() for file in CONTROL.glob("clients/*/states"))


def test_a_file_of_a_client_belongs_to_the_agent_and_an_idle_client_holds_nothing_up(exported: Path) -> None:
    with mounted(exported, CLIENT):
        (CLIENT / "file").write_bytes(b"of the client")
        found = (exported / "file").stat()
        assert (found.st_uid, found.st_gid) == SITE.owner_ids()
        assert done("recover")["wiped"] == ["serial-SCRATCH0"]
        with pytest.raises(OSError, match=r"Stale|Input/output"):
            (CLIENT / "more").write_bytes(b"x")
    assert leftovers() == []


@pytest.mark.parametrize("flags", [os.O_RDWR | os.O_CREAT, os.O_RDONLY], ids=["writing", "reading"])
def test_a_client_that_keeps_a_file_open_keeps_no_set_from_becoming_clean(exported: Path, flags: int) -> None:
    with mounted(exported, CLIENT):
        (CLIENT / "file").write_bytes(b"of the client")
        with opened(CLIENT / "file", flags):
            assert "superblock" in states(), "the server knows of the open file"
            record = performed("recover")
            assert record["outcome"] == "done", f"{record['reason']}\n{states()}"
    assert leftovers() == []


def test_a_client_with_open_files_of_others_is_named_and_keeps_those(exported: Path) -> None:
    with mounted(OTHER, CLIENT_OF_OTHER):
        with (
            mounted(exported, CLIENT),
            opened(CLIENT / "ours", os.O_RDWR | os.O_CREAT),
            closing((CLIENT_OF_OTHER / "theirs").open("w+")) as theirs,
        ):
            theirs.write("before")
            theirs.flush()
            record = performed("recover")
            assert record["outcome"] == "dirty", states()
            assert f"NFS client {ADDRESS}" in record["reason"], f"{record['reason']}\n{states()}"
            theirs.write(" and after")
            theirs.flush()
            os.fsync(theirs.fileno())
        assert (OTHER / "theirs").read_text() == "before and after"
    record = performed("recover")
    assert record["outcome"] == "done", f"{record['reason']}\n{states()}"
    assert leftovers() == []
