"""What a run says of several targets that it loads at once, beside the numbers of each."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from factories.outcomes import captured, run_together, two_places

from iotide_agent.workloads.base import Parsed, Place, StepOutcome
from iotide_agent.workloads.bonnie import BonnieOptions, BonnieWorkload
from iotide_agent.workloads.fill import FillOptions, FillWorkload
from iotide_agent.workloads.fio import FioWorkload
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.iozone import IozoneWorkload
from iotide_agent.workloads.iozone_options import IozoneOptions
from iotide_agent.workloads.writers import Part, race, together
from iotide_wire.messages import FlagCode

MIB = 1024**2


def steps(*times: tuple[float, float]) -> list[StepOutcome]:
    """Steps by their start and their wall clock, each on a target of its own, from 1."""
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


def test_total_is_of_all_bytes_from_the_first_start_to_the_last_end() -> None:
    parts = [Part(outcome, 100) for outcome in steps((0, 2), (1, 4))]
    assert values(together(parts, {})) == {
        "total_throughput": 40,
        "first_done": 2,
        "last_done": 5,
        "fairness": pytest.approx((50 + 25) ** 2 / (2 * (50**2 + 25**2))),
    }


def test_seconds_that_the_tool_itself_tells_leave_out_its_start_and_its_end() -> None:
    parts = [Part(outcome, 100, seconds=2.0) for outcome in steps((0, 2.5), (1, 2.5))]
    assert values(together(parts, {}))["total_throughput"] == pytest.approx(200 / 3)


def test_odd_target_out_is_named() -> None:
    parsed = race(steps((0, 10), (0, 25), (0, 10)), {"operation": "all"})
    assert values(parsed) == {"first_done": 10, "last_done": 25, "fairness": pytest.approx(0.889, rel=1e-3)}
    [flag] = parsed.flags
    assert flag.code is FlagCode.STRAGGLER
    assert flag.measured == "last writer, on target 2, done after 25 s, the median of the others 10 s"
    assert race(steps((0, 10), (0, 14), (0, 10)), {}).flags == []


@pytest.mark.parametrize(
    ("workload", "options"), [(BonnieWorkload(), BonnieOptions()), (IozoneWorkload(), IozoneOptions())]
)
def test_tools_whose_phases_do_not_meet_tell_who_was_done_first_and_no_total(
    workload: BonnieWorkload | IozoneWorkload, options: BonnieOptions | IozoneOptions, place: Place
) -> None:
    places: Sequence[Place] = two_places(place)
    conclude = workload.conclude  # each takes its own options, which the parameters bring together
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
    own = {sample.target_id for sample in parsed.samples if sample.metric == "total_throughput"}
    assert own == {None, 7, 8}


def test_fio_on_targets_at_once_has_a_total_for_each_operation(place: Place) -> None:
    options = FioOptions(rw="randrw", file_size_bytes=MIB, block_size_bytes=4096, num_jobs=2)
    parsed = run_together(FioWorkload(), options, two_places(place))
    totals = {
        str(sample.labels["operation"]): sample.value
        for sample in parsed.samples
        if sample.metric == "total_throughput" and sample.target_id is None
    }
    assert totals.keys() == {"read", "write"}
    for operation, total in totals.items():
        own = [
            sample.value
            for sample in parsed.samples
            if sample.metric == "throughput" and sample.labels["operation"] == operation
        ]
        assert len(own) == 4
        assert 0 < total <= 1.01 * sum(own)
    of_targets = {sample.target_id for sample in parsed.samples if sample.metric == "total_throughput"}
    assert of_targets == {None, 7, 8}


def test_job_file_on_targets_at_once_tells_who_was_done_first(place: Place) -> None:
    options = FioOptions(job_file="[a]\nrw=write\nsize=1m\nend_fsync=1\n[b]\nstonewall\nrw=read\nsize=1m\n")
    parsed = run_together(FioWorkload(), options, two_places(place))
    assert values(parsed).keys() == {"first_done", "last_done", "fairness"}
    assert {sample.labels["operation"] for sample in parsed.samples if sample.target_id is None} == {"all"}
