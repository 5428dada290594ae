"""Every use of a disk that a check can see: a real use is made, adoption is refused, and no byte changes."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from agent.scratch.loops import Loops, run

from iotide_agent.scratch import uses
from iotide_agent.scratch.refusals import ScratchRefusedError

MKFS: Final = ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0")
MOUNT: Final = ("mount", "-o", "ro")  # a writable file system writes by its own clock, also while the check looks
MEMBER_SIZE: Final = 128 * 1024**2
HOLD: Final = "import os, sys; held = os.open(sys.argv[1], {flags}); print('held', flush=True); sys.stdin.read()"
APART: Final = "mount --make-rprivate / && mount -o ro {disk} {point} && echo mounted && read _"
LEAST_SWAP_KIB: Final = "40"
MOST_ATTEMPTS: Final = 20
Use = Callable[[str, Path], Iterator[None]]


@contextmanager
def helper(*command: str) -> Iterator[None]:
    """Run a process that prints a line once it uses the disk, and ends when its standard input closes."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        assert process.stdout.readline(), command
        yield
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()


def mounted_here(disk: str, point: Path) -> Iterator[None]:
    run(*MKFS, disk)
    run(*MOUNT, disk, str(point))
    try:
        yield
    finally:
        run("umount", str(point))


def mounted_in_another_namespace(disk: str, point: Path) -> Iterator[None]:
    run(*MKFS, disk)
    with helper("unshare", "--mount", "sh", "-c", APART.format(disk=disk, point=point)):
        yield


def unmounted_lazily_with_an_open_directory(disk: str, point: Path) -> Iterator[None]:
    run(*MKFS, disk)
    run(*MOUNT, disk, str(point))
    held = os.open(point, os.O_RDONLY)
    try:
        run("umount", "--lazy", str(point))
        yield
    finally:
        os.close(held)


def swap(disk: str, point: Path) -> Iterator[None]:
    del point
    run("mkswap", disk, LEAST_SWAP_KIB)
    run("swapon", disk)
    try:
        yield
    finally:
        run("swapoff", disk)


def file_system_not_mounted(disk: str, point: Path) -> Iterator[None]:
    del point
    run(*MKFS, disk)
    yield


def physical_volume(disk: str, point: Path) -> Iterator[None]:
    del point
    config = "devices{use_devicesfile=0 hints=none} backup{backup=0 archive=0}"
    run("lvm", "pvcreate", "--config", config, "--devices", disk, "-qq", "-y", disk)
    yield


def ceph_label(disk: str, point: Path) -> Iterator[None]:
    del point
    with Path(disk).open("r+b") as opened:
        opened.write(b"bluestore block device\n12345678-1234-1234-1234-123456789abc\n")
    yield


def stopped_md_member(disk: str, point: Path) -> Iterator[None]:
    del point
    superblock = bytearray(4096)
    superblock[:8] = bytes.fromhex("fc4e2ba901000000")
    superblock[128:136] = (8).to_bytes(8, "little")  # data offset
    superblock[144:152] = (8).to_bytes(8, "little")  # its own sector
    words = [int.from_bytes(superblock[at : at + 4], "little") for at in range(0, 256, 4)]
    total = sum(words)
    superblock[216:220] = ((total & 0xFFFFFFFF) + (total >> 32)).to_bytes(4, "little")
    with Path(disk).open("r+b") as opened:
        opened.seek(4096)
        opened.write(superblock)
    yield


def open_without_a_claim(disk: str, point: Path) -> Iterator[None]:
    del point
    with helper(sys.executable, "-S", "-c", HOLD.format(flags="os.O_RDWR"), disk):
        yield


def open_with_a_claim(disk: str, point: Path) -> Iterator[None]:
    del point
    with helper(sys.executable, "-S", "-c", HOLD.format(flags="os.O_RDWR | os.O_EXCL"), disk):
        yield


def loop_device_on_top(disk: str, point: Path) -> Iterator[None]:
    del point
    above = run("losetup", "--find", "--show", disk).strip()
    try:
        yield
    finally:
        run("losetup", "--detach", above)


def partitioned(disk: str, point: Path) -> Iterator[None]:
    del point
    with Path(disk).open("r+b") as opened:
        entry = bytes.fromhex("00202100830000000008000000080000")
        opened.write(bytes(446) + entry + bytes(48) + b"\x55\xaa")
    yield


def raw_data(disk: str, point: Path) -> Iterator[None]:
    del point
    Path(disk).write_bytes(os.urandom(1024**2))
    yield


def file_system_without_its_superblock(disk: str, point: Path) -> Iterator[None]:
    del point
    run(*MKFS, disk)
    with Path(disk).open("r+b") as opened:
        opened.write(bytes(4096))
    yield


USES: Final[tuple[tuple[Use, str], ...]] = (
    (mounted_here, "mounted at .*in use .O_EXCL.*holds ext4"),
    (mounted_in_another_namespace, r"mounted at .*\(process \d+\).*in use .O_EXCL"),
    (unmounted_lazily_with_an_open_directory, "in use .O_EXCL.*holds ext4"),
    (swap, "swap at .*in use .O_EXCL.*holds swap"),
    (file_system_not_mounted, "holds ext4"),
    (physical_volume, "holds LVM2_member"),
    (ceph_label, "holds ceph_bluestore"),
    (stopped_md_member, "holds linux_raid_member"),
    (open_without_a_claim, "open in process"),
    (open_with_a_claim, "in use .O_EXCL"),
    (loop_device_on_top, "loop.* is on it"),
    (partitioned, "holds dos"),
    (raw_data, "not confirmed"),
    (file_system_without_its_superblock, "not confirmed"),
)


def check_refused(loops: Loops, device: str, words: str) -> None:
    before, written = loops.content(device), loops.sysfs.written_bytes(loops.name(device))
    with (
        loops.root([device.removeprefix("serial-"), "yes"]) as root,
        pytest.raises(ScratchRefusedError, match=f"(?s){words}"),
    ):
        root.adopt(device)
    assert loops.content(device) == before
    assert loops.sysfs.written_bytes(loops.name(device)) == written


@pytest.mark.parametrize(("use", "words"), USES, ids=[use.__name__ for use, _ in USES])
def test_a_disk_in_use_is_not_adopted_and_no_byte_changes(loops: Loops, tmp_path: Path, use: Use, words: str) -> None:
    device, point = loops.add(), tmp_path / "point"
    point.mkdir()
    loops.list_in("bays", [device])
    with contextmanager(use)(loops.path(device), point):
        if use is swap:
            check_refused_between_page_outs(loops, device, words)
        else:
            check_refused(loops, device, words)


def check_refused_between_page_outs(loops: Loops, device: str, words: str) -> None:
    """Check again if the kernel wrote pages meanwhile; those of the smallest swap are soon all in use."""
    for _ in range(MOST_ATTEMPTS):
        before = pages_written()
        try:
            check_refused(loops, device, words)
        except AssertionError:
            if pages_written() == before:
                raise
        else:
            return
    pytest.fail(f"the machine paged out during each of {MOST_ATTEMPTS} checks")


def pages_written() -> str:
    return next(line for line in Path("/proc/vmstat").read_text().splitlines() if line.startswith("pswpout "))


def test_each_device_of_a_mounted_btrfs_is_in_use(loops: Loops, tmp_path: Path) -> None:
    devices, point = [loops.add(MEMBER_SIZE), loops.add(MEMBER_SIZE)], tmp_path / "point"
    point.mkdir()
    loops.list_in("bays", devices)
    paths = [loops.path(device) for device in devices]
    run("mkfs.btrfs", "-q", "-d", "raid1", "-m", "raid1", *paths)
    run("mount", "-o", f"ro,device={paths[1]}", paths[0], str(point))
    try:
        for device in devices:
            check_refused(loops, device, "mounted at .*in use .O_EXCL.*holds btrfs")
    finally:
        run("umount", str(point))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("fstab", "# disks\n{disk} /data xfs noauto 0 0\n"),
        ("fstab", "{disk}p1 /data xfs noauto 0 0\n"),
        ("fstab", "{link}-part1 /data xfs noauto 0 0\n"),
        ("crypttab", "data {disk} none luks\n"),
        ("srv-data.mount", "[Mount]\nWhat={disk}\nWhere=/srv/data\n"),
        ("data.swap", "[Swap]\nWhat = {disk}p3\n"),
    ],
)
def test_a_free_disk_that_the_nodes_settings_name_is_not_adopted(
    loops: Loops, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str
) -> None:
    device = loops.add()
    loops.list_in("bays", [device])
    link = Path(f"/dev/iotide-test-{os.getpid()}-link")
    link.symlink_to(loops.path(device))
    try:
        (tmp_path / file).write_text(text.format(disk=loops.path(device), link=link))
        monkeypatch.setattr(uses, "_TABLES", ((tmp_path / "fstab", 0), (tmp_path / "crypttab", 1)))
        monkeypatch.setattr(uses, "_UNITS", tmp_path)
        check_refused(loops, device, f"{file} names it: /dev/")
    finally:
        link.unlink()


def test_settings_that_name_other_disks_prevent_no_adoption(
    loops: Loops, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, other = loops.add(), loops.add()
    loops.list_in("bays", [device])
    lines = (
        f"#{loops.path(device)} /a ext4",
        f"{loops.path(other)} /b ext4",
        "UUID=1 /c ext4",
        "tmpfs /d tmpfs",
        "",
        "x",
    )
    (tmp_path / "fstab").write_text("\n".join(lines))
    monkeypatch.setattr(uses, "_TABLES", ((tmp_path / "fstab", 0),))
    loops.adopt(device)
