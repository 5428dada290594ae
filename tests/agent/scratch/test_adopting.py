"""Adoption on real block devices: it writes free, listed disks only, and a mark holds for one disk of one node."""

import io
import json
import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from agent.scratch.loops import MACHINE, Loops, forget_partitions, run

from iotide_agent.scratch import gpt
from iotide_agent.scratch.disk import Disk
from iotide_agent.scratch.journal import Journal
from iotide_agent.scratch.listing import candidates, disk_row, unlisted
from iotide_agent.scratch.mark import (
    ARENA_TYPE,
    MARK_TYPE,
    MarkCondition,
    MarkState,
    mark_start_bytes,
    packed,
    state_in,
)
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.sets import read_config
from iotide_agent.scratch.sysfs import Sysfs
from iotide_wire.units import MIB


class KilledError(BaseException):
    """Stands for a death of the program at a line of its journal."""


def dying_at(event: str) -> Journal:
    def die(line: dict[str, object]) -> None:
        if line["event"] == event:
            raise KilledError

    return Journal(io.StringIO(), die)


@pytest.fixture
def listed(loops: Loops) -> str:
    device = loops.add()
    loops.list_in("bays", [device])
    return device


def test_an_adopted_disk_shows_two_partitions_of_our_types_and_other_tools_read_both_copies(
    loops: Loops, listed: str
) -> None:
    loops.adopt(listed)
    path = loops.path(listed)
    shown = run("partx", "--pairs", "--output", "NR,START,SECTORS,NAME,TYPE", path).splitlines()
    arena_sectors = (mark_start_bytes(64 * MIB) - MIB) // 512
    assert shown == [
        f'NR="1" START="2048" SECTORS="{arena_sectors}" NAME="iotide-scratch" TYPE="{ARENA_TYPE}"',
        f'NR="2" START="{2048 + arena_sectors}" SECTORS="2048" NAME="iotide-scratch-mark" TYPE="{MARK_TYPE}"',
    ]
    with Path(path).open("r+b") as disk:
        disk.seek(512)
        disk.write(bytes(512))
    spare = run("partx", "--pairs", "--output", "NR,START,SECTORS,NAME,TYPE", path).splitlines()
    assert spare == shown, "libblkid reads the spare copy"


def test_old_data_in_the_arena_is_gone_after_an_adoption(loops: Loops, listed: str) -> None:
    with Path(loops.path(listed)).open("r+b") as disk:
        disk.seek(MIB + 1024 + 56)
        disk.write(b"\x53\xef")
    loops.adopt(listed)
    assert run("wipefs", "--no-act", "--parsable", loops.arena(listed)) == ""
    assert loops.state(listed) == "clean"


def test_an_unlisted_disk_is_not_adopted(loops: Loops, listed: str) -> None:
    other = loops.add()
    before = loops.content(other)
    with loops.root() as root, pytest.raises(ScratchRefusedError, match=f"{other} is in no set"):
        root.adopt(other)
    assert loops.content(other) == before
    assert [row["device"] for row in candidates(loops.site, read_config(loops.config))] == [other]
    del listed


@pytest.mark.parametrize("typed", ["", "SN-1", "yes", "loop0"])
def test_a_wrong_serial_number_changes_nothing(loops: Loops, listed: str, typed: str) -> None:
    before = loops.content(listed)
    with loops.root([typed]) as root, pytest.raises(ScratchRefusedError, match="not its serial number"):
        root.adopt(listed)
    assert loops.content(listed) == before


def test_data_without_a_signature_needs_a_longer_confirmation(loops: Loops, listed: str) -> None:
    Path(loops.path(listed)).write_bytes(os.urandom(4096))
    before = loops.content(listed)
    with loops.root(["SN-0", "yes"]) as root, pytest.raises(ScratchRefusedError, match="not confirmed"):
        root.adopt(listed)
    assert loops.content(listed) == before
    with loops.root(["SN-0", "destroy SN-0"]) as root:
        root.adopt(listed)
    assert loops.state(listed) == "clean"


@pytest.mark.parametrize("event", ["mark_written", "table_written", "zeroing"])
def test_a_killed_adoption_is_completed_under_the_same_id(loops: Loops, listed: str, event: str) -> None:
    with pytest.raises(KilledError), loops.root(["SN-0"], dying_at(event)) as root:
        root.adopt(listed)
    with closing(loops.disk(listed)) as disk:
        first = disk.any_adoption().id
        assert disk.state().condition is MarkCondition.DIRTY
        if event == "mark_written":
            with pytest.raises(ScratchRefusedError, match="partition table is not the one"):
                disk.check_ready(loops.site)
    with loops.root(["SN-0"]) as root:
        assert root.adopt(listed) == first
    assert loops.state(listed) == "clean"


def test_a_clone_and_its_original_are_both_refused(loops: Loops, listed: str) -> None:
    loops.adopt(listed)
    clone = loops.add()
    run("dd", f"if={loops.path(listed)}", f"of={loops.path(clone)}", "bs=1M", "status=none")
    loops.sysfs.read_partitions(loops.name(clone), -1)
    loops.list_in("bays", [listed, clone])
    assert "the mark is of another disk" in disk_row(loops.site, clone)["problem"]
    with loops.root(["SN-1"]) as root, pytest.raises(ScratchRefusedError, match="it has partitions"):
        root.adopt(clone)
    loops.sysfs.serials[loops.name(clone)] = "SN-0"
    assert "2 disks have this identity" in disk_row(loops.site, listed)["problem"]


def test_a_disk_that_grew_has_no_mark_where_it_must_be(loops: Loops, listed: str) -> None:
    loops.adopt(listed)
    os.truncate(loops.image(listed), 65 * MIB)
    run("losetup", "--set-capacity", loops.path(listed))
    assert "not adopted: no mark" in disk_row(loops.site, listed)["problem"]


def test_another_installation_needs_same_disk(loops: Loops, listed: str) -> None:
    loops.adopt(listed)
    loops.site = replace(loops.site, machine_id="f" * 32)
    assert f"adopted on another installation (machine-id {MACHINE})" in disk_row(loops.site, listed)["problem"]
    with loops.root() as root, pytest.raises(ScratchRefusedError, match="--same-disk"):
        root.adopt(listed)
    with loops.root(["SN-0"]) as root:
        root.adopt_same_disk(listed)
    assert disk_row(loops.site, listed)["problem"] is None


def test_a_destroyed_mark_is_refused_and_an_unlisted_dirty_disk_is_named(loops: Loops, listed: str) -> None:
    loops.adopt(listed)
    with closing(Disk(loops.sysfs, listed)) as disk:
        disk.write_state(MarkState(MarkCondition.DIRTY, 3, 4, "ext4", 5))
    loops.config.write_text("")
    assert [(row["device"], row["state"]) for row in unlisted(loops.site, read_config(loops.config))] == [
        (listed, "dirty")
    ]
    with Path(loops.path(listed)).open("r+b") as opened:
        opened.seek(mark_start_bytes(64 * MIB) + 100)
        opened.write(b"torn")
    assert "the mark is torn" in disk_row(loops.site, listed)["problem"]


def test_a_listed_disk_shows_who_adopted_it_and_its_bay(
    loops: Loops, listed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loops.adopt(listed)
    shown = disk_row(loops.site, listed)
    assert (shown["adopted_by"], shown["bay"]) == ("tester", "")
    (tmp_path / "class/block/sdz/device/enclosure_device:Slot 07").mkdir(parents=True)
    monkeypatch.setattr("iotide_agent.scratch.sysfs._SYS", tmp_path)
    assert Sysfs().bay("sdz") == "Slot 07"


def test_a_third_partition_is_refused(loops: Loops, listed: str) -> None:
    loops.adopt(listed)
    with closing(loops.disk(listed)) as disk:
        adoption = disk.any_adoption()
        table = gpt.read(disk.pread, 512)
        assert table is not None
        arena, own = table.partitions
        foreign = replace(arena, name="other", size_bytes=MIB, start_bytes=arena.start_bytes)
        with Path(loops.path(listed)).open("r+b") as opened:
            for offset, data in gpt.blocks(replace(table, partitions=(arena, own, foreign)), 64 * MIB, 512):
                opened.seek(offset)
                opened.write(data)
        with pytest.raises(ScratchRefusedError, match="partition table is not the one of its adoption"):
            disk.check_ready(loops.site)
    del adoption


def test_the_kernels_bounds_of_the_arena_count(loops: Loops, listed: str) -> None:
    loops.adopt(listed)
    forget_partitions(loops.name(listed))
    assert "the kernel shows [] as partitions" in disk_row(loops.site, listed)["problem"]


def test_a_released_disk_is_blank_where_iotide_wrote(loops: Loops, listed: str) -> None:
    blank = loops.content(listed)
    loops.adopt(listed)
    with loops.root(["SN-0"]) as root:
        root.release(listed)
    assert loops.content(listed) == blank


def test_a_disk_that_is_exchanged_while_it_is_open_is_noticed(loops: Loops, listed: str) -> None:
    loops.adopt(listed)
    with closing(Disk(loops.sysfs, listed)) as disk:
        loops.sysfs.serials[disk.name] = "SN-9"
        with pytest.raises(ScratchRefusedError, match="another disk has the name"):
            disk.write_state(MarkState(MarkCondition.CLEAN))


def test_a_torn_state_counts_as_dirty() -> None:
    whole = packed(MarkState(MarkCondition.CLEAN, 5, 6))
    assert state_in(whole) == MarkState(MarkCondition.CLEAN, 5, 6)
    for broken in (bytes(4096), whole.replace(b"clean", b"cleen"), whole[:90].ljust(4096, b"\0")):
        assert state_in(broken) == MarkState(MarkCondition.DIRTY)


@pytest.mark.parametrize("block_bytes", [512, 4096])
def test_a_table_is_read_as_it_was_written_for_both_block_sizes(block_bytes: int) -> None:
    from_disk = bytearray(64 * MIB)
    partition = gpt.Partition(ARENA_TYPE, "iotide-scratch", MIB, 8 * MIB)
    table = gpt.Table(MARK_TYPE, (partition,))
    for offset, data in gpt.blocks(table, len(from_disk), block_bytes):
        from_disk[offset : offset + len(data)] = data
    assert gpt.read(lambda size, at: bytes(from_disk[at : at + size]), block_bytes) == table
    from_disk[block_bytes + 60] ^= 1
    assert gpt.read(lambda size, at: bytes(from_disk[at : at + size]), block_bytes) is None


def test_the_program_itself_refuses_every_device_of_a_test(loops: Loops, listed: str) -> None:
    real = Sysfs()
    assert real.why_unfit(loops.name(listed)) == "it is not a disk of its own, such as a loop, dm, md or network device"
    assert real.identity(loops.name(listed)).device == ""


def test_journal_lines_are_json_with_the_command_before_and_after(loops: Loops, listed: str) -> None:
    stream = io.StringIO()
    with loops.root(["SN-0"], Journal(stream)) as root:
        root.adopt(listed)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    started = [line["argv"] for line in lines if line["event"] == "command_started"]
    assert started == [line["argv"] for line in lines if line["event"] == "command_ended"]
    assert all({"rc", "seconds"} <= line.keys() for line in lines if line["event"] == "command_ended")
