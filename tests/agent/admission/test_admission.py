"""Admission check of a node: orders start, wait or are rejected. The runner is real, the samples and the clock are
fakes.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from agent.runs_node import Node

from iotide_agent.admission.admission import LOOK_SECONDS, Admission
from iotide_agent.admission.sample import IdleSample
from iotide_agent.core.protocol import ReportedOrder, ResultReady, SendHeartbeat, Stage
from iotide_agent.judging.quiet import FLAG_PATIENCE_SECONDS, PATIENCE_SECONDS, Idle, Neighbours
from iotide_agent.node.config import QuietLimits
from iotide_agent.orders.parsing import Verdict
from iotide_agent.runner import processes
from iotide_wire.foreign import ForeignBefore
from iotide_wire.messages import FinishRequest, OrderRole, OrderState, Outcome

QUIET = Idle(seconds=5.0, processors=4, cpu_ratio=0.01)
BUSY = replace(QUIET, cpu_ratio=0.9)
NO_NEIGHBOURS = Neighbours(sessions=0, jobs=())


class Paper(IdleSample):
    """Sample written by a test.

    Attributes:
        idle: its text.
        is_stopped: whether the node counts as loaded.
        is_asked_fresh: whether the seconds before the previous load were excluded.
    """

    def __init__(self) -> None:
        super().__init__()
        self.idle: Idle | None = QUIET
        self.is_stopped = self.is_asked_fresh = False
        self.at = 1000.0

    def now(self) -> float:
        return self.at

    def begin(self) -> None:
        self.is_stopped, self.idle = False, None

    def stop(self) -> None:
        self.is_stopped = True

    def take(self) -> None:
        self.is_stopped = False

    def measured(self, *, is_fresh: bool = False) -> Idle | None:
        self.is_asked_fresh = is_fresh
        return self.idle


class Door:
    """Node with an admission check; the test decides when it samples."""

    def __init__(self, base: Path) -> None:
        self.node = Node(base)
        self.sample = Paper()
        self.neighbours = NO_NEIGHBOURS
        self.beside: list[Callable[[], None]] = []
        self.admission = Admission(
            self.node.runs, self.sample, QuietLimits(), lambda: self.neighbours, self.beside.append
        )

    def come(self, **changes: object) -> None:
        """Claim an order."""
        self.admission.look()
        self.admission.take(self.node.order(**changes))

    def pass_seconds(self, seconds: float) -> float:
        """Advance the clock to the next sample and return the seconds until the one after it."""
        self.sample.at += seconds
        return self.admission.tick() - self.sample.at

    def says(self) -> tuple[OrderState, str]:
        """Return the report on the order in the next heartbeat."""
        (heartbeat,) = self.node.runs.heartbeat_of(SendHeartbeat(1, (ReportedOrder(1, Stage.PREPARING),)))
        return heartbeat.state, heartbeat.phase

    def is_started(self) -> bool:
        return self.node.spool.files(1).card.exists()

    def result(self) -> FinishRequest:
        """Return the result of a rejected order."""
        assert ResultReady(1) in self.node.events
        assert not self.is_started()
        return self.node.spool.result(1)

    def before(self) -> ForeignBefore:
        """Return the stored sample of the idle node."""
        return ForeignBefore.model_validate_json(self.node.spool.files(1).foreign.read_bytes())


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    made = Door(tmp_path)
    yield made
    made.node.close()


@pytest.mark.parametrize("quiet", ["ignore", "flag", "wait", "refuse"])
def test_on_a_quiet_node_a_run_starts_at_once_under_every_policy_and_its_sample_is_kept(door: Door, quiet: str) -> None:
    door.come(quiet=quiet, quiet_wait_seconds=60.0)
    assert door.is_started()
    assert door.node.runs.is_at_work
    before = door.before()
    assert (before.cpu_ratio, before.sessions, before.jobs, before.excess) == (0.01, 0, (), "")


@pytest.mark.parametrize("quiet", ["ignore", "flag"])
def test_on_a_busy_node_it_starts_too_where_it_only_flags_or_ignores(door: Door, quiet: str) -> None:
    door.sample.idle = BUSY
    door.come(quiet=quiet)
    assert door.is_started()
    assert door.before().excess == "CPUs busy 90 % of at most 10 % of the time"


@pytest.mark.parametrize(("quiet", "is_fresh"), [("flag", False), ("ignore", False), ("wait", True), ("refuse", True)])
def test_waiting_and_rejecting_runs_use_only_seconds_after_the_last_load(
    door: Door, quiet: str, *, is_fresh: bool
) -> None:
    door.come(quiet=quiet)
    assert door.sample.is_asked_fresh is is_fresh


def test_a_run_that_is_only_flagged_waits_for_the_first_sample_of_its_node_and_reports_it(door: Door) -> None:
    door.sample.idle = replace(QUIET, seconds=1.0)
    door.come(quiet="flag")
    assert door.says() == (OrderState.PREFLIGHT, "sampling the idle node: 1 s of 5 s")
    door.sample.idle = BUSY
    door.pass_seconds(4.0)
    assert door.is_started()
    assert door.before().excess == "CPUs busy 90 % of at most 10 % of the time"


def test_a_run_that_is_only_flagged_starts_unsampled_where_the_agent_still_cleans_up(door: Door) -> None:
    door.sample.idle = None
    door.come(quiet="flag")
    door.pass_seconds(FLAG_PATIENCE_SECONDS - 1)
    assert not door.is_started()
    door.pass_seconds(1.0)
    assert door.is_started()
    assert door.before().seconds == 0.0


def test_a_run_that_refuses_fails_at_once_and_nothing_was_started_for_it(door: Door) -> None:
    door.sample.idle = BUSY
    door.come(quiet="refuse")
    result = door.result()
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "node_busy")
    assert result.reason is not None
    assert "CPUs busy 90 % of at most 10 %" in result.reason
    assert result.foreign is not None
    assert result.foreign.before is not None
    assert result.foreign.before.cpu_ratio == 0.9


def test_a_waiting_run_reports_it_in_each_heartbeat_and_starts_on_an_idle_node(door: Door) -> None:
    door.sample.idle = BUSY
    door.come(quiet="wait", quiet_wait_seconds=60.0)
    assert door.pass_seconds(12.0) == pytest.approx(1.0)
    assert not door.is_started()
    assert door.says() == (
        OrderState.PREFLIGHT,
        "waiting for an idle node: CPUs busy 90 % of at most 10 % of the time; 12 s of 60 s",
    )
    assert not door.node.runs.is_at_work
    door.sample.idle = QUIET
    door.pass_seconds(1.0)
    assert door.is_started()
    assert door.says() == (OrderState.PREFLIGHT, "preparing")
    assert door.before().waited_seconds == pytest.approx(13.0)
    assert door.sample.is_stopped, "the node's own load would be in the next run's sample"


def test_a_run_that_is_held_back_does_not_begin_once_its_job_is_ended(door: Door) -> None:
    door.sample.idle = BUSY
    door.come(quiet="wait", quiet_wait_seconds=60.0)
    door.node.runs.end_all(Verdict(Outcome.CANCELLED, "batch_ended", "ended by the batch system"))
    door.sample.idle = QUIET
    door.pass_seconds(1.0)
    result = door.result()
    assert (result.outcome, result.reason_code) == (Outcome.CANCELLED, "batch_ended")


def test_a_run_that_waited_in_vain_is_declined(door: Door) -> None:
    door.sample.idle = BUSY
    door.come(quiet="wait", quiet_wait_seconds=60.0)
    door.pass_seconds(59.0)
    assert door.node.events == []
    door.pass_seconds(1.0)
    result = door.result()
    assert (result.outcome, result.reason_code) == (Outcome.DECLINED, "node_busy")


def test_a_young_sample_is_waited_for_and_judged_once_it_is_old_enough(door: Door) -> None:
    door.sample.idle = replace(QUIET, seconds=2.0)
    door.come(quiet="refuse")
    door.pass_seconds(1.0)
    assert door.says()[1] == "sampling the idle node: 2 s of 5 s"
    door.sample.idle = BUSY
    door.pass_seconds(3.0)
    assert door.result().reason_code == "node_busy"


def test_other_jobs_on_the_node_are_listed_again_now_and_then_while_a_run_waits(door: Door) -> None:
    door.neighbours = Neighbours(0, ("4711",))
    door.come(quiet="wait", quiet_wait_seconds=60.0)
    door.pass_seconds(LOOK_SECONDS / 2)
    assert door.beside == []
    door.pass_seconds(LOOK_SECONDS)
    door.pass_seconds(1.0)
    (look,) = door.beside
    door.neighbours = NO_NEIGHBOURS
    look()
    door.pass_seconds(1.0)
    assert door.is_started()


def test_a_run_that_an_agent_finds_at_its_start_waits_until_it_is_known_who_is_on_the_node(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "boottime", door.sample.now)
    door.node.order(quiet="wait", quiet_wait_seconds=60.0)
    door.node.runs.recover()
    door.pass_seconds(1.0)
    assert not door.is_started()
    door.beside.pop()()
    door.pass_seconds(1.0)
    assert door.is_started()


def test_a_fault_in_looking_around_holds_nothing_up(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> Neighbours:
        raise ValueError("unknown output")

    door.admission._ask = fail
    door.come(quiet="refuse")
    assert door.is_started()
    assert "neighbours_unknown" in caplog.messages


def test_a_run_that_waits_can_be_cancelled(door: Door) -> None:
    door.sample.idle = BUSY
    door.come(quiet="wait", quiet_wait_seconds=60.0)
    door.node.runs.cancel(1, Verdict(Outcome.CANCELLED, "cancelled", "cancelled by the user"))
    assert door.result().outcome is Outcome.CANCELLED
    door.sample.idle = QUIET
    door.pass_seconds(1.0)
    assert not door.is_started()


def test_the_agent_sleeps_while_a_run_is_under_way_and_begins_a_sample_when_it_is_forgotten(door: Door) -> None:
    door.come()
    assert door.pass_seconds(1.0) == inf
    assert door.sample.is_stopped
    door.node.until(door.node.spool.files(1).phase.exists)
    door.node.close()
    door.node.runs.forget(1)
    assert door.pass_seconds(1.0) == pytest.approx(1.0)
    assert not door.sample.is_stopped


def test_the_agents_own_removal_is_neither_other_load_nor_a_sample(door: Door) -> None:
    door.node.begun(7)
    door.node.spool.set_aside(7)
    door.node.runs.clean_leftovers()
    door.pass_seconds(1.0)
    assert door.sample.idle is None
    door.admission.look()
    door.admission.take(door.node.order(quiet="refuse"))
    door.node.until(lambda: door.node.spool.leftovers() == [])
    door.sample.idle = QUIET
    door.pass_seconds(1.0)
    assert door.is_started()


def test_a_node_that_cannot_be_sampled_is_given_back(door: Door) -> None:
    door.sample.idle = None
    door.come(quiet="refuse")
    door.pass_seconds(PATIENCE_SECONDS)
    assert door.result().outcome is Outcome.DECLINED


def test_an_observer_is_not_checked(door: Door) -> None:
    door.sample.idle = BUSY
    door.come(quiet="refuse", role=OrderRole.OBSERVE, targets=())
    assert door.is_started()
    assert door.pass_seconds(1.0) == pytest.approx(1.0), "the node counts as idle"
