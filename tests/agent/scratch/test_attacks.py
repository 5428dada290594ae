"""Attacks on the root program: to reach a foreign disk or mount, or to act as root. docs/isolation.md lists them."""

import fcntl
import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import pytest
from agent.scratch.loops import MACHINE, Loops, performed, run
from agent.scratch.test_uses import (
    Use,
    helper,
    loop_device_on_top,
    open_with_a_claim,
    open_without_a_claim,
)

from iotide_agent.cli import scratch
from iotide_agent.scratch import mapper, operations, service, stack, sysfs, uses
from iotide_agent.scratch.adopting import Root
from iotide_agent.scratch.journal import Journal
from iotide_agent.scratch.listing import all_sets, unlisted
from iotide_agent.scratch.lock import held_lock
from iotide_agent.scratch.mark import MarkCondition, MarkState, mark_start_bytes, state_in
from iotide_agent.scratch.namespaces import mounts
from iotide_agent.scratch.record import Records
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.requests import parse_request
from iotide_agent.scratch.service import Service
from iotide_agent.scratch.sets import read_config
from iotide_agent.scratch.sysfs import Sysfs
from iotide_wire.units import MIB

ORDER: Final[dict[str, Any]] = {"order": 7, "fence": 11}
SINGLE: Final[Any] = {"kind": "single"}
EXT4: Final[Any] = {"type": "ext4"}
LOOP_CHANGE_FD: Final = 0x4C06
LOCAL_USER: Final = 12345
"""A user of the node who is neither root nor the agent."""


def made_and_mounted(loops: Loops) -> str:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    for verb, words in (("make", {"layout": SINGLE, "fs": EXT4}), ("mount", {})):
        record = performed(loops, verb, **ORDER, **words)
        assert record["outcome"] == "done", record["reason"]
    return device


@contextmanager
def as_local_user(directory: Path, script: str) -> Iterator[int]:
    """Run a shell script as root of a user and mount namespace that an ordinary user created; yield its process id."""
    for above in (directory, *directory.parents[:3]):
        above.chmod(0o711)
    # Copies of the mounts of other tests would keep those from ending.
    others = [mount.path for mount in mounts() if mount.is_own and mount.path.endswith("/mounts/bays")]
    apart = "".join(f"umount --lazy '{path}';" for path in others if not path.startswith(f"{directory}/"))
    identity = (f"--reuid={LOCAL_USER}", f"--regid={LOCAL_USER}", "--clear-groups")
    command = ("setpriv", *identity, "unshare", "--user", "--map-root-user", "--mount", "sh", "-ec")
    with subprocess.Popen(
        ("unshare", "--mount", "sh", "-c", f'{apart} exec "$@"', "sh", *command, f"{script}\necho ready; read _"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process.pid
        finally:
            process.communicate("\n", timeout=30)


def recovered(loops: Loops) -> tuple[dict[str, Any], str]:
    stream = io.StringIO()
    return performed(loops, "recover", journal=Journal(stream)), stream.getvalue()


def cleaned(loops: Loops) -> bool:
    """Recover, and wait long: namespaces of other tests may have a copy of the mount for a while."""
    loops.site = replace(loops.site, patience_seconds=60.0)
    return bool(recovered(loops)[0]["outcome"] == "done")


def test_a_program_that_a_local_user_placed_in_a_namespace_of_their_own_is_not_started(
    loops: Loops, tmp_path: Path
) -> None:
    made_and_mounted(loops)
    stolen = tmp_path / "stolen"
    umount = run("sh", "-c", "command -v umount").strip()
    script = f"""
        mount -t tmpfs tmpfs /mnt
        printf '#!/bin/sh\\nid -u > {stolen}\\n' > /mnt/umount
        chmod 755 /mnt/umount
        mount --bind /mnt/umount {umount}
        """
    with as_local_user(tmp_path, script) as pid:
        record, _ = recovered(loops)
        assert not stolen.exists(), f"user {LOCAL_USER} ran a program as user {stolen.read_text()}"
        assert record["outcome"] == "dirty"
        assert f"in the mount namespace of process {pid} (sh)" in record["reason"]
    assert cleaned(loops)


def test_thousands_of_namespaces_make_neither_a_long_wait_nor_a_long_reason(
    loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_and_mounted(loops)
    (own,) = [mount for mount in mounts() if mount.is_own and mount.path == str(loops.site.mounts / "bays")]
    copies = [own._replace(id=-number, is_own=False) for number in range(1, 3000)]
    monkeypatch.setattr(stack, "mounts_of", lambda _sysfs, _names: [*copies, *(one for one in mounts() if one == own)])
    record, journal = recovered(loops)
    shown, _, left_out = record["reason"].rpartition("; ")
    assert left_out == f"{2999 - len(shown.split('; '))} more"
    assert len(record["reason"]) < 1000
    unmounts = [line for line in journal.splitlines() if "unmounting.py" in line]
    assert len(unmounts) < 200
    assert f'"{own.id}", "{own.path}"' in unmounts[0], "the node's own mount comes first"


def test_an_export_of_others_is_not_stopped_because_of_a_path_in_another_namespace(
    loops: Loops, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_and_mounted(loops)
    exports = tmp_path / "etab"
    exports.write_text("/mnt/home\t10.0.0.9(rw,sync,root_squash)\n")
    monkeypatch.setattr(stack, "_EXPORTS", exports)
    point = loops.site.mounts / "bays"
    loops.site.mounts.chmod(0o711)
    script = f"mount -t tmpfs tmpfs /mnt; mkdir /mnt/home; mount --bind {point} /mnt/home"
    with as_local_user(tmp_path, script):
        _, journal = recovered(loops)
        assert "/mnt/home" in journal
        assert "exportfs" not in journal


def test_a_mount_that_only_claims_to_be_of_an_arena_is_left_alone(loops: Loops, tmp_path: Path) -> None:
    device = made_and_mounted(loops)
    point = tmp_path / "of others"
    point.mkdir()
    run("mount", "-t", "tmpfs", loops.arena(device), str(point))  # any user can: fusermount -o fsname=/dev/sdb1
    try:
        assert cleaned(loops)
        assert point.is_mount()
    finally:
        run("umount", str(point), check=False)


def test_a_foreign_mount_over_ours_is_neither_unmounted_nor_handed_over(loops: Loops) -> None:
    made_and_mounted(loops)
    point = loops.site.mounts / "bays"
    run("mount", "-t", "tmpfs", "-o", "mode=755", "foreign", str(point))
    try:
        again = performed(loops, "mount", **ORDER)
        assert again["outcome"] == "refused"
        assert "another file system is mounted over it" in again["reason"]
        assert (point.stat().st_uid, point.stat().st_mode & 0o777) == (0, 0o755)
        for verb, words in (("unmount", ORDER), ("recover", {})):
            assert performed(loops, verb, **words)["outcome"] == "dirty"
        assert run("findmnt", "--noheadings", "--output", "FSTYPE", str(point)).split()[-1] == "tmpfs"
    finally:
        run("umount", str(point))
    assert cleaned(loops)


def test_a_wrong_node_in_dev_leads_no_command_to_a_foreign_disk(loops: Loops) -> None:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    foreign = loops.add()
    before = loops.content(foreign)
    arena, aside = Path(loops.arena(device)), Path(f"{loops.arena(device)}.aside")
    arena.rename(aside)
    try:
        os.mknod(arena, 0o600 | 0o060000, Path(loops.path(foreign)).stat().st_rdev)
        record = performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4)
        assert loops.content(foreign) == before
        assert record["outcome"] == "refused"
        assert "is another device than in /sys" in record["reason"]
    finally:
        aside.rename(arena)


@pytest.mark.parametrize("use", [open_with_a_claim, open_without_a_claim, loop_device_on_top])
def test_a_disk_that_is_taken_into_use_during_the_question_is_not_adopted(
    loops: Loops, tmp_path: Path, use: Use
) -> None:
    device = loops.add()
    loops.list_in("bays", [device])
    with ExitStack() as during, loops.commands() as commands:
        before: list[str] = []

        def typed(_question: str) -> str:
            during.enter_context(contextmanager(use)(loops.path(device), tmp_path))
            before.append(loops.content(device))
            return "SN-0"

        with pytest.raises(ScratchRefusedError, match=r"in use .O_EXCL|open in process|is on it"):
            Root(loops.site, commands, typed, "tester").adopt(device)
        assert before == [loops.content(device)]


def crafted(body: object) -> bytes:
    """Return a block of a mark whose digest holds, as each user can write it who may write the disk."""
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return (b"IOTIDE-SCRATCH-1\n" + sha256(text).hexdigest().encode() + b"\n" + text).ljust(4096, b"\0")


def write(path: str, data: bytes, offset: int) -> None:
    with Path(path).open("r+b") as opened:
        opened.seek(offset)
        opened.write(data)


OWN: Final[dict[str, Any]] = {
    "id": "7b1f0a52-6f0e-4c2b-9f3a-3d5c1e8a4b09", "wwn": "", "serial": "SN-0", "model": "loop of a test",
    "size_bytes": 64 * MIB, "machine_id": MACHINE, "adopted_at_s": 1, "adopted_by": "tester",
}  # fmt: skip
STATE: Final[dict[str, Any]] = {"condition": "clean", "order": 7, "fence": 11, "variant": "", "since_s": 1}


NO_MARKS: Final[tuple[object, ...]] = (
    b"[" * 3000, b"\xff", b"[]", b"7", [*OWN],
    OWN | {"id": "a"}, OWN | {"id": "{" + OWN["id"] + "}"}, OWN | {"id": 7},
    OWN | {"size_bytes": "64"}, OWN | {"adopted_by": ["root"]}, OWN | {"adopted_by": "\x1b]0;root\x07"},
    OWN | {"adopted_at_s": 10**30},
)  # fmt: skip


def test_a_crafted_mark_is_named_as_no_mark(loops: Loops) -> None:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    config = read_config(loops.config)
    for body in NO_MARKS:
        write(loops.path(device), crafted(body), mark_start_bytes(64 * MIB))
        (shown,) = all_sets(loops.site, config)
        assert "not adopted" in shown["disks"][0]["problem"], body
        assert unlisted(loops.site, replace(config, sets={})) == [], body


NO_STATES: Final[tuple[object, ...]] = (
    b"[" * 3000, b"\xff", b"[]", b"7", [*STATE],
    STATE | {"order": "7"}, STATE | {"order": True}, STATE | {"order": 2**63}, STATE | {"since_s": -1},
    STATE | {"variant": "\x1b[2J"}, STATE | {"variant": {"a": 1}}, STATE | {"condition": ["clean"]},
)  # fmt: skip


@pytest.mark.parametrize("body", NO_STATES, ids=lambda body: str(body)[-40:])
def test_a_crafted_state_counts_as_dirty(body: object) -> None:
    assert state_in(crafted(body)) == MarkState(MarkCondition.DIRTY)


def test_a_partition_table_with_its_entries_past_every_disk_is_not_the_one_of_an_adoption(loops: Loops) -> None:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    header = bytearray(Path(loops.path(device)).read_bytes()[512:1024])
    header[72:80] = (2**64 - 1).to_bytes(8, "little")
    header[16:20] = bytes(4)
    header[16:20] = crc32(bytes(header[:92])).to_bytes(4, "little")
    write(loops.path(device), bytes(header), 512)
    (shown,) = all_sets(loops.site, read_config(loops.config))
    assert "partition table is not the one" in shown["disks"][0]["problem"]


def test_a_dirty_mark_of_no_order_is_not_wiped_without_the_serial_number(loops: Loops) -> None:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    write(loops.path(device), bytes(4096), mark_start_bytes(64 * MIB) + 4096)
    write(loops.arena(device), b"data of others", 0)
    before = loops.content(device)
    with loops.root([""]) as root, pytest.raises(ScratchRefusedError, match="not its serial number"):
        root.adopt(device)
    with (
        loops.root(["SN-0"]) as root,
        contextmanager(open_without_a_claim)(loops.path(device), Path()),
        pytest.raises(ScratchRefusedError, match="open in process"),
    ):
        root.adopt(device)
    assert loops.content(device) == before


def test_a_disk_says_nothing_that_a_terminal_obeys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attributes = tmp_path / "class/block/sdz/device"
    attributes.mkdir(parents=True)
    (attributes / "model").write_text("DISK\x1b[2J")
    (attributes / "vpd_pg80").write_bytes(b"\0\x80\0\x08SN\x1b]0;root\x07")
    monkeypatch.setattr(sysfs, "_SYS", tmp_path)
    found = Sysfs().identity("sdz")
    assert (found.model, found.serial) == ("DISK\\x1b[2J", "SN\\x1b]0;root\\x07")


@pytest.mark.parametrize("passage", ["class/block/sdz/device/scsi_generic/sg7", "class/nvme-generic/ng0n1"])
def test_a_disk_that_a_machine_uses_through_its_generic_device_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passage: str
) -> None:
    (tmp_path / passage).mkdir(parents=True)
    (tmp_path / passage / "dev").write_text("1:7\n")  # /dev/full
    monkeypatch.setattr(sysfs, "_SYS", tmp_path)
    monkeypatch.setattr(uses, "_OPEN_SECONDS", 0)
    hold = "held = open('/dev/full'); print('held', flush=True); input()"
    with subprocess.Popen((sys.executable, "-c", hold), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as machine:
        assert machine.stdout is not None
        machine.stdout.readline()
        found = uses.lasting_openers(Sysfs(), ["sdz" if "sdz" in passage else "nvme0n1"])
        machine.communicate(b"\n")
    assert machine.pid in found


HANGING: Final = """\
import ctypes, os, sys
fuse = os.open("/dev/fuse", os.O_RDWR)
words = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
assert ctypes.CDLL(None).mount(b"hang", sys.argv[1].encode(), b"fuse", 6, words) == 0
held = os.open(sys.argv[1], os.O_PATH)
print("held", flush=True)
sys.stdin.read()
ctypes.CDLL(None).umount2(sys.argv[1].encode(), 2)
"""


def test_a_process_that_holds_a_file_of_a_dead_file_system_holds_nothing_up(tmp_path: Path) -> None:
    search = "from iotide_agent.scratch.openers import openers; print(openers({1}))"
    with helper(sys.executable, "-S", "-c", HANGING, str(tmp_path)):
        said = subprocess.run((sys.executable, "-c", search), capture_output=True, text=True, timeout=20, check=True)
    assert said.stdout == "[]\n"


DISK: Final = '"wwn-0x5000c500a1b2c3d4"'


@pytest.mark.parametrize(
    "text",
    [
        *(
            "sets = []",
            "[sets.Bays]",
            f'[sets."bays\\n"]\ndevices = [{DISK}]',
            f'[sets."\uff42ays"]\ndevices = [{DISK}]',
        ),
        *(
            f"[sets.a]\ndevices = [{value}]"
            for value in ('"sdb"', '"../sdb"', '"wwn-0x../sdb"', '"wwn-0x5\\n"', f"[{DISK}]")
        ),
        *(f"[sets.a]\ndevices = [{DISK}, {DISK}]", f"[sets.a]\ndevices = [{DISK}]\n[sets.b]\ndevices = [{DISK}]"),
        *(
            f"[sets.a]\ndevices = [{DISK}]\n{more}"
            for more in ("discard = 1", "max_bytes_per_day = inf", "force = true")
        ),
        *(f"[clients]\nnode = {value}" for value in ("1", '"*"', '"10.0.0.0/8"', '"fe80::1%a(rw)"', '["10.0.0.1"]')),
        *('[clients]\n"*" = "10.0.0.1"', "sets = " + "[" * 5000),
    ],
    ids=lambda text: text[:48],
)
def test_a_list_with_odd_values_is_refused_as_a_whole(tmp_path: Path, text: str) -> None:
    file = tmp_path / "scratch.toml"
    file.write_text(text)
    with pytest.raises(ScratchRefusedError, match=str(file)):
        read_config(file)


def test_a_packet_in_another_encoding_is_refused() -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-8-sig"):
        with pytest.raises(ScratchRefusedError, match="request"):
            parse_request('{"verb": "list"}'.encode(encoding))


def test_a_disk_that_root_removes_from_the_list_while_a_request_waits_is_left_alone(
    loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    before = loops.content(device)

    @contextmanager
    def edited(file: Path, patience_seconds: float) -> Iterator[int]:
        with held_lock(file, patience_seconds) as lock:
            loops.list_in("bays", ["serial-other"])
            yield lock

    monkeypatch.setattr(operations, "held_lock", edited)
    assert performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4)["outcome"] == "refused"
    assert loops.content(device) == before


def test_a_full_disk_of_records_does_not_hide_written_bytes(loops: Loops) -> None:
    device = loops.add()
    loops.list_in("bays", [device], "max_bytes_per_day = 1_000\n")
    loops.adopt(device)
    run("mount", "-t", "tmpfs", "-o", "size=64k", "records", str(loops.site.state))
    try:
        with suppress(OSError), (loops.site.state / "filler").open("wb") as filler:
            while True:
                filler.write(bytes(4096))
                filler.flush()
        before = loops.content(device)
        record = performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4)
        assert (record["outcome"], "has no space for the records" in record["reason"]) == ("refused", True)
        assert loops.content(device) == before
    finally:
        run("umount", str(loops.site.state))


def test_requests_that_write_nothing_do_not_fill_the_disk_of_records(loops: Loops) -> None:
    records = Records(loops.site.state, "bays")
    loops.site.state.mkdir()
    for size_bytes in (*(1 for _ in range(50)), 0, -5):
        records.add_written(size_bytes)
    assert records.written_bytes() == 50
    assert len(json.loads((loops.site.state / "bays.written.json").read_text())) <= 2


def test_a_request_that_breaks_the_program_does_not_end_it(loops: Loops, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(service, "page_of_sets", broken)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        said = Service(listening, loops.site, sys.stderr).answer(b'{"verb": "list"}')
    assert "failed to answer: RuntimeError" in said["refused"]


def test_a_command_that_closes_what_it_inherited_keeps_the_lock(loops: Loops) -> None:
    with loops.commands() as commands:  # lvm closes all but its standard input and outputs
        assert commands.run(("readlink", "/proc/self/fd/0")).strip() == str(loops.site.lock_file)


def test_a_mapped_device_of_others_without_a_table_is_not_taken_for_ours(
    loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = (
        "900 None iotide-1234abcd\n901 None vg-of-others\n902 Inactive iotide_1234abcd-scratch\n903 Live iotide-5\n"
    )
    monkeypatch.setattr(mapper, "block_majors", lambda: {mapper.DRIVER: 253})
    with loops.commands() as commands:
        monkeypatch.setattr(commands, "run", lambda _argv: listed)
        assert mapper.unfinished(commands) == [900, 902]
        assert [*mapper.tables(commands)] == [900, 901, 902, 903]


def test_a_listed_copy_of_an_adopted_disk_is_not_allowed_to_the_unit(
    loops: Loops, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, copy = loops.add(), loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    run("dd", f"if={loops.path(device)}", f"of={loops.path(copy)}", "bs=1M", "status=none")
    loops.list_in("bays", [device, copy])
    allowed: list[str] = []
    monkeypatch.setattr(scratch, "allow_disks", lambda names, _changes: allowed.extend(names))
    scratch._allow(loops.site)
    assert allowed == [loops.name(device)]


def test_a_disk_too_small_for_a_mark_is_refused_and_unchanged(loops: Loops) -> None:
    device = loops.add(8 * MIB)
    loops.list_in("bays", [device])
    before = loops.content(device)
    with loops.root(["SN-0"]) as root, pytest.raises(ScratchRefusedError, match="less than 20 MiB"):
        root.adopt(device)
    assert loops.content(device) == before


def test_another_medium_below_the_same_name_is_noticed_by_the_kernels_number(loops: Loops, tmp_path: Path) -> None:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    copy = tmp_path / "copy.image"
    copy.write_bytes(loops.image(device).read_bytes())
    path = run("losetup", "--find", "--show", "--read-only", str(loops.image(device))).strip()
    loops.sysfs.serials[path.removeprefix("/dev/")] = "SN-9"
    try:
        with closing(loops.disk("serial-SN-9")) as disk, copy.open("rb") as other:
            disk.check_same()
            fcntl.ioctl(disk.descriptor, LOOP_CHANGE_FD, other.fileno())
            with pytest.raises(ScratchRefusedError, match="another disk has the name"):
                disk.check_same()
    finally:
        del loops.sysfs.serials[path.removeprefix("/dev/")]
        run("losetup", "--detach", path)


def test_a_copy_of_our_btrfs_that_others_mounted_is_not_handed_over(loops: Loops) -> None:
    device, foreign = loops.add(160 * MIB), loops.add(160 * MIB)
    loops.list_in("bays", [device])
    loops.adopt(device)
    btrfs = {"layout": SINGLE, "fs": {"type": "btrfs"}}
    assert performed(loops, "make", **ORDER, **btrfs)["outcome"] == "done"
    run("dd", f"if={loops.arena(device)}", f"of={loops.path(foreign)}", "bs=1M", "status=none")
    point = loops.site.mounts.parent / "foreign"
    point.mkdir()
    run("mount", "-t", "btrfs", loops.path(foreign), str(point))
    try:
        # Linux 6.7 mounts both, older ones only the first.
        if performed(loops, "mount", **ORDER)["outcome"] == "done":
            ours = run("findmnt", "--noheadings", "--output", "SOURCE", str(loops.site.mounts / "bays"))
            assert ours.strip() == loops.arena(device)
        assert point.stat().st_uid == 0
        assert cleaned(loops)
        assert point.is_mount()
    finally:
        run("umount", str(point))
    assert run("wipefs", "--no-act", "--noheadings", "--output", "TYPE", loops.path(foreign)).strip() == "btrfs"
    run("btrfs", "device", "scan", "--forget", loops.path(foreign), check=False)


def test_a_mount_point_that_others_may_exchange_is_not_used(loops: Loops, tmp_path: Path) -> None:
    made_and_mounted(loops)
    assert performed(loops, "unmount", **ORDER)["outcome"] == "done"
    elsewhere, point = tmp_path / "elsewhere", loops.site.mounts / "bays"
    elsewhere.mkdir()
    point.rmdir()
    point.symlink_to(elsewhere)
    os.lchown(point, LOCAL_USER, LOCAL_USER)
    loops.site.mounts.chmod(0o1777)
    record = performed(loops, "mount", **ORDER)
    assert (record["outcome"], elsewhere.is_mount()) == ("refused", False)
    assert f"belongs to user {LOCAL_USER}" in record["reason"]
    point.unlink()
    loops.site.mounts.chmod(0o777)
    assert "has mode 0777" in performed(loops, "mount", **ORDER)["reason"]
    assert cleaned(loops)


@pytest.mark.parametrize("use", [open_without_a_claim, loop_device_on_top])
def test_an_adopted_disk_that_others_use_as_a_whole_is_not_overwritten(loops: Loops, tmp_path: Path, use: Use) -> None:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    before = loops.content(device)
    with contextmanager(use)(loops.path(device), tmp_path):
        record = performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4)
        assert record["outcome"] == "refused"
        assert "clean by its mark, but" in record["reason"]
        assert loops.content(device) == before


def test_blocks_are_discarded_before_the_proof_and_not_after_it(loops: Loops) -> None:
    device = made_and_mounted(loops)
    loops.list_in("bays", [device], "discard = true\n")
    record = performed(loops, "recover")
    assert record["outcome"] == "done"
    programs = [command["argv"][0] for command in record["commands"]]
    wiping = programs[programs.index("blkdiscard") :]
    assert wiping[:3] == ["blkdiscard", "wipefs", "wipefs"], "a disk may return old data for discarded blocks"
    assert loops.leftovers() == []


def test_another_device_below_the_name_of_an_arena_gets_no_zeros(loops: Loops, monkeypatch: pytest.MonkeyPatch) -> None:
    device = made_and_mounted(loops)
    foreign = loops.add()
    write(loops.path(foreign), b"data of others", 0)
    before = loops.content(foreign)
    arena, aside = Path(loops.arena(device)), Path(f"{loops.arena(device)}.aside")
    write_event = Journal.write

    def exchange(journal: Journal, event: str, **words: Any) -> None:  # noqa: ANN401 - any JSON
        if event == "zeroing":
            arena.rename(aside)
            os.mknod(arena, 0o600 | 0o060000, Path(loops.path(foreign)).stat().st_rdev)
        write_event(journal, event, **words)

    monkeypatch.setattr(Journal, "write", exchange)
    try:
        record = performed(loops, "recover")
        assert record["outcome"] == "dirty"
        assert "is another device than in /sys" in record["reason"]
        assert loops.content(foreign) == before
    finally:
        monkeypatch.undo()
        aside.rename(arena)
    assert cleaned(loops)
