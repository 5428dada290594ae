from dataclasses import replace

import pytest
from factories.advised import advice_of, cell, measured, numbers, rate

from iotide_server.advice.findings import Advice, Fine, Severity, Unknown
from iotide_server.advice.registry import advise
from iotide_server.advice.rules.bursts import bursts
from iotide_server.advice.rules.cache_size import cached_sizes
from iotide_server.advice.rules.cliffs import cliffs
from iotide_server.advice.scene import MountedTarget, Scene, ScenePoint
from iotide_wire.facts import Facts
from iotide_wire.units import GIB, KIB

MEMORY: Facts = {"memory.total_bytes": 16 * GIB}
GB, MB = 10**9, 1e6


def sizes(*levels: tuple[int, tuple[float, ...]], operation: str = "write") -> list[ScenePoint]:
    return [
        rate(cell(facts=MEMORY, file_size_bytes=size), *runs, file_size_bytes=size, operation=operation)
        for size, runs in levels
    ]


def test_files_as_large_as_the_memory_measure_the_cache_as_in_wesleyans_limit_of_12_gb() -> None:
    wesleyan = cell(workload="iozone", facts={"memory.total_bytes": 12 * GIB}, file_size_bytes=12 * GIB, flush="fsync")
    advice = advice_of(list(cached_sizes(measured(rate(wesleyan, 1.0, file_size_bytes=12 * GIB)))))
    assert advice.commands == ("file_size_bytes: 24 GiB", "flush: direct")
    assert numbers(advice)["memory.total_bytes"] == 12 * GIB
    assert advice.evidence[0].run_ids == wesleyan.run_ids


def small(target: str = "disk", *, campaign: int = 9, free: int | None = None) -> ScenePoint:
    """1 GiB on a node of 16 GiB."""
    of = cell(target, facts=MEMORY, file_size_bytes=GIB, flush="fsync")
    return rate(replace(of, campaign_id=campaign, free_bytes=free), 1.0, file_size_bytes=GIB)


def test_a_size_that_has_no_room_on_the_target_is_no_remedy() -> None:
    advice = advice_of(list(cached_sizes(measured(small(free=35 * GIB)))))
    assert advice.commands == ("flush: direct",)
    assert advice.remedy.startswith("Bypass the cache with O_DIRECT. disk has 35 GiB free.")
    advice = advice_of(list(cached_sizes(measured(small(free=36 * GIB)))))
    assert advice.commands == ("file_size_bytes: 32 GiB", "flush: direct")


def test_o_direct_that_the_file_system_refuses_is_no_remedy() -> None:
    refused = replace(small(), flags=frozenset({"NO_DIRECT"}))
    assert advice_of(list(cached_sizes(measured(refused)))).commands == ("file_size_bytes: 32 GiB",)
    neither = replace(small(free=GIB), flags=frozenset({"NO_DIRECT"}))
    advice = advice_of(list(cached_sizes(measured(neither))))
    assert advice.commands == ()
    assert advice.remedy.startswith("The cache cannot be avoided on disk")


def test_o_direct_is_named_as_the_workload_names_it() -> None:
    of_bonnie = cell(workload="bonnie", facts=MEMORY, file_size_bytes=GIB, direct=False)
    advice = advice_of(list(cached_sizes(measured(rate(of_bonnie, 1.0, file_size_bytes=GIB)))))
    assert advice.commands == ("file_size_bytes: 32 GiB", "direct: true")


def test_the_same_finding_is_reported_once_with_all_targets_and_campaigns() -> None:
    points = [small("disk", campaign=3), small("disk", campaign=7), small("raid", campaign=7)]
    report = advise(measured(*points))
    [entry] = [entry for entry in report.advice if entry.code == "fits_in_memory"]
    assert entry.subjects == ["dd on disk from node07", "dd on raid from node07"]
    assert "This affects campaigns 3, 7." in entry.explanation


def test_a_target_in_memory_is_reported_once_without_advice_on_its_cache() -> None:
    facts = MEMORY | {"mount.fstype": "tmpfs"}
    points = [
        rate(cell("shm", facts=facts, file_size_bytes=size * GIB, flush="fsync"), rates, file_size_bytes=size * GIB)
        for size, rates in ((1, 900.0), (2, 905.0), (4, 90.0), (8, 91.0))
    ]
    sites = tuple(MountedTarget("shm", node, "/memory", "tmpfs", facts) for node in ("n1", "n2"))
    report = advise(Scene(sites, points))
    assert [entry.code for entry in report.advice] == ["target_is_memory", "cliff"]
    memory, cliff = report.advice
    assert (cliff.remedy, cliff.commands) == ("State both levels, each with its sizes.", [])
    assert memory.subjects == ["shm on n1", "shm on n2"]
    assert memory.title == "This target is memory (tmpfs): results measure memory, not storage"


def test_several_writers_move_more_and_need_smaller_files() -> None:
    four = cell(facts=MEMORY, file_size_bytes=4 * GIB, writers=4)
    advice = advice_of(list(cached_sizes(measured(rate(four, 1.0, file_size_bytes=4 * GIB)))))
    assert advice.commands[0] == "file_size_bytes: 8 GiB"
    enough = cell(facts=MEMORY, file_size_bytes=8 * GIB, writers=4)
    (found,) = cached_sizes(measured(rate(enough, 1.0, file_size_bytes=8 * GIB)))
    assert isinstance(found, Fine)


def test_direct_io_may_be_small_and_an_unknown_memory_is_reported() -> None:
    direct = rate(cell(facts=MEMORY, file_size_bytes=GIB), 1.0, file_size_bytes=GIB, direct=True)
    assert list(cached_sizes(measured(direct))) == []
    (found,) = cached_sizes(measured(rate(cell(file_size_bytes=GIB), 1.0, file_size_bytes=GIB)))
    assert isinstance(found, Unknown)
    assert "memory.total_bytes is missing in run" in found.because


def test_a_cliff_is_reported_with_its_edge_its_depth_and_the_matching_memory() -> None:
    fast, slow = (2000 * MB, 2020 * MB, 1980 * MB, 2010 * MB), (140 * MB, 150 * MB, 145 * MB, 142 * MB)
    points = sizes((4 * GIB, fast), (8 * GIB, fast), (16 * GIB, slow), (32 * GIB, slow), operation="read")
    advice = advice_of(list(cliffs(measured(*points))))
    assert advice.title == "Throughput drops between a file size of 8 GiB and 16 GiB, to 7.16 %"
    assert "memory.total_bytes of node07 (16 GiB)" in advice.explanation
    assert "6.93 % to 7.58 % of it over all runs" in advice.explanation
    assert advice.severity is Severity.MEDIUM
    assert (advice.commands[0], numbers(advice)["read at 16 GiB"]) == ("file_size_bytes: 32 GiB", 143.5 * MB)


def test_the_limit_of_dirty_pages_suits_a_fall_of_writes_before_the_memory_is_full() -> None:
    facts = MEMORY | {"cache.dirty_percent": 20}
    points = [
        rate(cell(facts=facts, file_size_bytes=size), *(level * MB for level in runs), file_size_bytes=size)
        for size, runs in (
            (GIB, (900, 905, 910, 901)),
            (2 * GIB, (890, 895, 900, 891)),
            (4 * GIB, (300, 310, 305, 301)),
            (8 * GIB, (200, 210, 205, 201)),
        )
    ]
    advice = advice_of(list(cliffs(measured(*points))))
    assert "cache.dirty_percent of the memory of node07 (3.2 GiB)" in advice.explanation
    assert "memory.total_bytes of" not in advice.explanation


def test_local_disk_of_nus_falls_by_half_at_10_gb_and_single_runs_do_not_show_it() -> None:
    seconds = {4: 261.48, 8: 371.11, 10: 928.83, 20: 1830.89}
    points = [
        rate(cell("local", file_size_bytes=size * GB), size * GB / took, file_size_bytes=size * GB)
        for size, took in seconds.items()
    ]
    unknown, advice = cliffs(measured(*points))
    assert isinstance(unknown, Unknown)
    assert isinstance(advice, Advice)
    assert advice.title == "Throughput drops between a file size of 7.45 GiB and 9.31 GiB, to 50.7 %"
    assert "with 1 run per size, too few to confirm it" in advice.explanation
    assert advice.severity is Severity.LOW


@pytest.mark.parametrize(
    "levels",
    [
        # GPFS of NUS: the fall is followed by a recovery
        {4: 4 / 161.46, 8: 8 / 266.11, 10: 10 / 457.83, 20: 20 / 551.32},
        {256: 5250, 512: 5606, 1024: 5819, 2048: 5841},  # Vlbistreamer of INAF
        {1: 100, 2: 99, 4: 98},
    ],
)
def test_levels_that_rise_or_come_back_are_no_cliff(levels: dict[int, float]) -> None:
    points = [
        rate(cell(file_size_bytes=size * KIB), level, file_size_bytes=size * KIB) for size, level in levels.items()
    ]
    (found,) = cliffs(measured(*points))
    assert isinstance(found, Fine)


def test_runs_that_scatter_over_the_fall_show_none() -> None:
    noisy = [(900 * MB, 300 * MB, 910 * MB, 905 * MB), (500 * MB, 310 * MB, 890 * MB, 300 * MB)]
    points = sizes((GIB, noisy[0]), (2 * GIB, noisy[0]), (4 * GIB, noisy[1]))
    (found,) = cliffs(measured(*points))
    assert isinstance(found, Fine)


def test_sweeps_of_one_surface_that_fall_at_the_same_size_are_one_advice() -> None:
    surface = cell(workload="iozone", facts=MEMORY, mode="auto")
    points = [
        rate(surface, level, operation=operation, record_size_bytes=record * KIB, file_size_bytes=size * GIB)
        for operation in ("read", "reread")
        for record in (64, 128)
        for size, level in ((4, 900), (8, 910), (16, 90), (32, 80))
    ]
    advice = [found for found in cliffs(measured(*points)) if isinstance(found, Advice)]
    assert len(advice) == 1
    assert advice[0].explanation.startswith("read, reread: from 910 B/s at 8 GiB to at most 90 B/s from 16 GiB on")


def test_the_memory_of_the_storage_node_of_a_target_counts_too() -> None:
    server = MountedTarget("bricks", "server1", "/srv", "/dev/sdb", {"memory.total_bytes": 64 * GIB}, is_below=True)
    levels = [(GIB * size, (level,)) for size, level in ((16, 900.0), (32, 910.0), (64, 100.0))]
    scene = Scene((server,), sizes(*levels))
    advice = next(found for found in cliffs(scene) if isinstance(found, Advice))
    assert "memory.total_bytes of server1 (64 GiB)" in advice.explanation


def test_record_sizes_are_held_against_the_limits_of_a_transfer() -> None:
    facts = MEMORY | {"nfs.wsize_bytes": 64 * KIB}
    points = [
        rate(cell(facts=facts, block_size_bytes=size * KIB), *(level + run for run in range(4)))
        for size, level in ((16, 900.0), (64, 910.0), (256, 400.0), (1024, 390.0))
    ]
    advice = advice_of(list(cliffs(measured(*points))))
    assert "nfs.wsize_bytes of node07 (64 KiB)" in advice.explanation
    assert advice.commands == ("block_size_bytes: 65536",)


def lengths(*levels: tuple[float, tuple[float, ...]], option: str = "runtime_seconds") -> list[ScenePoint]:
    of = cell(workload="fio")
    return [rate(replace(of, options={option: seconds}), *runs, operation="write") for seconds, runs in levels]


@pytest.mark.parametrize("option", ["runtime_seconds", "duration_seconds", "stonewall_seconds"])
def test_a_rate_that_falls_with_the_length_of_the_run_is_a_burst(option: str) -> None:
    high, low = (300 * MB, 301 * MB, 299 * MB, 300 * MB), (100 * MB, 101 * MB, 100 * MB, 99 * MB)
    points = lengths((30, high), (300, high), (1800, low), (3600, low), option=option)
    advice = advice_of(list(bursts(measured(*points))))
    assert (advice.code, advice.severity) == ("burst", Severity.MEDIUM)
    assert advice.title == "Runs of 30 min and more reach 33.3 % of the rate of shorter ones"
    assert "300 MB/s in runs of" in advice.explanation


def test_a_steady_rate_and_a_single_length_are_no_burst() -> None:
    level = (300 * MB, 301 * MB, 299 * MB, 300 * MB)
    (found,) = bursts(measured(*lengths((30, level), (300, level), (1800, level), (3600, level))))
    assert isinstance(found, Fine)
    assert list(bursts(measured(*lengths((30, level))))) == []
