"""Flags that a workload raises from its own steps, with inputs just below each limit."""

from dataclasses import replace
from pathlib import Path

import pytest
from agent.judging.rows import done, flags_of
from factories.outcomes import MEMORY_BYTES, make_place

from iotide_agent.workloads.base import Before
from iotide_agent.workloads.quality import judge_cache_drop, judge_cache_size, judge_clock
from iotide_wire.facts import Facts
from iotide_wire.measured import Flag, FlagCode


@pytest.mark.parametrize(
    ("tool_seconds", "wall_seconds", "is_wrong"),
    [(60.5, 60.0, False), (60.7, 60.0, True), (10.0, 60.0, False), (0.108, 0.1, False), (0.112, 0.1, True)],
)
def test_a_tool_cannot_have_worked_longer_than_its_process_lived(
    tool_seconds: float, wall_seconds: float, *, is_wrong: bool
) -> None:
    flags = flags_of(judge_clock(done(seconds=wall_seconds), tool_seconds))
    assert [flag.code for flag in flags] == ([FlagCode.TOOL_CLOCK] if is_wrong else [])


@pytest.mark.parametrize(("place_bytes", "is_small"), [(MEMORY_BYTES, False), (MEMORY_BYTES - 1, True)])
def test_concurrent_writes_to_other_targets_fill_the_same_memory(
    tmp_path: Path, place_bytes: int, *, is_small: bool
) -> None:
    place = replace(make_place(tmp_path), target_count=2)
    flags = flags_of(judge_cache_size(place, place_bytes, direct=False))
    assert [flag.code for flag in flags] == ([FlagCode.CACHE_SIZE] if is_small else [])
    assert judge_cache_size(place, place_bytes, direct=True) == []


@pytest.mark.parametrize(
    ("fstype", "kept"),
    [
        ("gpfs", "the pagepool of GPFS"),
        ("zfs", "the ARC of ZFS, which only shrinks"),
        ("fuse.glusterfs", "the caches of the program behind fuse.glusterfs"),
        ("fuse.ceph-fuse", "the caches of the program behind fuse.ceph-fuse"),
        ("fuseblk", None),
        ("ext4", None),
        ("nfs4", None),
        ("lustre", None),
    ],
)
def test_a_drop_counts_only_where_it_empties_what_the_file_system_reads_from(
    tmp_path: Path, fstype: str, kept: str | None
) -> None:
    place = replace(make_place(tmp_path), fstype=fstype)
    for before in (Before.DROP, Before.DROP_FILES):
        flags = flags_of(judge_cache_drop(place, replace(done("read"), before_done=before), direct=False))
        assert [flag.measured for flag in flags] == (
            [f"read began warm: {before} does not empty {kept}"] if kept else []
        )
        assert judge_cache_drop(place, replace(done("read"), before_done=before), direct=True) == flags
    for before in (Before.REMOUNT, Before.LARGER_THAN_MEMORY):
        assert judge_cache_drop(place, replace(done("read"), before_done=before), direct=False) == []
    [flag] = flags_of(judge_cache_drop(place, done("read"), direct=False))
    assert flag.measured == "read began warm: only sync was done before it"


def test_a_target_in_memory_is_flagged_as_that_and_o_direct_does_not_help(tmp_path: Path) -> None:
    [flag] = judge_cache_size(replace(make_place(tmp_path), fstype="tmpfs"), 100 * MEMORY_BYTES, direct=True)
    assert isinstance(flag, Flag)
    assert (flag.code, flag.measured) == (
        FlagCode.CACHE_SIZE,
        "the target is in memory (tmpfs), so memory is measured",
    )
    assert "memory" not in flag.limit


def test_twice_the_memory_is_no_limit_to_reach_where_it_has_no_room(tmp_path: Path) -> None:
    roomy = replace(make_place(tmp_path), free_bytes=2 * MEMORY_BYTES)
    [flag] = judge_cache_size(roomy, 1, direct=False)
    assert isinstance(flag, Flag)
    assert flag.limit == "2 x memory = 16 GiB, or O_DIRECT"
    [flag] = judge_cache_size(replace(roomy, free_bytes=1024**3), 1, direct=False)
    assert isinstance(flag, Flag)
    assert flag.limit == "2 x memory = 16 GiB, but 1 GiB are free; use O_DIRECT"


@pytest.mark.parametrize(
    ("fstype", "facts", "kept"),
    [
        ("zfs", {}, "the ARC of ZFS, which only shrinks"),
        ("zfs", {"zfs.direct": "disabled"}, "the ARC of ZFS, which only shrinks"),
        ("zfs", {"zfs.direct": "standard"}, None),
        ("zfs", {"zfs.direct": "always"}, None),
        ("fuse.sshfs", {}, "the caches of the program behind fuse.sshfs"),
        ("gpfs", {}, "the pagepool of GPFS"),
        ("fuseblk", {}, "the page cache of the disk below fuseblk"),
        ("ext4", {}, None),
    ],
)
def test_o_direct_silences_no_flag_where_the_file_system_has_a_cache_of_its_own(
    tmp_path: Path, fstype: str, facts: Facts, kept: str | None
) -> None:
    made = make_place(tmp_path)
    place = replace(made, fstype=fstype, facts=made.facts | facts)
    sizes = flags_of(judge_cache_size(place, 2**30, direct=True))
    assert [(flag.code, flag.measured, flag.limit) for flag in sizes] == (
        [(FlagCode.CACHE_SIZE, f"1 GiB of data; O_DIRECT does not bypass {kept}", "2 x memory = 16 GiB")]
        if kept
        else []
    )
    assert judge_cache_size(place, 2 * MEMORY_BYTES, direct=True) == []
    warm = flags_of(judge_cache_drop(place, done("read"), direct=True))
    assert [flag.measured for flag in warm] == (["read began warm: only sync was done before it"] if kept else [])
    remounted = replace(done("read"), before_done=Before.REMOUNT)
    assert judge_cache_drop(place, remounted, direct=True) == []
