"""Root's record of adoptions: a mark that another user wrote is no adoption, and a disk that left is named."""

import json
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
from agent.scratch.loops import Loops, performed

from iotide_agent.cli import scratch
from iotide_agent.scratch import sysfs
from iotide_agent.scratch.disk import Disk, find
from iotide_agent.scratch.listing import disk_row
from iotide_agent.scratch.mark import Adoption
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.sysfs import DiskIdentity, Sysfs

MAKE: Final[dict[str, Any]] = {"order": 7, "fence": 11, "layout": {"kind": "single"}, "fs": {"type": "ext4"}}


@pytest.fixture
def adopted(loops: Loops) -> str:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    return device


def forge(loops: Loops, device: str, adoption: Adoption) -> None:
    """Write a whole mark and its table, as each user can who may write the disk."""
    with closing(Disk(loops.sysfs, device)) as disk:
        disk.write_adoption(adoption, is_new=False)
        disk.write_table(adoption.id)
        disk.read_partitions()


def adoption_on(loops: Loops, device: str) -> Adoption:
    with closing(loops.disk(device)) as disk:
        return disk.any_adoption()


def test_a_forged_mark_with_the_right_identity_and_machine_is_no_adoption(
    loops: Loops, adopted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = loops.add()
    forge(loops, other, replace(adoption_on(loops, adopted), id=str(uuid4()), serial="SN-1"))
    loops.list_in("bays", [other])
    before = loops.content(other)
    assert "adopted.json does not have its adoption" in disk_row(loops.site, other)["problem"]
    assert "adopted.json does not have" in performed(loops, "make", **MAKE)["reason"]
    assert "adopted.json does not have" in performed(loops, "recover")["answer"]["reasons"][0]
    for command in ("adopt", "release"):
        with loops.root(["SN-1"]) as root, pytest.raises(ScratchRefusedError, match="json does not have its adoption"):
            getattr(root, command)(other)
    allowed: list[str] = []
    monkeypatch.setattr(scratch, "allow_disks", lambda names, _changes: allowed.extend(names))
    scratch._allow(loops.site)
    assert (allowed, loops.content(other)) == ([], before)


def test_a_mark_with_another_id_on_an_adopted_disk_is_refused(loops: Loops, adopted: str) -> None:
    forge(loops, adopted, replace(adoption_on(loops, adopted), id=str(uuid4())))
    assert "adopted.json does not have" in performed(loops, "make", **MAKE)["reason"]


def test_disks_of_a_version_without_the_record_are_named_and_taken_over_by_their_serial_number(
    loops: Loops, adopted: str
) -> None:
    assert performed(loops, "make", **MAKE)["outcome"] == "done"
    record = loops.site.state / "adopted.json"
    record.unlink()
    shown = disk_row(loops.site, adopted)
    assert (shown["state"], f"scratch adopt --same-disk {adopted}" in shown["problem"]) == ("made", True)
    assert "adopted.json does not have" in performed(loops, "recover")["answer"]["reasons"][0]
    with loops.root(["wrong"]) as root, pytest.raises(ScratchRefusedError, match="not its serial number"):
        root.adopt_same_disk(adopted)
    assert not record.exists()
    with loops.root(["SN-0"]) as root:
        assert root.adopt_same_disk(adopted) == adoption_on(loops, adopted).id
    assert performed(loops, "recover")["answer"] == {"wiped": [adopted], "reasons": []}
    assert record.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "[]", "{", '{"serial-SN-0": 7}', '{"serial-SN-0": {"id": "x"}}', "[" * 5000])
def test_a_damaged_record_is_named_and_trusts_no_disk(loops: Loops, adopted: str, text: str) -> None:
    (loops.site.state / "adopted.json").write_text(text)
    assert "adopted.json cannot be read" in disk_row(loops.site, adopted)["problem"]
    record = performed(loops, "make", **MAKE)
    assert (record["outcome"], "adopted.json cannot be read" in record["reason"]) == ("refused", True)


def test_an_adopted_disk_that_is_not_there_is_lost_with_serial_number_and_bay_until_root_releases_it(
    loops: Loops, adopted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with loops.root(["SN-0"]) as root:
        monkeypatch.setattr(loops.sysfs, "bay", lambda _name: "Slot 07")
        root.adopt_same_disk(adopted)
    name = loops.name(adopted)
    del loops.sysfs.serials[name]
    try:
        shown = disk_row(loops.site, adopted)
        assert shown["state"] == "lost"
        assert (shown["serial"], shown["bay"]) == ("SN-0", "Slot 07")
        assert shown["problem"] == "SN-0 is adopted, but not there; it was in bay Slot 07 when it was adopted"
        assert disk_row(loops.site, "serial-never")["state"] == "absent"
        with loops.root(["SN-0"]) as root:
            root.release(adopted)
        assert disk_row(loops.site, adopted)["state"] == "absent"
    finally:
        loops.sysfs.serials[name] = "SN-0"
    assert "adopted.json does not have" in disk_row(loops.site, adopted)["problem"]


def test_a_mount_that_a_lost_disk_left_is_unmounted_by_the_next_recovery_or_named(
    loops: Loops, adopted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for verb, words in (("make", MAKE), ("mount", {"order": 7, "fence": 11})):
        assert performed(loops, verb, **words)["outcome"] == "done"
    name, point = loops.name(adopted), loops.site.mounts / "bays"
    own = point.stat().st_dev
    monkeypatch.setattr(loops.sysfs, "has_number", lambda number: number != f"{os.major(own)}:{os.minor(own)}")
    del loops.sysfs.serials[name]
    try:
        with (point / "file").open("w"):
            first, second = performed(loops, "recover")["answer"]["reasons"]
            assert "no disk of this node has this identity" in first
            assert second.startswith(f"its disk is gone, and {point} stays mounted: process {os.getpid()} (")
        performed(loops, "recover")
        assert not point.is_mount()
    finally:
        loops.sysfs.serials[name] = "SN-0"


def test_a_disk_there_twice_is_not_lost(loops: Loops, adopted: str) -> None:
    loops.sysfs.serials[loops.name(loops.add())] = "SN-0"
    shown = disk_row(loops.site, adopted)
    assert (shown["state"], "2 disks have this identity" in shown["problem"]) == ("absent", True)


def test_a_release_forgets_the_adoption(loops: Loops, adopted: str) -> None:
    with loops.root(["SN-0"]) as root:
        root.release(adopted)
    assert json.loads((loops.site.state / "adopted.json").read_text()) == {}


def test_a_disk_that_gets_the_name_between_search_and_open_is_not_taken_for_the_other(
    loops: Loops, adopted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: Callable[[Sysfs, str], str] = find

    def exchanged(kernel: Sysfs, device: str) -> str:
        name = searched(kernel, device)
        loops.sysfs.serials[name] = "SN-9"
        return name

    monkeypatch.setattr("iotide_agent.scratch.disk.find", exchanged)
    with pytest.raises(ScratchRefusedError, match="it changed while it was opened"):
        Disk(loops.sysfs, adopted)


def test_a_path_of_a_native_multipath_disk_is_no_second_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, hidden in (("nvme0n1", "0"), ("nvme0c0n1", "1")):
        for directory in ("block", "class/block"):
            (tmp_path / directory / name).mkdir(parents=True)
        for attribute, text in (("wwid", "eui.0025385b71b0a0a1"), ("size", "131072"), ("hidden", hidden)):
            (tmp_path / "class/block" / name / attribute).write_text(f"{text}\n")
    monkeypatch.setattr(sysfs, "_SYS", tmp_path)
    assert find(Sysfs(), "nvme-eui.0025385b71b0a0a1") == "nvme0n1"
    assert Sysfs().identity("nvme0n1") == DiskIdentity("eui.0025385b71b0a0a1", "", "", 64 * 1024**2)
