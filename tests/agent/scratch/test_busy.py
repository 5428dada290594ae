"""A set that cannot be unmounted says what holds it, within the bounds of what the agent sends."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from agent.scratch.loops import Loops, performed, run
from agent.scratch.test_attacks import as_local_user, cleaned, made_and_mounted
from agent.scratch.test_uses import helper

from iotide_agent.scratch import nfs
from iotide_agent.scratch.namespaces import mounts
from iotide_agent.scratch.uses import holders_of

MAPPED: Final = (
    "import mmap, os, sys; file = os.open(sys.argv[1], os.O_RDONLY); held = mmap.mmap(file, 4096, prot=mmap.PROT_READ);"
    "os.close(file); print('held', flush=True); sys.stdin.read()"
)
LEAST_SWAP: Final = 1024**2
Use = Callable[[Path], Iterator[str]]


def file_in(point: Path, size_bytes: int = LEAST_SWAP) -> Path:
    file = point / "file"
    file.write_bytes(bytes(size_bytes))
    return file


def mapped_file(point: Path) -> Iterator[str]:
    with helper(sys.executable, "-S", "-c", MAPPED, str(file_in(point))):
        yield "process "


def loop_device(point: Path) -> Iterator[str]:
    device = run("losetup", "--find", "--show", str(file_in(point))).strip()
    try:
        yield f"{Path(device).name} is on {point}/file"
    finally:
        run("losetup", "--detach", device)


def swap_file(point: Path) -> Iterator[str]:
    file = file_in(point)
    file.chmod(0o600)
    run("mkswap", str(file))
    run("swapon", "--priority", "0", str(file))
    try:
        yield f"swap at {file}"
    finally:
        run("swapoff", str(file))


def mount_below(point: Path) -> Iterator[str]:
    (point / "below").mkdir()
    run("mount", "-t", "tmpfs", "below", str(point / "below"))
    try:
        yield f"{point}/below is mounted below it"
    finally:
        run("umount", str(point / "below"))


@pytest.mark.parametrize("use", [mapped_file, loop_device, swap_file, mount_below], ids=lambda use: use.__name__)
def test_what_keeps_a_mount_busy_is_named(loops: Loops, use: Use) -> None:
    made_and_mounted(loops)
    with contextmanager(use)(loops.site.mounts / "bays") as words:
        record = performed(loops, "recover")
        assert record["outcome"] == "dirty"
        assert words in record["reason"]
    assert cleaned(loops)


def test_what_keeps_a_device_in_use_is_named_with_the_name_of_the_process(loops: Loops) -> None:
    name = loops.name(loops.add())
    with Path(f"/dev/{name}").open("rb"), helper("sh", "-c", f"exec 9</dev/{name}; echo held; read _"):
        assert "(sh)" in holders_of(loops.sysfs, [name])
    above = run("losetup", "--find", "--show", f"/dev/{name}").strip()
    try:
        assert holders_of(loops.sysfs, [name]) == f"/sys/block/{Path(above).name}/loop is on it"
    finally:
        run("losetup", "--detach", above)
    assert holders_of(loops.sysfs, [name]) == "no process was found"


NAMED: Final = (
    "import pathlib, sys; pathlib.Path('/proc/self/comm').write_bytes(b'\\x1b[2Jroot; ok');"
    "held = open(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
)


def test_the_name_of_a_process_says_nothing_that_a_terminal_obeys(loops: Loops) -> None:
    made_and_mounted(loops)
    file = file_in(loops.site.mounts / "bays")
    with helper(sys.executable, "-S", "-c", NAMED, str(file)):
        reason = performed(loops, "recover")["reason"]
        assert reason.endswith(r" (\x1b[2Jroot; ok)")
        assert reason.isprintable()
    assert cleaned(loops)


def test_a_reason_is_bounded_whatever_path_a_user_chose(loops: Loops, tmp_path: Path) -> None:
    made_and_mounted(loops)
    deep = "/".join(["d" * 200] * 15)
    point = loops.site.mounts / "bays"
    script = "mount -t tmpfs tmpfs /mnt;"
    script += "".join(f"mkdir -p /mnt/{n}/{deep}; mount --bind {point} /mnt/{n}/{deep};" for n in range(3))
    # Mounted over, a copy cannot be unmounted by its path.
    script += "".join(f"mount -t tmpfs over /mnt/{n}/{deep};" for n in range(3))
    loops.site.mounts.chmod(0o711)
    with as_local_user(tmp_path, script) as pid:
        record = performed(loops, "recover")
        assert record["outcome"] == "dirty"
        assert record["reason"].count(f"... stays mounted in the mount namespace of process {pid} (sh)") == 3
        assert len(record["reason"]) <= 1000
    assert cleaned(loops)


class Nfsd:
    """The files that the kernel's server shows of its clients."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "unlock_fs").write_text("")

    def add(self, number: int, address: str, *superblocks: str) -> None:
        client = self.directory / "clients" / str(number)
        client.mkdir(parents=True)
        (client / "info").write_text(f'clientid: 0x1\naddress: "{address}"\nname: "Linux NFSv4.2 node02"\n')
        lines = (
            f'- 0x01: {{ type: open, access: rw, deny: --, superblock: "{one}:12", filename: "x" }}\n'
            for one in superblocks
        )
        (client / "states").write_text("".join(lines))
        (client / "ctl").write_text("")

    def written(self, number: int) -> str:
        return (self.directory / "clients" / str(number) / "ctl").read_text()


@pytest.fixture
def nfsd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nfsd:
    found = Nfsd(tmp_path)
    monkeypatch.setattr(nfs, "_CONTROL", tmp_path)
    return found


def test_a_client_loses_its_files_only_if_all_are_on_the_set(nfsd: Nfsd) -> None:
    nfsd.add(1, "10.0.0.2:704", "07:00", "07:00")
    nfsd.add(2, "[fd00::3]:812", "07:00", "103:0a")
    nfsd.add(3, "10.0.0.4:700", "103:0a")
    nfsd.add(4, "10.0.0.5:700")
    assert nfs.clients_of("7:0") == ["10.0.0.2", "[fd00::3]"]
    assert nfs.clients_of("259:10") == ["10.0.0.4", "[fd00::3]"]
    (root,) = [mount for mount in mounts() if mount.is_own and mount.path == "/dev"][-1:]
    nfs.release(root._replace(number="7:0"))
    assert [nfsd.written(number) for number in range(1, 5)] == ["expire\n", "", "", ""]
    assert (nfsd.directory / "unlock_fs").read_text() == "/dev"
    (nfsd.directory / "unlock_fs").write_text("")
    nfs.release(root._replace(number="7:0", id=-1))
    assert (nfsd.directory / "unlock_fs").read_text() == "", "another mount is over it"


def test_a_client_that_keeps_a_set_busy_is_named(loops: Loops, nfsd: Nfsd) -> None:
    made_and_mounted(loops)
    point = loops.site.mounts / "bays"
    number = point.stat().st_dev
    nfsd.add(1, "10.0.0.2:704", f"{os.major(number):02x}:{os.minor(number):02x}", "103:0a")
    with (point / "file").open("w"):
        record: dict[str, Any] = performed(loops, "recover")
    assert record["outcome"] == "dirty"
    assert "NFS client 10.0.0.2 has files open" in record["reason"]
    assert nfsd.written(1) == ""
    assert cleaned(loops)


def test_a_node_without_an_nfs_server_has_no_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nfs, "_CONTROL", tmp_path / "absent")
    nfs.release(mounts()[0])
    assert nfs.clients_of("7:0") == []
