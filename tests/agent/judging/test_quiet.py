"""When a node is not quiet, and what becomes of a run there by the policy of its campaign."""

from dataclasses import replace

import pytest

from iotide_agent.config import QuietLimits
from iotide_agent.judging.quiet import (
    PATIENCE_SECONDS,
    Idle,
    Neighbours,
    Seen,
    Start,
    TurnAway,
    Wait,
    decide,
    excess_of,
    judge_before,
)
from iotide_wire.foreign import ForeignBefore
from iotide_wire.measured import FlagCode, FlagEffect
from iotide_wire.messages import Outcome
from iotide_wire.plan import QuietPolicy

LIMITS = QuietLimits()
QUIET = Idle(
    seconds=5.1,
    processors=4,
    running_tasks=0.4,
    load1=9.0,
    cpu_ratio=0.02,
    psi_cpu_ratio=0.01,
    psi_io_ratio=0.0,
    disk_bytes_per_second=60_000.0,
    network_bytes_per_second=3_000.0,
)
NOBODY = Neighbours(sessions=2, jobs=())
MEBIBYTE = 1024.0**2


def seen(idle: Idle | None = QUIET, excess: str = "", waited: float = 0.0, *, is_asked: bool = True) -> Seen:
    return Seen(idle, is_asked, excess, waited)


@pytest.mark.parametrize(
    ("idle", "words"),
    [
        (QUIET, ""),
        (replace(QUIET, running_tasks=2.0), ""),
        (replace(QUIET, running_tasks=12.8), "load 3.2 of at most 0.5 per processor"),
        (replace(QUIET, cpu_ratio=0.10), ""),
        (replace(QUIET, cpu_ratio=0.45), "processors busy 45% of at most 10% of the time"),
        (replace(QUIET, psi_cpu_ratio=0.2), "tasks waited for a processor 20% of at most 10% of the time"),
        (replace(QUIET, psi_io_ratio=0.5), "tasks waited for storage 50% of at most 10% of the time"),
        (replace(QUIET, disk_bytes_per_second=MEBIBYTE), ""),
        (replace(QUIET, disk_bytes_per_second=5e6), "disks 5 MB/s of at most 1.05 MB/s"),
        (replace(QUIET, network_bytes_per_second=118e6), "network 118 MB/s of at most 1.05 MB/s"),
        (Idle(5.0, 4), ""),
        (replace(QUIET, seconds=4.9, cpu_ratio=1.0), ""),
        (None, ""),
    ],
)
def test_a_node_is_quiet_up_to_each_limit_and_what_it_does_not_tell_is_not_judged(
    idle: Idle | None, words: str
) -> None:
    assert excess_of(idle, NOBODY, LIMITS) == words


def test_all_that_is_too_much_is_named() -> None:
    busy = replace(QUIET, cpu_ratio=0.5, disk_bytes_per_second=5e6)
    assert excess_of(busy, Neighbours(0, ("7",)), LIMITS) == (
        "processors busy 50% of at most 10% of the time; disks 5 MB/s of at most 1.05 MB/s; "
        "batch jobs 7: 1 of at most 0"
    )


@pytest.mark.parametrize(
    ("neighbours", "limits", "words"),
    [
        (None, LIMITS, ""),
        (Neighbours(None, None), LIMITS, ""),
        (Neighbours(30, ()), LIMITS, ""),
        (Neighbours(1, ()), QuietLimits(sessions=1), ""),
        (Neighbours(2, ()), QuietLimits(sessions=1), "2 sessions of people of at most 1"),
        (Neighbours(0, ("7", "8")), QuietLimits(jobs=2), ""),
        (
            Neighbours(0, tuple("123456")),
            LIMITS,
            "batch jobs 1, 2, 3, 4, 5 and more: 6 of at most 0",
        ),
    ],
)
def test_who_else_is_there_counts_as_the_nodes_administrator_says(
    neighbours: Neighbours | None, limits: QuietLimits, words: str
) -> None:
    assert excess_of(None, neighbours, limits) == words


@pytest.mark.parametrize("policy", [QuietPolicy.FLAG, QuietPolicy.IGNORE])
@pytest.mark.parametrize("what", [seen(), seen(excess="busy"), seen(None), seen(is_asked=False)])
def test_who_only_flags_or_ignores_never_waits(policy: QuietPolicy, what: Seen) -> None:
    assert decide(policy, 60.0, what) == Start()


@pytest.mark.parametrize("policy", [QuietPolicy.WAIT, QuietPolicy.REFUSE])
def test_a_run_starts_at_once_where_the_sample_is_old_enough_and_quiet(policy: QuietPolicy) -> None:
    assert decide(policy, 60.0, seen()) == Start()


@pytest.mark.parametrize("policy", [QuietPolicy.WAIT, QuietPolicy.REFUSE])
@pytest.mark.parametrize("what", [seen(replace(QUIET, seconds=2.2)), seen(None), seen(is_asked=False)])
def test_only_where_the_sample_is_younger_a_run_waits_for_it(policy: QuietPolicy, what: Seen) -> None:
    assert isinstance(decide(policy, 60.0, what), Wait)


def test_a_young_sample_says_how_old_it_is() -> None:
    young = decide(QuietPolicy.REFUSE, 0.0, seen(replace(QUIET, seconds=2.2)))
    assert young == Wait("sampling how quiet the node is: 2 s of 5 s")


def test_a_run_that_waits_says_for_what_and_how_long() -> None:
    waiting = decide(QuietPolicy.WAIT, 60.0, seen(excess="load 3.2 of at most 0.5 per processor", waited=12.1))
    assert waiting == Wait("waiting for a quiet node: load 3.2 of at most 0.5 per processor; 12 s of 60 s")


def test_a_run_that_waited_in_vain_is_declined_so_that_others_get_its_nodes() -> None:
    away = decide(QuietPolicy.WAIT, 60.0, seen(excess="network 118 MB/s of at most 1.05 MB/s", waited=60.0))
    assert isinstance(away, TurnAway)
    assert away.outcome is Outcome.DECLINED
    assert away.reason.startswith(
        "the node is not quiet after 60 s of 60 s: network 118 MB/s of at most 1.05 MB/s; find what runs there"
    )
    assert "[quiet] of the node's agent.toml" in away.reason


def test_a_run_that_refuses_fails_at_once_with_what_was_measured_and_the_remedy() -> None:
    away = decide(QuietPolicy.REFUSE, 0.0, seen(excess="batch jobs 7: 1 of at most 0"))
    assert isinstance(away, TurnAway)
    assert away.outcome is Outcome.FAILED
    assert away.reason.startswith("the node is not quiet: batch jobs 7: 1 of at most 0; find what runs there")


@pytest.mark.parametrize("policy", [QuietPolicy.WAIT, QuietPolicy.REFUSE])
def test_a_node_that_cannot_be_sampled_is_given_back(policy: QuietPolicy) -> None:
    away = decide(policy, 600.0, seen(None, waited=PATIENCE_SECONDS))
    assert isinstance(away, TurnAway)
    assert away.outcome is Outcome.DECLINED


def before(excess: str) -> ForeignBefore:
    nothing = dict.fromkeys(ForeignBefore.model_fields)
    values = nothing | {"seconds": 5.0, "waited_seconds": 0.0, "processors": 4, "excess": excess}
    return ForeignBefore.model_validate(values)


def test_a_run_on_a_busy_node_is_marked_unless_its_campaign_ignores_that() -> None:
    [flag] = judge_before(before("processors busy 45%"), QuietPolicy.FLAG)
    assert (flag.code, flag.effect) == (FlagCode.FOREIGN_LOAD, FlagEffect.MARKED)
    assert (flag.measured, flag.limit) == ("just before the run: processors busy 45%", "a quiet node")
    assert judge_before(before("processors busy 45%"), QuietPolicy.IGNORE) == []
    assert judge_before(before(""), QuietPolicy.FLAG) == judge_before(None, QuietPolicy.FLAG) == []
