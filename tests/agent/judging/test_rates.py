"""STEADY, CLIENT_BOUND and FOREIGN_LOAD: inputs that raise each flag, and inputs just below the limit."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from agent.judging.rows import MEGABYTE, Counters, done, flags_of, phase, place, sample

from iotide_agent.judging.client import judge_client
from iotide_agent.judging.foreign import judge_foreign
from iotide_agent.judging.phases import ParallelSteps
from iotide_agent.judging.run import read_rows
from iotide_agent.judging.share import measure_foreign
from iotide_agent.judging.steady import judge_steady
from iotide_agent.workloads.base import Before, Place, StepOutcome
from iotide_wire.measured import FlagCode, StepRole

READS: Counters = {"read_bytes_per_second": 100 * MEGABYTE, "write_bytes_per_second": 0.0}


def wrote(rate: float | Callable[[int], float], **more: float) -> Counters:
    return {"read_bytes_per_second": 0.0, "write_bytes_per_second": rate, **more}


def ramp(change: float) -> Counters:
    """Return a rate that falls evenly; the centres of its windows are four fifths of the whole change apart."""
    return wrote(lambda second: 100 * MEGABYTE * (1 + change / 0.8 * (0.5 - second / 60)))


@pytest.mark.parametrize(("change", "is_steady"), [(0.09, True), (0.11, False), (-0.11, False)])
def test_a_rate_may_rise_or_fall_by_a_tenth_of_its_mean(change: float, *, is_steady: bool) -> None:
    assert (flags_of(judge_steady(phase(done(), ramp(change)))) == []) is is_steady


@pytest.mark.parametrize(("dip", "is_steady"), [(0.82, True), (0.78, False)])
def test_windows_may_range_over_a_fifth_of_their_mean(dip: float, *, is_steady: bool) -> None:
    in_the_middle = wrote(lambda second: 100 * MEGABYTE * (dip if 25 <= second <= 36 else 1))
    assert (flags_of(judge_steady(phase(done(), in_the_middle))) == []) is is_steady


def sequence(gap_seconds: float, **seconds: float) -> ParallelSteps:
    """Return operations of 3 GB that took so long each, at 100 MB/s but the last one, which falls to half its rate."""
    *_, last = seconds
    begin = sum(took for name, took in seconds.items() if name != last)
    of_rows = wrote(lambda second: (100 if second <= begin + gap_seconds + seconds[last] / 2 else 50) * MEGABYTE)
    wall_seconds = sum(seconds.values()) + gap_seconds
    outcome = done("iozone", seconds=wall_seconds, is_even=False)
    size = {"file_size_bytes": 3 * 10**9}
    samples = tuple(
        sample(name, **size, writer=writer).model_copy(update={"value": 3e9 / took})
        for name, took in seconds.items()
        for writer in (1, 2)
    )
    made = phase(replace(outcome, step=replace(outcome.step, is_sequence=True)), of_rows, int(wall_seconds))
    return replace(made, samples=samples)


def test_each_long_operation_of_a_sequence_is_judged_by_its_own_seconds() -> None:
    [flag] = flags_of(judge_steady(sequence(2.0, write=40.0, rewrite=5.0, read=60.0)))
    assert flag.labels == {"operation": "read", "file_size_bytes": 3 * 10**9}
    assert flag.measured.startswith("iozone read: windows of 11.6 s at ")
    assert flags_of(judge_steady(sequence(2.0, write=40.0, rewrite=30.0, read=20.0))) == []


def test_operations_that_cannot_be_placed_in_time_are_not_judged() -> None:
    assert flags_of(judge_steady(sequence(40.0, write=40.0, read=60.0))) == []


def test_an_unsteady_phase_is_flagged_with_its_windows() -> None:
    [flag] = flags_of(
        judge_steady(phase(done(), wrote(lambda second: 200 * MEGABYTE if second <= 12 else 100 * MEGABYTE)))
    )
    assert (flag.code, flag.effect, flag.labels) == (FlagCode.STEADY, "marked", {"operation": "write"})
    assert flag.measured == (
        "write: windows of 12 s at 200 MB/s, 100 MB/s, 100 MB/s, 100 MB/s, 100 MB/s: "
        "range 83.3 % of the mean, slope \u221266.7 %"
    )


def test_a_target_that_is_done_before_another_is_not_unsteady() -> None:
    quick, slow = done("quick", seconds=30.0), done("slow", seconds=60.0)
    together = phase(quick, wrote(lambda second: (300 if second <= 30 else 100) * MEGABYTE))
    assert flags_of(judge_steady(replace(together, outcomes=(quick, slow)))) == []
    assert flags_of(judge_steady(replace(together, outcomes=(slow,)))) != []


@pytest.mark.parametrize(("seconds", "is_judged"), [(24, False), (25, True)])
def test_windows_shorter_than_the_writeback_period_are_not_compared(seconds: int, *, is_judged: bool) -> None:
    assert bool(flags_of(judge_steady(phase(done(), ramp(1.0), seconds)))) is is_judged


def test_a_step_of_several_tests_has_no_rate_of_its_own() -> None:
    assert flags_of(judge_steady(phase(done("iozone", is_even=False), ramp(1.0)))) == []
    assert flags_of(judge_steady(phase(done(), wrote(0.0)))) == []


def test_a_cache_that_takes_bytes_in_bursts_is_judged_at_the_disk_behind_it() -> None:
    moved = done(bytes_moved=round(6_000 * MEGABYTE))
    bursts = wrote(lambda second: 500 * MEGABYTE if second <= 12 else 0.0, disk_read_bytes_per_second=0.0)
    even, uneven = (lambda _second: 100 * MEGABYTE), (lambda second: 100 * MEGABYTE * (1.5 if second < 30 else 0.5))
    assert flags_of(judge_steady(phase(moved, {**bursts, "disk_write_bytes_per_second": even}))) == []
    assert flags_of(judge_steady(phase(moved, {**bursts, "disk_write_bytes_per_second": uneven}))) != []
    # If the disk saw little of it, the cache answered: the load's own calls count.
    assert flags_of(judge_steady(phase(moved, {**bursts, "disk_write_bytes_per_second": 10 * MEGABYTE}))) != []
    # If it saw far more, others used it too: the load's own calls count as well.
    crowd = {"disk_write_bytes_per_second": lambda second: 20 * MEGABYTE * second}
    assert flags_of(judge_steady(phase(moved, {**wrote(100 * MEGABYTE), **crowd}))) == []


@pytest.mark.parametrize(("system", "is_bound"), [(53.0, False), (55.0, True)])
def test_a_load_of_one_thread_is_bound_by_one_processor(system: float, *, is_bound: bool) -> None:
    flags = flags_of(judge_client(phase(done(user=0.5, system=system), READS), (place(),)))
    assert bool(flags) is is_bound
    if flags:
        assert (flags[0].code, flags[0].limit) == (FlagCode.CLIENT_BOUND, "90 %; not a storage limit")
        assert flags[0].measured == "write: its one thread worked 92.5 % of the time in write"


@pytest.mark.parametrize(
    "outcome", [done(system=150.0, threads=4), done(system=59.0, threads=None), done(seconds=0.9, system=0.9)]
)
def test_threads_that_are_unknown_partly_idle_or_too_short_are_not_called_bound(outcome: StepOutcome) -> None:
    assert flags_of(judge_client(phase(outcome, READS), (place(),))) == []


def test_more_threads_than_processors_are_bound_by_the_processors() -> None:
    assert flags_of(judge_client(phase(done(system=4 * 55.0, threads=64), READS), (place(),))) != []


@pytest.mark.parametrize(("system", "is_bound"), [(0.39, False), (0.41, True)])
def test_a_node_with_all_cpus_busy_is_not_a_storage_limit(system: float, *, is_bound: bool) -> None:
    busy = {**READS, "cpu_user_ratio": 0.5, "cpu_system_ratio": system}
    assert bool(flags_of(judge_client(phase(done(), busy), (place(),)))) is is_bound


@pytest.mark.parametrize(("link", "is_bound"), [(0.89, False), (0.91, True)])
def test_a_full_link_to_the_server_is_no_storage_limit(link: float, *, is_bound: bool) -> None:
    carried = {"net_link_ratio": link, "net_receive_bytes_per_second": 105 * MEGABYTE, "net_send_bytes_per_second": 0.0}
    used = phase(done(), {**READS, **carried})
    assert bool(flags_of(judge_client(used, (place("nfs4", **{"network.interface": "eth0"}),)))) is is_bound
    assert flags_of(judge_client(used, (place(),))) == []  # a local disk's traffic does not pass a link
    assert bool(flags_of(judge_client(phase(done(role=StepRole.SENDER), used.rows[0]), (place(),)))) is is_bound


@pytest.mark.parametrize("carried", [30.0, 300.0])
def test_a_link_that_is_full_of_others_bytes_does_not_bound_the_run(carried: float) -> None:
    # Less than the run moved: its traffic bypasses this link, perhaps by RDMA. More: other load.
    link = {
        "net_receive_bytes_per_second": carried * MEGABYTE,
        "net_send_bytes_per_second": 0.0,
        "net_link_ratio": 0.99,
    }
    used = phase(done(), {**READS, **link})
    assert flags_of(judge_client(used, (place("nfs4", **{"network.interface": "eth0"}),))) == []


@pytest.mark.parametrize(("user_ratio", "is_foreign"), [(0.34, False), (0.36, True)])
def test_user_time_beyond_the_loads_own_is_foreign(user_ratio: float, *, is_foreign: bool) -> None:
    # The load used a quarter of the four CPUs.
    flags = flags_of(judge_foreign(phase(done(user=60.0), {**READS, "cpu_user_ratio": user_ratio}), (place(),)))
    assert bool(flags) is is_foreign
    if flags:
        assert flags[0].measured == "write: programs outside the run used 11 % of the node's CPU time"


def test_no_user_time_is_foreign_where_the_file_system_is_a_program() -> None:
    busy = phase(done(), {**READS, "cpu_user_ratio": 0.9})
    assert flags_of(judge_foreign(busy, (place("fuse.glusterfs"),))) == []
    assert flags_of(judge_foreign(busy, (place("gpfs"),))) == []


@pytest.mark.parametrize(("on_disk", "is_foreign"), [(109.0, False), (113.0, True)])
def test_bytes_read_beyond_the_loads_own_are_foreign(on_disk: float, *, is_foreign: bool) -> None:
    disk = {"disk_read_bytes_per_second": on_disk * MEGABYTE, "disk_write_bytes_per_second": 0.0}
    flags = flags_of(judge_foreign(phase(done(), {**READS, **disk}), (place(),)))
    assert bool(flags) is is_foreign
    if flags:
        assert (
            "11.5 % of the bytes on the target's device or server were other load: 13 MB/s of 113 MB/s"
            in flags[0].measured
        )


def test_bytes_written_while_the_run_only_reads_are_foreign_and_those_of_a_write_are_not() -> None:
    disk = {"disk_read_bytes_per_second": 100 * MEGABYTE, "disk_write_bytes_per_second": 20 * MEGABYTE}
    assert flags_of(judge_foreign(phase(done("read"), {**READS, **disk}), (place(),))) != []
    journal = {"disk_read_bytes_per_second": 0.0, "disk_write_bytes_per_second": 300 * MEGABYTE}
    assert flags_of(judge_foreign(phase(done(), wrote(100 * MEGABYTE, **journal)), (place(),))) == []


def written(
    on_disk: float,
    *,
    bytes_moved: int | None = 6_000_000_000,
    is_bulk: bool = True,
    before_done: Before = Before.SYNC,
) -> ParallelSteps:
    """Return a write phase of 100 MB/s, with this many MB/s at the storage."""
    disk = {"disk_read_bytes_per_second": 0.0, "disk_write_bytes_per_second": on_disk * MEGABYTE}
    outcome = done(bytes_moved=bytes_moved, is_bulk=is_bulk, before_done=before_done)
    return phase(outcome, {**wrote(100 * MEGABYTE), **disk})


@pytest.mark.parametrize(
    ("fstype", "facts", "most"),
    [
        ("ext4", {}, 125),
        ("xfs", {}, 125),
        ("btrfs", {"btrfs.data_profile": "single"}, 125),
        ("btrfs", {"btrfs.data_profile": "RAID1,single"}, 250),
        ("btrfs", {"btrfs.data_profile": "RAID1C3"}, 375),
        ("nfs4", {"nfs.pnfs": "not configured"}, 125),
    ],
)
def test_bytes_written_beyond_what_a_file_system_makes_of_a_long_run_are_foreign(
    fstype: str, facts: dict[str, str], most: float
) -> None:
    # A tenth of all that was written may be other load.
    assert flags_of(judge_foreign(written(most / 0.9 - 1), (place(fstype, **facts),))) == []
    [flag] = flags_of(judge_foreign(written(most / 0.9 + 1), (place(fstype, **facts),)))
    assert (flag.code, flag.limit) == (FlagCode.FOREIGN_LOAD, "10 % not caused by the run")


@pytest.mark.parametrize(
    ("used", "on"),
    [
        (written(900.0, is_bulk=False), place()),  # small writes that are flushed
        (written(900.0, bytes_moved=None), place()),
        (written(900.0, before_done=Before.NONE), place()),  # dirty pages of the phase before
        (written(900.0), replace(place(), direct_works=False)),  # data=journal
        (written(900.0), place("btrfs", **{"btrfs.data_profile": "RAID6"})),
        (written(900.0), place("btrfs", **{"btrfs.data_profile": "unavailable, because btrfs is not installed"})),
        (written(900.0), place("zfs")),
        (written(900.0), place("f2fs")),
        (written(900.0), place("nfs4", **{"nfs.pnfs": "LAYOUT_FLEX_FILES"})),
    ],
)
def test_nothing_written_is_foreign_where_the_file_system_may_have_made_it(used: ParallelSteps, on: Place) -> None:
    assert flags_of(judge_foreign(used, (on,))) == []


def test_pages_that_were_filled_in_the_broken_first_second_are_the_runs_own() -> None:
    seen_late = phase(
        done(bytes_moved=6_000_000_000, is_bulk=True),
        {
            **wrote(60 * MEGABYTE),
            "disk_read_bytes_per_second": 0.0,
            "disk_write_bytes_per_second": 100 * MEGABYTE,
        },
    )
    assert flags_of(judge_foreign(seen_late, (place(),))) == []


def test_traffic_too_small_to_disturb_is_not_foreign() -> None:
    slow = {"read_bytes_per_second": 300_000.0, "write_bytes_per_second": 0.0}
    disk = {"disk_read_bytes_per_second": 300_000.0, "disk_write_bytes_per_second": 200_000.0}
    assert flags_of(judge_foreign(phase(done("read"), {**slow, **disk}), (place(),))) == []


def test_with_invisible_bytes_of_the_load_nothing_is_foreign() -> None:
    disk = {"disk_read_bytes_per_second": 100 * MEGABYTE, "disk_write_bytes_per_second": 0.0}
    unseen = {**READS, "read_bytes_per_second": 20 * MEGABYTE, **disk}
    assert flags_of(judge_foreign(phase(done(bytes_moved=6_000_000_000), unseen), (place(),))) == []
    # Its processes are not counted either: tasks started by the launcher's daemon spin in their barriers.
    spinning = {**READS, "read_bytes_per_second": 0.0, "cpu_user_ratio": 0.9}
    assert flags_of(judge_foreign(phase(done(bytes_moved=6_000_000_000), spinning), (place(),))) == []
    names_only = {**READS, "read_bytes_per_second": 1000.0, **disk}
    assert flags_of(judge_foreign(phase(done("unlink"), names_only), (place(),))) == []


class Asked(dict[str, float]):
    """Row with every field that a check may ask for."""

    def __init__(self, names: set[str]) -> None:
        super().__init__(step=0, step_seconds=1.0)
        self.names = names

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return True

    def __missing__(self, name: str) -> float:
        return 1e9


def test_all_that_is_judged_of_a_row_is_read_of_it_and_no_more(tmp_path: Path) -> None:
    names: set[str] = set()
    asked = replace(phase(done(role=StepRole.SENDER), {}), rows=(Asked(names),) * 60)
    flags_of(judge_steady(replace(asked, outcomes=(done(seconds=99.0),))))
    flags_of(judge_client(asked, (place(),)))
    flags_of(judge_foreign(asked, (place(),)))
    measure_foreign([asked], (place(),))
    (tmp_path / "curve.jsonl").write_text(json.dumps(dict.fromkeys([*names, "step", "load1", "waits"], 1.0)) + "\n{")
    [row] = read_rows(tmp_path / "curve.jsonl")
    assert row.keys() == {*names, "step"}


def test_a_node_that_counts_little_is_judged_by_nothing_that_it_does_not_count() -> None:
    bare = phase(done(user=1.0), {"load1": 1.0})
    assert (
        flags_of(judge_client(bare, (place(),)))
        == flags_of(judge_foreign(bare, (place(),)))
        == flags_of(judge_steady(bare))
        == []
    )
