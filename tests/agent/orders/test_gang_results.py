"""Results of one program over several nodes from its records: who reads, a launcher that hung, and a node's share."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent.made_orders import DD_OPTIONS
from agent.order_rig import order_card, target_card
from factories.outcomes import make_place

from iotide_agent.orders.parsing import RawOutput, RunReader, Verdict
from iotide_agent.orders.plan import Plan
from iotide_agent.runner.card import Card, GangCard
from iotide_agent.runner.places import Places
from iotide_agent.runner.workspace import TargetRefusedError
from iotide_agent.runner.workspace import make_place as make_directory
from iotide_agent.workloads.base import StepOutcome
from iotide_agent.workloads.dd import DdOptions, DdWorkload
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_wire.measured import FlagCode, StepRole
from iotide_wire.messages import Outcome
from iotide_wire.units import MIB

LAYOUT = RankLayout.of_nodes(("n1", "n2", "n3", "n4"), 2)


class NoOutput(RawOutput):
    def stream(self, name: str) -> str:
        del name
        return ""

    def file(self, ordinal: int, path: Path) -> str | None:
        del ordinal, path
        return None


class Seeing(DdWorkload):
    """Workload that records the outcomes it judges."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[StepOutcome] = []

    def failure(self, outcome: StepOutcome) -> str | None:
        self.seen.append(outcome)
        return super().failure(outcome)


def reader_of(base: Path, role: StepRole, workload: DdWorkload, record: dict[str, Any]) -> RunReader:
    options = DdOptions.model_validate(DD_OPTIONS | {"operations": ["write"]})
    place = replace(make_place(base), step_role=role, layout=LAYOUT)
    plan = Plan((place,), tuple(workload.groups(options, place)))
    ended = {"outcome": "finished", "code": None, "reason": None, "mount_problems": [], "steps": [record]}
    return RunReader(ended, plan, workload, options)


def a_record(**changes: object) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": "write",
        "before_done": "none",
        "started_at_epoch_seconds": 1_800_000_000.0,
        "wall_seconds": 12.0,
        "exit_status": 0,
        "signal": None,
        "user_seconds": 0.1,
        "system_seconds": 0.2,
        "max_rss_bytes": 10_000_000,
        "stdout_left_out_bytes": 0,
        "stderr_left_out_bytes": 0,
        "argv": ["/opt/mpich/bin/mpiexec", "-n", "8", "dd"],
    }
    return values | changes


def verdict_of(
    base: Path, role: StepRole, workload: DdWorkload, **changes: object
) -> tuple[Verdict, list[StepOutcome]]:
    reader = reader_of(base, role, workload, a_record(**changes))
    outcomes = reader.outcomes(NoOutput())
    return reader.verdict(outcomes), outcomes


def test_a_member_reads_no_output_and_keeps_the_outcome_of_its_runner(tmp_path: Path) -> None:
    workload = Seeing()
    verdict, outcomes = verdict_of(tmp_path, StepRole.MEMBER, workload, exit_status=7)
    assert (verdict.outcome, verdict.samples, verdict.of_steps) == (Outcome.FINISHED, (), ((),))
    assert workload.seen == []
    assert outcomes[0].step.argv == ("/opt/mpich/bin/mpiexec", "-n", "8", "dd"), "as it ran"


@pytest.mark.parametrize(
    ("before_done", "cached_bytes", "codes"),
    [
        ("sync", 0, {FlagCode.CACHE_DROP}),
        ("none", 0, {FlagCode.CACHE_DROP}),
        ("drop_files", 0, set()),
        ("drop", 0, set()),
        ("drop", MIB, {FlagCode.NO_DIRECT}),
        ("sync", MIB, {FlagCode.NO_DIRECT, FlagCode.CACHE_DROP}),
    ],
)
def test_a_member_says_that_its_tasks_read_from_its_own_cache(
    tmp_path: Path, before_done: str, cached_bytes: int, codes: set[FlagCode]
) -> None:
    """The head sees neither its page cache nor what was done before the step there."""
    workload, place = DdWorkload(), replace(make_place(tmp_path), step_role=StepRole.MEMBER, layout=LAYOUT)
    options = DdOptions.model_validate(DD_OPTIONS | {"operations": ["write", "read"]})
    wants_direct = (tmp_path / "file",) if cached_bytes else ()
    write, read = (step for [step] in workload.groups(options, place))
    steps = [replace(step, direct_files=wants_direct) for step in (write, read)]
    seen = {"cached_bytes": cached_bytes, "of_bytes": cached_bytes}
    records = [a_record(before_done="sync"), a_record(name="read", before_done=before_done, **seen)]
    ended = {"outcome": "finished", "code": None, "reason": None, "mount_problems": [], "steps": records}
    reader = RunReader(ended, Plan((place,), tuple((step,) for step in steps)), workload, options)
    flags = reader.verdict(reader.outcomes(NoOutput())).flags
    assert {flag.code for flag in flags} == codes
    assert {flag.labels["operation"] for flag in flags} <= {"read"}


@pytest.mark.parametrize(("hung", "killed"), [(True, False), (False, True)])
def test_only_a_launcher_that_hung_after_the_whole_output_may_have_been_killed(
    tmp_path: Path, *, hung: bool, killed: bool
) -> None:
    changes: dict[str, object] = {"exit_status": None, "signal": 9, "launcher_hung": hung}
    verdict, outcomes = verdict_of(tmp_path, StepRole.HEAD, Seeing(), **changes)
    assert ("was ended by signal 9" in str(verdict.reason)) is killed
    assert (outcomes[0].exit_status, outcomes[0].signal) == (None, 9), "the record stays as it was"


def test_a_node_of_four_moves_a_quarter_of_the_bytes(tmp_path: Path) -> None:
    plan = reader_of(tmp_path, StepRole.HEAD, DdWorkload(), a_record()).plan
    assert plan is not None
    [[step]] = plan.groups
    assert step.bytes_moved == 4 * (plan.own_part(step).bytes_moved or 0) > 0
    alone = replace(plan, places=(replace(plan.places[0], layout=None),))
    assert alone.own_part(step) == step


def member_and_head(target: Path, fence: int) -> tuple[Card, Card]:
    nodes = (("n1", "127.0.0.1"), ("n2", "127.0.0.2"))
    gang = GangCard(7, nodes, "127.0.0.2", "mpich", ("/mpiexec",), "lo", (46_000, 46_199), ("/proxy",), 2)
    shared = target_card(target, writes=False, shared=True, remount_command=("/bin/true",))
    member = order_card(target, order_id=8, fence=70, gang=gang, targets=(shared,))
    return member, order_card(target, order_id=7, fence=fence, agent="http://server/n1")


def test_a_member_finds_the_heads_files_after_a_remount(tmp_path: Path) -> None:
    member, head = member_and_head(tmp_path, fence=70)
    make_directory(head, head.targets[0])
    places = Places(member)
    places.hold(places.make())
    places.let_go()
    [mount] = places.remount()
    assert mount.mount_point


def test_a_member_does_not_take_the_files_of_another_attempt_for_the_heads_after_a_remount(tmp_path: Path) -> None:
    member, head = member_and_head(tmp_path, fence=69)
    make_directory(head, head.targets[0])
    with pytest.raises(TargetRefusedError, match="lost the run's files in the remount"):
        Places(member).remount()


def test_a_member_makes_nothing_and_has_nothing_to_remove(tmp_path: Path) -> None:
    member, _ = member_and_head(tmp_path, fence=70)
    [place] = Places(member).make()
    assert place.directory == f"{tmp_path}/{member.directory_name}"
    assert list(tmp_path.iterdir()) == []
    assert Places(member).possible() == []
