"""Totals of a run over several targets, next to the numbers of each target."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from factories.mpi import mpi_settings
from factories.outcomes import captured, run_groups, run_steps, run_together, two_places

from iotide_agent.workloads.base import Parsed, Place, StepOutcome
from iotide_agent.workloads.bonnie import BonnieOptions, BonnieWorkload
from iotide_agent.workloads.command import CommandWorkload
from iotide_agent.workloads.create import CreateOptions, CreateWorkload
from iotide_agent.workloads.fill import FillOptions, FillWorkload
from iotide_agent.workloads.fio import FioWorkload
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.ior import IorOptions, IorWorkload
from iotide_agent.workloads.iozone import IozoneWorkload
from iotide_agent.workloads.iozone_options import IozoneOptions
from iotide_agent.workloads.mdtest import MdtestOptions, MdtestWorkload
from iotide_agent.workloads.rawread import RawreadOptions, RawreadWorkload
from iotide_agent.workloads.writers import Part, race, side_by_side, together
from iotide_wire.measured import FlagCode
from iotide_wire.units import MIB


def steps(*times: tuple[float, float]) -> list[StepOutcome]:
    """Return steps by their start and duration, each on a target of its own, from 1."""
    done = captured("dd/c_fsync_1gib")
    return [
        replace(
            done,
            step=replace(done.step, target_id=target_id),
            started_at=done.started_at + timedelta(seconds=start),
            wall_seconds=wall,
        )
        for target_id, (start, wall) in enumerate(times, start=1)
    ]


def values(parsed: Parsed) -> dict[str, float]:
    return {sample.metric: sample.value for sample in parsed.samples if sample.target_id is None}


def totals(parsed: Parsed, metric: str, label: str) -> dict[str, float]:
    """Return the totals over all targets, by one of their labels."""
    return {
        str(sample.labels[label]): sample.value
        for sample in parsed.samples
        if sample.metric == metric and sample.target_id is None
    }


def test_total_is_of_all_bytes_from_the_first_start_to_the_last_end() -> None:
    parts = [Part.at_end(outcome, 100, outcome.wall_seconds) for outcome in steps((0, 2), (1, 4))]
    assert values(together(parts, {})) == {
        "total_throughput": 40,
        "first_done": 2,
        "last_done": 5,
        "fairness": pytest.approx((50 + 25) ** 2 / (2 * (50**2 + 25**2))),
    }


def test_seconds_of_the_tool_itself_leave_out_its_start_and_its_end() -> None:
    parts = [Part.at_end(outcome, 100, seconds=2.0) for outcome in steps((0, 2.5), (1, 3.5))]
    assert values(together(parts, {}))["total_throughput"] == pytest.approx(200 / 4)


def test_odd_target_out_is_named() -> None:
    parsed = race(steps((0, 10), (0, 25), (0, 10)), {"operation": "all"})
    assert values(parsed) == {"first_done": 10, "last_done": 25, "fairness": pytest.approx(0.889, rel=1e-3)}
    [flag] = parsed.flags
    assert flag.code is FlagCode.STRAGGLER
    assert flag.measured == "last writer, on target 2, finished after 25 s, the median of the others 10 s"
    assert race(steps((0, 10), (0, 14), (0, 10)), {}).flags == []


@pytest.mark.parametrize(
    ("workload", "options"), [(BonnieWorkload(), BonnieOptions()), (IozoneWorkload(), IozoneOptions())]
)
def test_tools_with_separate_phases_have_first_and_last_finish_but_no_total(
    workload: BonnieWorkload | IozoneWorkload, options: BonnieOptions | IozoneOptions, place: Place
) -> None:
    places: Sequence[Place] = two_places(place)
    conclude = workload.conclude  # each takes its own options, which the parameters combine
    assert values(conclude(options, places, steps((0, 10), (0, 20)))).keys() == {  # type: ignore[arg-type]
        "first_done",
        "last_done",
        "fairness",
    }
    assert conclude(options, places[:1], steps((0, 10))) == Parsed()  # type: ignore[arg-type]


def test_targets_filled_at_once_have_a_total(place: Place) -> None:
    options = FillOptions(file_size_bytes=MIB, file_count=3, fill_percent=95, reserve_bytes=0)
    parsed = run_together(FillWorkload(), options, two_places(place))
    together_ = values(parsed)
    assert together_["total_throughput"] == pytest.approx(6 * MIB / together_["last_done"])


def test_files_of_no_target_are_made_before_the_processes_of_all_targets_have_come(place: Place) -> None:
    places = two_places(place)
    [early, late] = CreateWorkload().plan(CreateOptions(file_count=1), places)[0]
    with subprocess.Popen(early.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        with pytest.raises(subprocess.TimeoutExpired):
            first.wait(timeout=0.3)
        [done] = run_steps([late], places[1])
        assert (first.wait(timeout=60), done.exit_status) == (0, 0)


def test_files_read_on_targets_at_once_have_a_total_for_each_pattern(place: Place) -> None:
    places = two_places(place)
    for own in places:
        (own.directory / "big.data").write_bytes(bytes(4 * MIB))
    parsed = run_together(RawreadWorkload(), RawreadOptions(path="big.data", runtime_seconds=1), places)
    assert totals(parsed, "total_throughput", "pattern").keys() == {"sequential", "random"}
    for pattern, total in totals(parsed, "total_throughput", "pattern").items():
        own_rates = [
            sample.value
            for sample in parsed.samples
            if sample.metric == "throughput" and sample.labels["pattern"] == pattern
        ]
        assert len(own_rates) == 2
        assert 0.5 * sum(own_rates) < total <= 1.01 * sum(own_rates)


def test_programs_of_mpi_on_targets_at_once_have_a_total_for_each_operation(place: Place) -> None:
    ior, mdtest = IorWorkload(mpi_settings("ior")), MdtestWorkload(mpi_settings("mdtest"))
    places = two_places(place)
    written = run_together(ior, IorOptions(tasks=2, transfers_per_block=2), places)
    assert totals(written, "total_throughput", "operation").keys() == {"write", "read"}
    made = run_together(mdtest, MdtestOptions(tasks=2, item_count=20, operations=("create", "delete")), places)
    assert totals(made, "total_operation_rate", "operation").keys() == {"create", "delete"}
    for parsed in (written, made):
        assert values(parsed).keys() > {"first_done", "last_done", "fairness"}


@pytest.mark.parametrize(
    ("workload", "options"),
    [
        (IorWorkload(mpi_settings("ior")), IorOptions(tasks=1, transfers_per_block=2, operations=("write",))),
        (MdtestWorkload(mpi_settings("mdtest")), MdtestOptions(tasks=1, item_count=20, operations=("create",))),
    ],
)
def test_total_goes_from_the_first_task_that_worked_however_late_a_launcher_started_its_own(
    workload: IorWorkload | MdtestWorkload, options: IorOptions | MdtestOptions, place: Place
) -> None:
    places = two_places(place)
    # Each takes its own options, which the parameters combine.
    first, second = run_groups(workload.plan(options, places), place)  # type: ignore[arg-type]
    slow = replace(second, started_at=first.started_at, wall_seconds=first.wall_seconds + 60)
    parsed = workload.conclude(options, places, [first, slow])  # type: ignore[arg-type]
    assert 60 < values(parsed)["last_done"] < 61
    assert FlagCode.LATE_START in {flag.code for flag in parsed.flags}


def test_kinds_of_items_that_targets_do_not_make_at_the_same_time_have_no_total(place: Place) -> None:
    mdtest = MdtestWorkload(mpi_settings("mdtest"))
    asked = MdtestOptions(tasks=1, item_count=20, items="both", operations=("create",))
    parsed = run_together(mdtest, asked, two_places(place))
    assert values(parsed).keys() == {"first_done", "last_done", "fairness"}


def test_site_s_own_program_on_targets_at_once_has_first_and_last_finish(place: Place) -> None:
    rate = {"title": "Rate", "unit": "operations_per_second", "better": "higher", "json_path": "rate"}
    workload = CommandWorkload({"commands": {"site": {"argv": ["echo", '{"rate": 3}'], "metrics": {"rate": rate}}}})
    parsed = run_together(workload, workload.options_type(), two_places(place))
    assert values(parsed).keys() == {"first_done", "last_done", "fairness"}
    assert {sample.labels["command"] for sample in parsed.samples} == {"site"}


def test_one_target_alone_has_neither_a_total_of_targets_nor_a_race(place: Place) -> None:
    assert side_by_side([place], steps((0, 1))) == []


def test_fio_on_targets_at_once_has_a_total_for_each_operation(place: Place) -> None:
    options = FioOptions(rw="randrw", file_size_bytes=MIB, block_size_bytes=4096, num_jobs=2)
    parsed = run_together(FioWorkload(), options, two_places(place))
    of_both = totals(parsed, "total_throughput", "operation")
    assert of_both.keys() == {"read", "write"}
    for operation, total in of_both.items():
        own = [
            sample.value
            for sample in parsed.samples
            if sample.metric == "throughput" and sample.labels["operation"] == operation
        ]
        assert len(own) == 4
        assert 0 < total <= 1.01 * sum(own)


def test_job_file_on_targets_at_once_has_first_and_last_finish(place: Place) -> None:
    options = FioOptions(job_file="[a]\nrw=write\nsize=1m\nend_fsync=1\n[b]\nstonewall\nrw=read\nsize=1m\n")
    parsed = run_together(FioWorkload(), options, two_places(place))
    assert values(parsed).keys() == {"first_done", "last_done", "fairness"}
    assert {sample.labels["operation"] for sample in parsed.samples if sample.target_id is None} == {"all"}
