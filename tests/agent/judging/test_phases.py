"""Seconds, numbers and labels that belong to a phase."""

from dataclasses import replace
from datetime import timedelta

from agent.judging.rows import START, done, row, sample

from iotide_agent.judging.phases import ParallelSteps, phases_of
from iotide_wire.measured import FlagCode


def only(*seconds: int, step: int = 0) -> list[dict[str, float]]:
    return [row(second, {"load1": second}, step) for second in seconds]


def test_a_phase_has_the_whole_seconds_between_its_first_start_and_its_last_end() -> None:
    first, second = (
        done("write-1", seconds=3.2),
        replace(done("write-2", seconds=3.0), started_at=START + timedelta(seconds=1)),
    )
    begun_before = {"step": 0, "step_seconds": 0.4, "load1": 0.0}
    rows = [begun_before, *only(1, 2, 3, 4, 5, 6)]
    [phase] = phases_of([(first.step, second.step)], [first, second], [[], []], rows)
    assert [one["load1"] for one in phase.rows] == [1, 2, 3, 4]
    assert phase.name == "write-1, write-2"


def test_rows_go_to_the_group_in_which_they_were_taken() -> None:
    outcomes = [done("write", seconds=2.0), done("read", seconds=2.0)]
    rows = [*only(1, 2, step=0), *only(1, 2, step=1)]
    phases = phases_of(
        [(outcomes[0].step,), (outcomes[1].step,)], outcomes, [[sample("write")], [sample("read")]], rows
    )
    assert [(len(phase.rows), phase.samples[0].labels["operation"]) for phase in phases] == [(2, "write"), (2, "read")]


def test_seconds_that_were_overslept_count_where_all_of_them_lie_in_the_phase() -> None:
    outcome = done("write", seconds=6.0)
    gap, gap_that_began_before = only(6, 6, 6), only(2, 2, 2)
    [phase] = phases_of([(outcome.step,)], [outcome], [[]], [*gap_that_began_before, *only(3), *gap])
    assert [one["load1"] for one in phase.rows] == [3, 6, 6, 6]


def test_a_group_that_never_began_is_no_phase() -> None:
    outcome = done("write", seconds=2.0)
    assert len(phases_of([(outcome.step,), (done("read").step,)], [outcome], [[]], [])) == 1


def test_a_mark_concerns_what_the_labels_of_the_phase_have_in_common() -> None:
    own = (sample("write", writer=1), sample("write", writer=2))
    flag = ParallelSteps((done(),), own, ()).marked(FlagCode.STEADY, "uneven", "20 %")
    assert (flag.labels, flag.target_id, flag.measured) == ({"operation": "write"}, 1, "write: uneven")
    everywhere = ParallelSteps((done(),), (sample("write", target_id=1), sample("read", target_id=2)), ())
    flag = everywhere.marked(FlagCode.STEADY, "uneven", "20 %")
    assert (flag.labels, flag.target_id) == ({}, None)


def test_a_counter_that_is_absent_in_one_second_is_not_known() -> None:
    rows = (*only(1, 2, 3, 4), {"step": 0, "step_seconds": 5.0})
    assert ParallelSteps((done(),), (), rows).values("load1") is None
    assert ParallelSteps((done(),), (), tuple(only(1, 2, 3, 4))).mean("load1") is None  # four seconds are too few
    assert ParallelSteps((done(),), (), tuple(only(1, 2, 3, 4, 5))).mean("load1") == 3
