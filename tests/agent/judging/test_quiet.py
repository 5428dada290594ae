"""Detection of other load on a node, and its effect on a run under each policy of a campaign."""

from dataclasses import replace

import pytest
from agent.judging.rows import flags_of

from iotide_agent.judging.quiet import (
    FLAG_PATIENCE_SECONDS,
    PATIENCE_SECONDS,
    Idle,
    Neighbours,
    Reject,
    Seen,
    Start,
    Wait,
    collected,
    decide,
    excess_of,
    judge_before,
    judge_unmeasured,
)
from iotide_agent.node.config import QuietLimits
from iotide_wire.foreign import ForeignBefore
from iotide_wire.measured import Check, Flag, FlagCode, FlagEffect, NotJudged
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
NO_NEIGHBOURS = Neighbours(sessions=2, jobs=())
MEBIBYTE = 1024.0**2


def seen(idle: Idle | None = QUIET, excess: str = "", waited: float = 0.0, *, is_asked: bool = True) -> Seen:
    return Seen(idle, is_asked, excess, waited)


@pytest.mark.parametrize(
    ("idle", "words"),
    [
        (QUIET, ""),
        (replace(QUIET, running_tasks=2.0), ""),
        (replace(QUIET, running_tasks=12.8), "load 3.2 of at most 0.5 per CPU"),
        (replace(QUIET, cpu_ratio=0.10), ""),
        (replace(QUIET, cpu_ratio=0.45), "CPUs busy 45 % of at most 10 % of the time"),
        (replace(QUIET, psi_cpu_ratio=0.2), "tasks waited for a CPU 20 % of at most 10 % of the time"),
        (replace(QUIET, psi_io_ratio=0.5), "tasks waited for storage 50 % of at most 10 % of the time"),
        (replace(QUIET, disk_bytes_per_second=MEBIBYTE), ""),
        (replace(QUIET, disk_bytes_per_second=5e6), "disks 5 MB/s of at most 1.05 MB/s"),
        (replace(QUIET, network_bytes_per_second=118e6), "network 118 MB/s of at most 1.05 MB/s"),
        (Idle(5.0, 4), ""),
        (replace(QUIET, seconds=4.9, cpu_ratio=1.0), ""),
        (None, ""),
    ],
)
def test_a_node_is_idle_up_to_each_limit_and_missing_values_are_not_judged(idle: Idle | None, words: str) -> None:
    assert excess_of(idle, NO_NEIGHBOURS, LIMITS) == words


def test_all_that_is_too_much_is_named() -> None:
    busy = replace(QUIET, cpu_ratio=0.5, disk_bytes_per_second=5e6)
    assert excess_of(busy, Neighbours(0, ("7",)), LIMITS) == (
        "CPUs busy 50 % of at most 10 % of the time; disks 5 MB/s of at most 1.05 MB/s; batch jobs 7: 1 of at most 0"
    )


@pytest.mark.parametrize(
    ("neighbours", "limits", "words"),
    [
        (None, LIMITS, ""),
        (Neighbours(None, None), LIMITS, ""),
        (Neighbours(30, ()), LIMITS, ""),
        (Neighbours(1, ()), QuietLimits(sessions=1), ""),
        (Neighbours(2, ()), QuietLimits(sessions=1), "2 user sessions of at most 1"),
        (Neighbours(0, ("7", "8")), QuietLimits(jobs=2), ""),
        (
            Neighbours(0, tuple("123456")),
            LIMITS,
            "batch jobs 1, 2, 3, 4, 5 and more: 6 of at most 0",
        ),
    ],
)
def test_other_jobs_count_as_the_nodes_administrator_configured(
    neighbours: Neighbours | None, limits: QuietLimits, words: str
) -> None:
    assert excess_of(None, neighbours, limits) == words


UNSAMPLED = [seen(replace(QUIET, seconds=2.2)), seen(None), seen(is_asked=False)]


@pytest.mark.parametrize("what", [seen(), seen(excess="busy"), *UNSAMPLED])
def test_a_run_that_ignores_other_load_never_waits(what: Seen) -> None:
    assert decide(QuietPolicy.IGNORE, 60.0, what) == Start()


@pytest.mark.parametrize("what", [seen(), seen(excess="busy")])
def test_a_run_that_only_flags_starts_at_once_if_the_sample_is_long_enough(what: Seen) -> None:
    assert decide(QuietPolicy.FLAG, 60.0, what) == Start()


@pytest.mark.parametrize("what", UNSAMPLED)
def test_a_run_that_only_flags_waits_only_for_a_sample(what: Seen) -> None:
    assert isinstance(decide(QuietPolicy.FLAG, 0.0, what), Wait)
    assert decide(QuietPolicy.FLAG, 0.0, replace(what, waited_seconds=FLAG_PATIENCE_SECONDS)) == Start()


def test_a_run_that_only_flags_does_not_wait_for_another_run_of_ours() -> None:
    assert decide(QuietPolicy.FLAG, 0.0, replace(seen(None), is_shared=True)) == Start()


@pytest.mark.parametrize("policy", [QuietPolicy.WAIT, QuietPolicy.REFUSE])
def test_a_run_starts_at_once_where_the_sample_is_old_enough_and_quiet(policy: QuietPolicy) -> None:
    assert decide(policy, 60.0, seen()) == Start()


@pytest.mark.parametrize("policy", [QuietPolicy.WAIT, QuietPolicy.REFUSE])
@pytest.mark.parametrize("what", [seen(replace(QUIET, seconds=2.2)), seen(None), seen(is_asked=False)])
def test_only_where_the_sample_is_younger_a_run_waits_for_it(policy: QuietPolicy, what: Seen) -> None:
    assert isinstance(decide(policy, 60.0, what), Wait)


def test_a_young_sample_says_how_old_it_is() -> None:
    young = decide(QuietPolicy.REFUSE, 0.0, seen(replace(QUIET, seconds=2.2)))
    assert young == Wait("sampling the idle node: 2 s of 5 s")


def test_a_run_that_waits_says_for_what_and_how_long() -> None:
    waiting = decide(QuietPolicy.WAIT, 60.0, seen(excess="load 3.2 of at most 0.5 per CPU", waited=12.1))
    assert waiting == Wait("waiting for an idle node: load 3.2 of at most 0.5 per CPU; 12 s of 60 s")


def test_a_run_that_waited_in_vain_is_declined_so_that_others_get_its_nodes() -> None:
    away = decide(QuietPolicy.WAIT, 60.0, seen(excess="network 118 MB/s of at most 1.05 MB/s", waited=60.0))
    assert isinstance(away, Reject)
    assert away.outcome is Outcome.DECLINED
    assert away.reason.startswith(
        "the node is not idle after 60 s of 60 s: network 118 MB/s of at most 1.05 MB/s; find and stop what runs there"
    )
    assert "[quiet] of the node's agent.toml" in away.reason


def test_a_run_that_refuses_fails_at_once_with_what_was_measured_and_the_remedy() -> None:
    away = decide(QuietPolicy.REFUSE, 0.0, seen(excess="batch jobs 7: 1 of at most 0"))
    assert isinstance(away, Reject)
    assert away.outcome is Outcome.FAILED
    assert away.reason.startswith("the node is not idle: batch jobs 7: 1 of at most 0; find and stop what runs there")


@pytest.mark.parametrize("policy", [QuietPolicy.WAIT, QuietPolicy.REFUSE])
def test_a_node_that_cannot_be_sampled_is_given_back(policy: QuietPolicy) -> None:
    away = decide(policy, 600.0, seen(None, waited=PATIENCE_SECONDS))
    assert isinstance(away, Reject)
    assert away.outcome is Outcome.DECLINED


def before(excess: str = "", *, seconds: float = 5.0, **more: object) -> ForeignBefore:
    nothing = dict.fromkeys(ForeignBefore.model_fields)
    reported = ("running_tasks", "psi_cpu_ratio", "psi_io_ratio", "disk_bytes_per_second", "network_bytes_per_second")
    values = nothing | dict.fromkeys((*reported, "cpu_ratio", "sessions"), 0)
    values |= {"seconds": seconds, "waited_seconds": 0.0, "processors": 4, "excess": excess}
    return ForeignBefore.model_validate(values | more)


def test_a_run_on_a_busy_node_is_marked_unless_its_campaign_ignores_that() -> None:
    [flag] = flags_of(judge_before(before("CPUs busy 45 %"), QuietPolicy.FLAG))
    assert (flag.code, flag.effect) == (FlagCode.FOREIGN_LOAD, FlagEffect.MARKED)
    assert (flag.measured, flag.limit) == ("just before the run: CPUs busy 45 %", "an idle node")
    assert judge_before(before("CPUs busy 45 %"), QuietPolicy.IGNORE) == []
    assert judge_before(before(), QuietPolicy.FLAG) == []


def test_a_mark_from_seconds_of_gaps_between_runs_says_within_which_time_they_were() -> None:
    [flag] = flags_of(judge_before(before("CPUs busy 45 %", within_seconds=42.4), QuietPolicy.FLAG))
    assert flag.measured == "within 42 s before the run: CPUs busy 45 %"


@pytest.mark.parametrize(
    ("what", "found"),
    [
        (
            None,
            {
                Check.LOAD_BEFORE: "sample 0 s of 5 s",
                Check.NEIGHBOURS: "neither `who` nor a batch system answered",
            },
        ),
        (before(seconds=1.08), {Check.LOAD_BEFORE: "sample 1.08 s of 5 s"}),
        (before(cpu_ratio=None), {Check.LOAD_BEFORE: "the kernel does not report CPU time"}),
        (
            before(psi_cpu_ratio=None, psi_io_ratio=None),
            {
                Check.LOAD_BEFORE: "the node does not report waits for CPU, waits for storage, or part of it was the "
                "previous run's own"
            },
        ),
        (before(sessions=None), {Check.NEIGHBOURS: "neither `who` nor a batch system answered"}),
        (before(sessions=None, jobs=()), {}),
    ],
)
def test_activity_that_was_not_sampled_before_a_run_is_not_judged(
    what: ForeignBefore | None, found: dict[Check, str]
) -> None:
    answers = judge_before(what, QuietPolicy.FLAG)
    assert flags_of(answers) == []
    assert {answer.check: answer.because for answer in answers if isinstance(answer, NotJudged)} == found


SHORT = "write 1 whole second, 5 needed"


def test_a_short_run_after_a_sample_that_was_too_short_is_marked_as_not_measured_with_both_reasons() -> None:
    busy = before(seconds=1.08, cpu_ratio=0.97)
    [flag] = judge_unmeasured(busy, SHORT, [])
    assert (flag.code, flag.effect) == (FlagCode.LOAD_NOT_MEASURED, FlagEffect.MARKED)
    assert flag.measured == f"before the run: sample 1.08 s of 5 s; during the run: {SHORT}"
    assert flag.limit == "5 idle seconds before the run, or 5 whole seconds of a phase"


def test_a_run_with_load_measured_before_or_during_it_needs_no_mark() -> None:
    assert judge_unmeasured(before(), SHORT, []) == []
    assert judge_unmeasured(None, "", []) == []


def test_a_run_that_is_known_to_have_met_other_load_is_not_called_unmeasured() -> None:
    flag = Flag(code=FlagCode.FOREIGN_LOAD, effect=FlagEffect.MARKED, measured="batch jobs 7", limit="an idle node")
    assert judge_unmeasured(None, SHORT, [flag]) == []
    assert judge_unmeasured(None, SHORT, [flag.model_copy(update={"code": FlagCode.DURATION})]) != []


def test_samples_of_several_gaps_count_by_their_seconds_and_a_value_that_one_lacks_is_missing() -> None:
    one, other = replace(QUIET, seconds=1.0, cpu_ratio=0.9), replace(QUIET, seconds=4.0, cpu_ratio=0.1)
    together = collected([one, replace(other, psi_io_ratio=None)], 33.0)
    assert (together.seconds, together.within_seconds) == (5.0, 33.0)
    assert together.cpu_ratio == pytest.approx(0.26)
    assert together.psi_io_ratio is None
    assert together.disk_bytes_per_second == pytest.approx(60_000.0)
