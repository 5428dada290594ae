"""Attacks that need md, LVM, udev or disks that can be pulled: names and copies of others, and hot plug."""

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
from scratch.inside.rig import (
    SET,
    SITE,
    arena_of,
    done,
    leftovers,
    mounts,
    name_of,
    new_order,
    path_of,
    performed,
    run,
    state_of,
)

from iotide_agent.scratch.disk import Disk
from iotide_agent.scratch.listing import all_sets
from iotide_agent.scratch.mapper import PREFIX, named
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.sets import read_config
from iotide_wire.units import MIB

SPARE: Final = "serial-SPARE"
PULLED: Final = SET[0]
SINGLE: Final[dict[str, Any]] = {"layout": {"kind": "single"}, "fs": {"type": "ext4"}}
OFFSET: Final[dict[str, Any]] = {"layout": {"kind": "offset", "start": "63s"}, "fs": {"type": "ext4"}}
LINEAR: Final[dict[str, Any]] = {"layout": {"kind": "lvm", "disks": 2, "lvm": "linear"}, "fs": {"type": "ext4"}}
MIRROR: Final[dict[str, Any]] = {
    "layout": {"kind": "md", "disks": 2, "level": "raid1", "sync": "assume_clean"},
    "fs": {"type": "ext4"},
}


def rows() -> list[dict[str, Any]]:
    (found,) = [found for found in all_sets(SITE, read_config()) if found["set"] == "bays"]
    disks: list[dict[str, Any]] = found["disks"]
    return disks


def content(device: str) -> str:
    run("blockdev", "--flushbufs", path_of(device))
    digest = sha256()
    with Path(path_of(device)).open("rb") as disk:
        while data := disk.read(MIB):
            digest.update(data)
    return digest.hexdigest()


@pytest.fixture
def spare() -> Iterator[str]:
    """Yield a disk of others; take apart what is on it and blank it at the end."""
    yield path_of(SPARE)
    for holder in SITE.sysfs.above(name_of(SPARE)):
        is_md = SITE.sysfs.has(holder, "md")
        run("mdadm", "--stop", f"/dev/{holder}") if is_md else run("dmsetup", "remove", *SITE.sysfs.numbers(holder))
    run("dd", "if=/dev/zero", f"of={path_of(SPARE)}", "bs=1M", "count=420", "conv=fsync")
    run("udevadm", "settle")
    run("blockdev", "--rereadpt", path_of(SPARE))
    run("udevadm", "settle")


def test_a_group_of_others_with_exactly_our_name_stays_whole(spare: str) -> None:
    with closing(Disk(SITE.sysfs, SET[0], locks=False)) as disk:
        group = f"{PREFIX}_{disk.any_adoption().id[:8]}"
    run("lvm", "pvcreate", "-y", spare)
    run("lvm", "vgcreate", group, spare)
    run("lvm", "lvcreate", "-y", "-Wn", "-Zn", "-n", "scratch", "-l", "100%FREE", group)
    theirs = SITE.sysfs.names(name_of(SPARE), "holders")
    assert len(theirs) == 1
    before = content(SPARE)
    record = performed("make", **new_order(), **LINEAR)
    assert record["outcome"] != "done", record
    recovered = performed("recover")
    assert recovered["outcome"] == "done", recovered["reason"]
    assert SITE.sysfs.names(name_of(SPARE), "holders") == theirs
    assert content(SPARE) == before
    assert leftovers() == []


def test_a_forged_mark_with_the_disks_own_identity_is_no_adoption(spare: str) -> None:
    with closing(Disk(SITE.sysfs, SET[0], locks=False)) as disk:
        ours = disk.any_adoption()
    with closing(Disk(SITE.sysfs, SPARE)) as disk:
        forged = replace(ours, id=str(uuid4()), **asdict(disk.identity))
        disk.write_adoption(forged, is_new=False)
        disk.write_table(forged.id)
        disk.read_partitions()
    run("udevadm", "settle")
    before = content(SPARE)
    record = performed("make", name="spare", **new_order(), **SINGLE)
    assert record["outcome"] == "refused", record
    assert "adopted.json does not have its adoption" in record["reason"]
    assert "adopted.json does not have" in performed("recover", name="spare")["answer"]["reasons"][0]
    assert content(SPARE) == before
    assert spare == path_of(SPARE)


def test_a_mapped_device_of_others_with_one_of_our_numbers_stays() -> None:
    run("dmsetup", "create", "theirs-later", "--notable", *named(900))
    try:
        made = done("make", **new_order(), **OFFSET)
        assert "dm-901" in made["geometry"], made["geometry"]
        done("recover")
        assert "theirs-later" in run("dmsetup", "info", "theirs-later")
    finally:
        run("dmsetup", "remove", "theirs-later")
        performed("recover")
    assert leftovers() == []


def test_an_array_of_others_that_copies_ours_is_left_as_it_is(spare: str) -> None:
    done("make", **new_order(), **MIRROR)
    run("dd", f"if=/dev/{arena_of(SET[0])}", f"of={spare}", "bs=1M", "conv=fsync")
    run("udevadm", "settle")
    assert SITE.sysfs.leaves("md900") == {arena_of(SET[0]), arena_of(SET[1])}
    done("recover")
    if not SITE.sysfs.names(name_of(SPARE), "holders"):
        run("mdadm", "--assemble", "/dev/md127", "--run", "--readonly", spare)
    holders, before = SITE.sysfs.names(name_of(SPARE), "holders"), content(SPARE)
    done("make", **new_order(), **MIRROR)
    done("recover")
    assert SITE.sysfs.names(name_of(SPARE), "holders") == holders
    assert content(SPARE) == before
    assert leftovers() == []


@contextmanager
def pulled(device: str) -> Iterator[None]:
    """Pull a disk out of the machine, and bring it back at the end as a new disk of the kernel."""
    (Path("/sys/block", name_of(device), "device/../remove")).resolve().write_text("1")
    run("udevadm", "settle")
    try:
        yield
    finally:
        Path("/sys/bus/pci/rescan").write_text("1")
        run("udevadm", "settle")
    assert name_of(device)


def test_a_pulled_disk_is_noticed_and_its_name_is_not_given_away_while_it_is_open() -> None:
    with closing(Disk(SITE.sysfs, PULLED)) as disk:
        with pulled(PULLED), pytest.raises((ScratchRefusedError, OSError)):
            disk.check_same()
        assert name_of(PULLED) != disk.name
        with pytest.raises((ScratchRefusedError, OSError)):
            disk.check_same()
    assert state_of(PULLED) == "clean"
    assert leftovers() == []


def test_a_disk_pulled_while_mounted_is_named_and_clean_after_its_return() -> None:
    head = new_order()
    done("make", **head, **SINGLE)
    point = Path(done("mount", **head, options={})["mount"])
    try:
        with pulled(PULLED):
            (row,) = [row for row in rows() if row["device"] == PULLED]
            assert (row["state"], row["serial"]) == ("lost", "SCRATCH0"), row
            reasons = done("recover")["reasons"]
            assert "no disk of this node has this identity" in reasons[0]
            assert mounts() == [], reasons
        assert done("recover")["wiped"] == [PULLED]
        assert state_of(PULLED) == "clean"
        head = new_order()
        done("make", **head, **SINGLE)
        done("mount", **head, options={})
        source = run("findmnt", "--noheadings", "--output", "SOURCE", str(point)).split()[-1]
        assert source == f"/dev/{arena_of(PULLED)}"
        done("wipe", **head)
    finally:
        with suppress(AssertionError):
            run("umount", str(point))
    assert leftovers() == []
