"""A set served by the kernel's own NFS server to a client that keeps its files open."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest
from scratch.inside.nfs_server import ADDRESS, CLIENT, OTHER, list_client, mounted, nfs_server, states
from scratch.inside.rig import SITE, done, leftovers, new_order, performed

POINT: Final = Path("/mnt/client")
POINT_OF_OTHER: Final = Path("/mnt/client-of-others")
MAKE: Final[dict[str, Any]] = {"layout": {"kind": "single"}, "fs": {"type": "ext4"}}


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with nfs_server():
        yield


@pytest.fixture
def exported(sets: dict[str, list[str]]) -> Iterator[Path]:
    """Yield the mount point of a made set that is exported to this machine."""
    list_client(sets)
    head = new_order()
    done("make", **head, **MAKE)
    point = Path(done("mount", **head, options={})["mount"])
    done("export", **head, kind="nfs", clients=[CLIENT])
    yield point
    performed("recover")


@contextmanager
def opened(file: Path, flags: int) -> Iterator[None]:
    descriptor = os.open(file, flags, 0o600)
    try:
        yield
    finally:
        with suppress(OSError):  # the server may have ended the export
            os.close(descriptor)


def test_a_file_of_a_client_belongs_to_the_agent_and_an_idle_client_holds_nothing_up(exported: Path) -> None:
    with mounted(exported, POINT):
        (POINT / "file").write_bytes(b"of the client")
        found = (exported / "file").stat()
        assert (found.st_uid, found.st_gid) == SITE.owner_ids()
        assert done("recover")["wiped"] == ["serial-SCRATCH0"]
        with pytest.raises(OSError, match=r"Stale|Input/output"):
            (POINT / "more").write_bytes(b"x")
    assert leftovers() == []


@pytest.mark.parametrize("flags", [os.O_RDWR | os.O_CREAT, os.O_RDONLY], ids=["writing", "reading"])
def test_a_client_that_keeps_a_file_open_keeps_no_set_from_becoming_clean(exported: Path, flags: int) -> None:
    with mounted(exported, POINT):
        (POINT / "file").write_bytes(b"of the client")
        with opened(POINT / "file", flags):
            assert "superblock" in states(), "the server knows of the open file"
            record = performed("recover")
            assert record["outcome"] == "done", f"{record['reason']}\n{states()}"
    assert leftovers() == []


def test_a_client_with_open_files_of_others_is_named_and_keeps_those(exported: Path) -> None:
    with mounted(OTHER, POINT_OF_OTHER):
        with (
            mounted(exported, POINT),
            opened(POINT / "ours", os.O_RDWR | os.O_CREAT),
            closing((POINT_OF_OTHER / "theirs").open("w+")) as theirs,
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
