"""Make, mount, unmount, wipe and recover on real block devices, and every order of them."""

import fcntl
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from agent.scratch.loops import Loops, performed, run

from iotide_agent.scratch.listing import all_sets
from iotide_agent.scratch.sets import read_config
from iotide_wire.units import MIB

ORDER: Final[dict[str, Any]] = {"order": 7, "fence": 11}
SINGLE: Final[Any] = {"kind": "single"}
EXT4: Final[Any] = {"type": "ext4"}
CASES: Final[tuple[tuple[str, int, dict[str, Any], dict[str, Any], dict[str, Any]], ...]] = (
    ("ext2", 64, SINGLE, {"type": "ext2", "size_percent": 50}, {"noatime": True}),
    ("ext3", 64, SINGLE, {"type": "ext3", "data": "journal"}, {"commit": 30}),
    ("ext4", 64, SINGLE, {"type": "ext4", "align": "unaligned", "data": "writeback"}, {"nodelalloc": True}),
    ("xfs", 320, SINGLE, {"type": "xfs"}, {"logbufs": 4, "logbsize": "64k"}),
    ("btrfs", 160, SINGLE, {"type": "btrfs"}, {"compress": "zstd"}),
    ("btrfs", 160, {"kind": "btrfs", "disks": 2, "profile": "raid1"}, {"type": "btrfs"}, {"noatime": True}),
)


def ready(loops: Loops, count: int = 1, size_mib: int = 64) -> list[str]:
    devices = [loops.add(size_mib * MIB) for _ in range(count)]
    loops.list_in("bays", devices)
    loops.adopt(*devices)
    return devices


def done(record: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    assert record["outcome"] == "done", record["reason"]
    return record["answer"]


def refused(record: dict[str, Any]) -> str:
    assert record["outcome"] == "refused", record
    return str(record["reason"])


def mounted(loops: Loops) -> str:
    return run("findmnt", "--noheadings", "--output", "FSTYPE,OPTIONS", str(loops.site.mounts / "bays"), check=False)


def is_untouched(loops: Loops, device: str) -> bool:
    return run("wipefs", "--no-act", "--parsable", loops.arena(device)) == ""


@pytest.mark.parametrize(("fstype", "size_mib", "layout", "fs", "options"), CASES, ids=lambda value: str(value)[:24])
def test_a_file_system_is_made_mounted_for_the_agents_user_and_wiped(
    loops: Loops, fstype: str, size_mib: int, layout: dict[str, Any], fs: dict[str, Any], options: dict[str, Any]
) -> None:
    devices = ready(loops, layout.get("disks", 1), size_mib)
    made = done(performed(loops, "make", **ORDER, layout=layout, fs=fs))
    point = Path(made["mount"])
    assert {loops.state(device) for device in devices} == {"made"}
    done(performed(loops, "mount", **ORDER, options=options))
    shown = mounted(loops)
    assert shown.split()[0] == fstype
    assert {"nodev", "nosuid"} <= set(shown.split()[1].split(","))
    for name, value in options.items():
        assert name in shown if value is True else f"{name}={value}" in shown
    assert (point.stat().st_uid, point.stat().st_gid, point.stat().st_mode & 0o7777) == (65534, 65534, 0o700)
    assert loops.site.mounts.stat().st_mode & 0o777 == 0o755
    (point / "file").write_bytes(os.urandom(MIB))
    if fs.get("size_percent"):
        assert os.statvfs(point).f_blocks * os.statvfs(point).f_frsize < size_mib * MIB * 0.55
    done(performed(loops, "unmount", **ORDER))
    assert mounted(loops) == ""
    done(performed(loops, "wipe", **ORDER))
    assert {loops.state(device) for device in devices} == {"clean"}
    assert all(is_untouched(loops, device) for device in devices)


def test_geometry_is_read_back_as_facts(loops: Loops) -> None:
    ready(loops)
    facts = done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4 | {"align": "unaligned"}))["geometry"]["fs"]
    assert facts["block_bytes"] == 4096
    assert (facts["stride_blocks"], facts["stripe_width_blocks"]) == (1, 1)


def test_the_same_order_makes_once_and_returns_the_first_answer(loops: Loops) -> None:
    ready(loops)
    first = performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4)
    again = performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4)
    assert done(first) == done(again)
    assert again["commands"] == []
    assert "has made another layout" in refused(performed(loops, "make", **ORDER, layout=SINGLE, fs={"type": "ext2"}))


@pytest.mark.parametrize("verb", ["make", "wipe", "recover"])
def test_an_older_order_or_another_attempt_of_the_same_is_refused(loops: Loops, verb: str) -> None:
    (device,) = ready(loops)
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    making = {"layout": SINGLE, "fs": EXT4} if verb == "make" else {}
    assert "is older than 7" in refused_or_dirty(performed(loops, verb, order=6, fence=11, **making))
    assert "another fence" in refused_or_dirty(performed(loops, verb, order=7, fence=12, **making))
    done(performed(loops, "wipe", **ORDER))
    assert "is older than 7" in refused_or_dirty(performed(loops, "wipe", order=6, fence=11))
    assert loops.state(device) == "clean"


def refused_or_dirty(record: dict[str, Any]) -> str:
    assert record["outcome"] in {"refused", "dirty"}, record
    return str(record["reason"])


def test_a_newer_order_waits_for_a_recovery_of_the_older_one(loops: Loops) -> None:
    ready(loops)
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    newer: dict[str, Any] = {"order": 8, "fence": 3}
    assert "dirty by order 7; recover the set first" in refused(
        performed(loops, "make", **newer, layout=SINGLE, fs=EXT4)
    )
    assert done(performed(loops, "recover"))["wiped"] == ["serial-SN-0"]
    done(performed(loops, "make", **newer, layout=SINGLE, fs=EXT4))
    assert "was made last by order 8" in refused(performed(loops, "mount", **ORDER))


def test_a_foreign_file_system_on_a_clean_arena_is_named_and_left_whole(loops: Loops) -> None:
    (device,) = ready(loops)
    run("mkfs.ext4", "-q", "-F", loops.arena(device))
    before = loops.content(device)
    reason = refused(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    assert reason == f"{device}: clean by its mark, but it holds ext4"
    assert done(performed(loops, "recover"))["reasons"] == [f"left alone: {reason}"]
    assert loops.content(device) == before


def test_a_mounted_foreign_file_system_is_not_unmounted(loops: Loops, tmp_path: Path) -> None:
    (device,) = ready(loops)
    point = tmp_path / "point"
    point.mkdir()
    run("mkfs.ext4", "-q", "-F", loops.arena(device))
    run("mount", loops.arena(device), str(point))
    try:
        assert "reports that its arena is in use" in done(performed(loops, "recover"))["reasons"][0]
        assert point.is_mount()
    finally:
        run("umount", str(point))


def test_a_file_that_is_held_open_leaves_the_set_dirty_and_names_the_process(loops: Loops) -> None:
    (device,) = ready(loops)
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    point = Path(done(performed(loops, "mount", **ORDER))["mount"])
    with (point / "file").open("w"):
        for verb, words in (("unmount", ORDER), ("wipe", ORDER), ("recover", {})):
            record: dict[str, Any] = performed(loops, verb, **words)
            assert record["outcome"] == "dirty"
            assert f"stays mounted: process {os.getpid()} (" in record["reason"]
        assert loops.state(device) == "made"
    loops.site = replace(loops.site, patience_seconds=60.0)  # a namespace of another test may end slowly
    done(performed(loops, "recover"))
    assert loops.state(device) == "clean"


def test_a_mount_in_another_namespace_is_unmounted_there(loops: Loops) -> None:
    (device,) = ready(loops)
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    done(performed(loops, "mount", **ORDER))
    script = "mount --make-rprivate / && echo apart && read _"
    with subprocess.Popen(
        ("unshare", "--mount", "sh", "-c", script), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as apart:
        assert apart.stdout is not None
        assert apart.stdout.readline() == "apart\n"
        # Another test may copy all mounts into a namespace of its own at any moment, and end soon.
        assert any(performed(loops, "recover")["outcome"] == "done" for _ in range(20))
        assert loops.state(device) == "clean"
        apart.communicate("\n", timeout=30)


def test_a_btrfs_with_a_foreign_member_is_not_undone(loops: Loops, tmp_path: Path) -> None:
    (device,) = ready(loops, size_mib=160)
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs={"type": "btrfs"}))
    point = Path(done(performed(loops, "mount", **ORDER))["mount"])
    image = tmp_path / "foreign.image"
    with image.open("wb") as empty:
        empty.truncate(160 * MIB)
    foreign = run("losetup", "--find", "--show", str(image)).strip()
    try:
        run("btrfs", "device", "add", "-K", foreign, str(point))
        record: dict[str, Any] = performed(loops, "recover")
        assert record["outcome"] == "dirty"
        assert f"a Btrfs here is also on {foreign.removeprefix('/dev/')}" in record["reason"]
        assert point.is_mount()
        run("btrfs", "device", "remove", foreign, str(point))
    finally:
        if point.is_mount():
            run("umount", str(point))
        run("losetup", "--detach", foreign)
    done(performed(loops, "recover"))
    assert loops.state(device) == "clean"


def test_bytes_of_a_day_bound_the_makes(loops: Loops) -> None:
    devices = ready(loops)
    loops.list_in("bays", devices, "max_bytes_per_day = 1_000_000\n")
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    done(performed(loops, "wipe", **ORDER))
    reason = refused(performed(loops, "make", order=8, fence=1, layout=SINGLE, fs=EXT4))
    assert "max_bytes_per_day is 1000000" in reason


def test_a_living_child_of_a_dead_program_holds_the_next_operation_back_and_is_named(loops: Loops) -> None:
    ready(loops)
    held = os.open(loops.site.lock_file, os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    with subprocess.Popen(("sleep", "60"), pass_fds=(held,)) as child:
        os.close(held)
        assert f"is running: process {child.pid} (sleep)" in refused(performed(loops, "recover"))
        child.kill()
    done(performed(loops, "recover"))


def test_refusals_before_any_command(loops: Loops) -> None:
    ready(loops)
    small = refused(performed(loops, "make", **ORDER, layout=SINGLE, fs={"type": "xfs"}))
    assert small.startswith("xfs needs 314572800 bytes")
    many = {"kind": "btrfs", "disks": 2, "profile": "raid1"}
    assert "set bays has 1 disks, not 2" in refused(
        performed(loops, "make", **ORDER, layout=many, fs={"type": "btrfs"})
    )
    assert "no record of a make" in refused(performed(loops, "mount", **ORDER))
    assert "has no address of node02" in exported(loops)
    loops.config.chmod(0o666)
    assert "has mode 0666" in refused(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))


def exported(loops: Loops) -> str:
    return refused(performed(loops, "export", **ORDER, kind="nfs", clients=["node02"]))


def test_root_wipes_a_set_by_its_typed_name_and_order_numbers_begin_again(loops: Loops) -> None:
    (device,) = ready(loops)
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    with loops.root(["bays"]) as root:
        assert root.wipe("bays") == []
    assert loops.state(device) == "clean"
    done(performed(loops, "make", order=1, fence=1, layout=SINGLE, fs=EXT4))


def test_a_list_shows_state_order_and_a_missing_disk(loops: Loops) -> None:
    devices = ready(loops)
    loops.list_in("bays", [*devices, "serial-absent"])
    done(performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4))
    (shown,) = all_sets(loops.site, read_config(loops.config))
    first, second = shown["disks"]
    assert (first["state"], first["order"], first["variant"]) == ("made", 7, "single / ext4 / default")
    assert (second["state"], second["problem"]) == ("absent", "serial-absent: no disk of this node has this identity")
