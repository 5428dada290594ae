"""Results of a run: the tool's own output, partial results, flags, and a digest over all of it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from agent.made_orders import DD_OPTIONS, make_order
from factories.outcomes import make_place

from iotide_agent.core.spool import OrderFiles
from iotide_agent.judging.run import Witness
from iotide_agent.orders.parsing import RunReader, Verdict
from iotide_agent.orders.plan import Plan
from iotide_agent.orders.results import MAX_FILE_BYTES, Collector, environment_of, refusal
from iotide_agent.runner.card import output_name
from iotide_agent.workloads.base import Curve, Parsed, Place, Sample, StepOutcome
from iotide_agent.workloads.dd import DdOptions, DdWorkload
from iotide_agent.workloads.registry import workload
from iotide_agent.workloads.releases import Releases
from iotide_wire.foreign import ForeignBefore
from iotide_wire.measured import Check, Flag, FlagCode, FlagEffect
from iotide_wire.messages import FinishRequest, Outcome

SIZE_BYTES = DD_OPTIONS["file_size_bytes"]
GOOD = f"8+0 records in\n8+0 records out\n{SIZE_BYTES} bytes (8.4 MB, 8.0 MiB) copied, 0.5 s, 16.8 MB/s\n"
FULL = "dd: error writing '/t/dd.data': No space left on device\n1+0 records in\n0+0 records out\n"


def record(name: str, **changes: object) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": name,
        "before_done": "drop",
        "started_at_epoch_seconds": 1_800_000_000.0,
        "wall_seconds": 0.6,
        "exit_status": 0,
        "signal": None,
        "user_seconds": 0.1,
        "system_seconds": 0.2,
        "max_rss_bytes": 10_000_000,
        "stdout_left_out_bytes": 0,
        "stderr_left_out_bytes": 0,
    }
    return values | changes


class Faulty(DdWorkload):
    """Plug-in whose parser yields too many samples, or values that are not numbers."""

    def __init__(self, parsed: Parsed) -> None:
        super().__init__()
        self.parsed = parsed

    def read(self, options: DdOptions, place: Place, outcome: StepOutcome) -> Parsed:
        del options, place
        return self.parsed if outcome.step.name == "write" else Parsed()


Collect = Callable[..., FinishRequest]
QUIET = ForeignBefore.model_validate(
    dict.fromkeys(ForeignBefore.model_fields)
    | {"seconds": 5.0, "waited_seconds": 0.0, "processors": 4, "cpu_ratio": 0.01, "sessions": 0, "excess": ""}
)
"""Five seconds with almost no data."""


@pytest.fixture
def collect(tmp_path: Path) -> Collect:
    files = OrderFiles(tmp_path)
    files.output.mkdir()
    found = workload("dd", {})
    place = replace(make_place(tmp_path), target_id=1, facts={"cpu.count": 4})
    options = found.options_type.model_validate(DD_OPTIONS)
    plan = Plan((place,), tuple(found.plan(options, [place])))

    def run(
        records: list[dict[str, Any]],
        outputs: list[str],
        faulty: Faulty | None = None,
        before: ForeignBefore | None = QUIET,
        quiet: str = "flag",
        reader: Callable[[RunReader], RunReader] = lambda reader: reader,
        **ended: object,
    ) -> FinishRequest:
        for ordinal, (one, text) in enumerate(zip(records, outputs, strict=True)):
            (files.output / f"{output_name(ordinal, one['name'])}.stderr").write_text(text)
        values: dict[str, Any] = {
            "outcome": "finished",
            "code": None,
            "reason": None,
            "started_at_epoch_seconds": 1_800_000_000.0,
            "ended_at_epoch_seconds": 1_800_000_002.0,
            "mount_problems": [],
            "steps": records,
        }
        last_word = values | ended
        read = reader(RunReader(last_word, plan, faulty or found, options))
        collector = Collector(files, read, Witness(last_word, [], None, None), before)
        return collector.result(make_order(quiet=quiet), "instance-1", environment_of(plan, make_order(), "dd 9.1"), [])

    return run


def test_a_good_run_has_samples_steps_and_its_raw_output(collect: Collect, tmp_path: Path) -> None:
    result = collect([record("write"), record("read")], [GOOD, GOOD])
    assert result.outcome is Outcome.FINISHED
    throughput = [sample.value for sample in result.samples if sample.metric == "throughput"]
    assert throughput == [SIZE_BYTES / 0.5] * 2
    assert result.started_at == datetime.fromtimestamp(1_800_000_000, UTC)
    assert [artefact.name for artefact in result.artefacts] == [
        "000-write.stderr",
        "001-read.stderr",
        "runner.json",
    ]
    assert (tmp_path / "artefacts/000-write.stderr").read_text() == GOOD


def test_curves_of_the_tool_are_within_the_seconds_of_the_load(collect: Collect) -> None:
    curve = Curve("dd_bytes_per_second", datetime.fromtimestamp(1_800_000_001.2, UTC), (5.0, 6.0))
    result = collect([record("write"), record("read")], [GOOD, GOOD], Faulty(Parsed(curves=[curve])))
    [piece] = result.curves
    assert (piece.counter, piece.values) == ("dd_bytes_per_second", (5.0, 6.0))
    assert piece.started_at == datetime.fromtimestamp(1_800_000_001, UTC)


def test_curve_that_cannot_be_sent_fails_the_run_and_keeps_its_output(collect: Collect) -> None:
    curve = Curve("dd_bytes_per_second", datetime.fromtimestamp(1_800_000_000, UTC), (float("inf"),))
    result = collect([record("write"), record("read")], [GOOD, GOOD], Faulty(Parsed(curves=[curve])))
    assert (result.reason_code, result.curves) == ("parser_fault", ())
    assert result.artefacts


def test_a_failed_step_keeps_what_came_before_it_and_is_rejected(collect: Collect) -> None:
    records = [record("write"), record("read", exit_status=1)]
    result = collect(records, [GOOD, FULL], outcome="failed", code="step_failed", reason="step read failed")
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "tool_failed")
    assert result.reason == "step read: dd: error writing '/t/dd.data': No space left on device"
    assert {sample.labels["operation"] for sample in result.samples} == {"write"}
    assert FlagCode.ERRORS in {flag.code for flag in result.flags}


def test_a_run_that_its_time_limit_ended_blames_the_limit_and_not_the_storage(collect: Collect) -> None:
    cut = record("read", exit_status=None, signal=2)
    words = "the time limit of 60 s was reached"
    result = collect([record("write"), cut], [GOOD, ""], outcome="failed", code="time_limit", reason=words)
    assert result.reason == f"{words}; raise the limit or reduce the size"
    [flag] = [flag for flag in result.flags if flag.effect is FlagEffect.REJECTED]
    assert (flag.code, flag.measured) == (FlagCode.CUT, result.reason)


@pytest.mark.parametrize(
    ("outcome", "code", "signal", "flagged"),
    [
        ("cancelled", "cancelled", 15, FlagCode.CUT),
        ("failed", "node_shut_down", 15, FlagCode.CUT),
        ("failed", "agent_stopped", 15, FlagCode.CUT),
        ("failed", "step_failed", 9, FlagCode.CUT),
        ("failed", "step_failed", None, FlagCode.ERRORS),
        ("failed", "target_hangs", 15, FlagCode.ERRORS),
    ],
)
def test_an_external_end_of_a_run_is_not_an_error_of_its_storage(
    collect: Collect, outcome: str, code: str, signal: int | None, flagged: FlagCode
) -> None:
    ended = record("read", exit_status=None if signal else 1, signal=signal)
    result = collect([record("write"), ended], [GOOD, ""], outcome=outcome, code=code, reason="it ended")
    assert {flag.code for flag in result.flags if flag.effect is FlagEffect.REJECTED} == {flagged}


def test_output_that_contradicts_the_plan_is_rejected_despite_the_tools_success(collect: Collect) -> None:
    short = GOOD.replace("8+0", "4+0").replace(str(SIZE_BYTES), str(SIZE_BYTES // 2))
    result = collect([record("write"), record("read")], [GOOD, short])
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "output_refused")
    assert "4+0 records in" in str(result.reason)
    assert str(result.reason).endswith("; read the kept output again with a newer agent: iotide run reparse")


class TestedBefore(DdWorkload):
    __test__ = False
    supported: ClassVar[tuple[Releases, ...]] = (Releases("dd", "8.0", "9.0"),)


def test_results_of_a_release_that_was_never_tested_say_so(collect: Collect) -> None:
    newer = partial(replace, workload=TestedBefore(), tool_version="dd (coreutils) 9.4")
    result = collect([record("write"), record("read")], [GOOD, GOOD], reader=newer)
    assert result.outcome is Outcome.FINISHED
    said = {one.check: one.because for one in result.not_judged or ()}
    assert said[Check.TOOL_RELEASE] == "dd 9.4 is newer than 9.0, the newest that was tested"


class PrintsItsRelease(TestedBefore):
    """Takes the number of bytes for the release."""

    printed_release: ClassVar[re.Pattern[str] | None] = re.compile(r"(\d+) bytes")


def test_release_in_the_output_counts_where_the_version_command_names_none(collect: Collect) -> None:
    unknown = partial(replace, workload=PrintsItsRelease(), tool_version="unknown")
    result = collect([record("write"), record("read")], [GOOD, GOOD], reader=unknown)
    said = {one.check: one.because for one in result.not_judged or ()}
    assert said[Check.TOOL_RELEASE] == f"dd {8 * 1024**2} is newer than 9.0, the newest that was tested"


def test_unreadable_output_names_its_release_and_keeps_the_other_steps(collect: Collect) -> None:
    newer = partial(replace, workload=TestedBefore(), tool_version="dd (coreutils) 9.4")
    result = collect([record("write"), record("read")], [GOOD, "copied 8 MB\n"], reader=newer)
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "output_refused")
    assert "copied 8 MB" in str(result.reason)
    assert str(result.reason).endswith("printed by dd (coreutils) 9.4; install dd 8.0 to 9.0 on the node")
    assert {sample.labels["operation"] for sample in result.samples} == {"write"}


def test_a_cancelled_run_stays_cancelled(collect: Collect) -> None:
    cut = record("write", exit_status=None, signal=15)
    result = collect([cut], [""], outcome="cancelled", code="cancelled", reason="by the user")
    assert (result.outcome, result.reason, result.samples) == (Outcome.CANCELLED, "by the user", ())


@pytest.mark.parametrize("jump_seconds", [-1.7e9, -3600.0, 0.0, 1e8])
def test_the_duration_of_a_run_is_measured_by_the_monotonic_clock(collect: Collect, jump_seconds: float) -> None:
    clocks = {
        "started_at_boottime_seconds": 7.0,
        "ended_at_boottime_seconds": 9.5,
        "ended_at_epoch_seconds": 1_800_000_002.5 + jump_seconds,
    }
    result = collect([record("write"), record("read")], [GOOD, GOOD], **clocks)
    assert result.ended_at == datetime.fromtimestamp(1_800_000_002.5, UTC)
    assert any(flag.code is FlagCode.TIME_SET for flag in result.flags) == (jump_seconds != 0.0)


def test_a_mount_that_changed_rejects_the_numbers(collect: Collect) -> None:
    result = collect([record("write"), record("read")], [GOOD, GOOD], mount_problems=["/t is on ext4"])
    [flag] = [flag for flag in result.flags if flag.code is FlagCode.WRONG_MOUNT]
    assert (flag.effect, flag.measured) == ("rejected", "/t is on ext4")


def test_the_nodes_measurements_are_judged_and_separate_from_the_parsers(collect: Collect, tmp_path: Path) -> None:
    clocks = {"started_at_boottime_seconds": 7.0, "ended_at_boottime_seconds": 9.5}
    result = collect([record("write"), record("read", wall_seconds=2.0, system_seconds=1.9)], [GOOD, GOOD], **clocks)
    judged = json.loads((tmp_path / "artefacts/judged.json").read_text())
    assert [(flag["code"], flag["labels"].get("operation")) for flag in judged] == [
        ("TIME_SET", None),
        ("CLIENT_BOUND", "read"),
    ]
    assert {flag["measured"] for flag in judged} < {flag.measured for flag in result.flags}


@pytest.mark.parametrize(("quiet", "codes"), [("flag", ["FOREIGN_LOAD"]), ("ignore", [])])
def test_other_load_before_the_load_is_part_of_the_result_and_flagged_by_the_campaigns_policy(
    collect: Collect, quiet: str, codes: list[str]
) -> None:
    before = QUIET.model_copy(update={"cpu_ratio": 0.5, "excess": "CPUs busy 50%"})
    result = collect([record("write"), record("read")], [GOOD, GOOD], before=before, quiet=quiet)
    assert [flag.code for flag in result.flags if flag.code is FlagCode.FOREIGN_LOAD] == codes
    assert result.foreign is not None
    assert result.foreign.before == before


UNSEEN = QUIET.model_copy(update={"seconds": 1.08, "cpu_ratio": 0.97})


def test_a_short_run_after_1_s_of_97_percent_cpu_says_that_its_load_was_not_measured(collect: Collect) -> None:
    result = collect([record("write"), record("read")], [GOOD, GOOD], before=UNSEEN)
    [flag] = [flag for flag in result.flags if flag.code is FlagCode.LOAD_NOT_MEASURED]
    assert flag.measured == (
        "before the run: sample 1.08 s of 5 s; "
        "during the run: write 0 whole seconds, 5 needed; read 0 whole seconds, 5 needed"
    )
    ignored = collect([record("write"), record("read")], [GOOD, GOOD], before=UNSEEN, quiet="ignore")
    assert FlagCode.LOAD_NOT_MEASURED not in {flag.code for flag in ignored.flags}


def test_checks_that_saw_too_little_are_part_of_the_result_with_what_was_missing(collect: Collect) -> None:
    result = collect([record("write"), record("read")], [GOOD, GOOD], before=UNSEEN)
    assert result.not_judged is not None
    found = {(answer.check, answer.phase): answer.because for answer in result.not_judged}
    assert found[Check.LOAD_BEFORE, ""] == "sample 1.08 s of 5 s"
    assert found[Check.STEADINESS, "write"] == "0 s, 25 needed"
    assert found[Check.STORAGE_CONDITION, ""] == "it was not read before and after the run"
    assert found[Check.CACHE_SIZE, ""] == "the node does not report its memory"
    assert {check for check, _ in found} >= {Check.CLOCK, Check.STORAGE_ERRORS, Check.CLIENT_LIMIT, Check.LOAD_DURING}


def test_a_fault_of_the_agents_own_in_judging_leaves_no_check_as_if_it_had_passed(
    collect: Collect, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("unknown value")

    monkeypatch.setattr("iotide_agent.orders.results.judge_run", fail)
    result = collect([record("write"), record("read")], [GOOD, GOOD], before=UNSEEN)
    assert FlagCode.LOAD_NOT_MEASURED in {flag.code for flag in result.flags}
    assert result.not_judged is not None
    failed = {answer.check for answer in result.not_judged if "could not check the run" in answer.because}
    assert failed >= {Check.CLOCK, Check.STORAGE_CONDITION, Check.STEADINESS, Check.CLIENT_LIMIT, Check.LOAD_DURING}


def test_a_failed_run_is_not_judged(collect: Collect, tmp_path: Path) -> None:
    clocks = {"started_at_boottime_seconds": 7.0, "ended_at_boottime_seconds": 9.5}
    collect([record("write", exit_status=1)], [FULL], outcome="failed", code="step_failed", reason="x", **clocks)
    assert not (tmp_path / "artefacts/judged.json").exists()


def test_a_number_that_is_none_costs_the_samples_but_not_the_raw_output(collect: Collect) -> None:
    sample = Sample("throughput", float("nan"), {"operation": "write"}, 1)
    result = collect([record("write"), record("read")], [GOOD, GOOD], Faulty(Parsed((sample,), ())))
    assert (result.outcome, result.reason_code, result.samples) == (Outcome.FAILED, "parser_fault", ())
    assert "000-write.stderr" in {artefact.name for artefact in result.artefacts}
    assert len(result.steps) == 2


def test_equal_flags_are_reported_once_and_too_many_once_per_limit_rejecting_ones_first(collect: Collect) -> None:
    marked = [
        Flag(code=FlagCode.DURATION, effect=FlagEffect.MARKED, measured=f"writer {number // 2}", limit="30 s")
        for number in range(4000)
    ]
    rejecting = Flag(code=FlagCode.FSYNC, effect=FlagEffect.REJECTED, measured="m", limit="l")
    for flags in ([*marked[:10], rejecting], [*marked, rejecting]):
        result = collect([record("write"), record("read")], [GOOD, GOOD], Faulty(Parsed((), flags)))
        if len(flags) == 11:
            assert [flag.measured for flag in result.flags] == [f"writer {number}" for number in range(5)] + ["m"]
        else:
            assert [(flag.code, flag.measured) for flag in result.flags] == [("FSYNC", "m"), ("DURATION", "writer 0")]


def test_the_digest_stands_for_everything_in_the_result(collect: Collect) -> None:
    once = collect([record("write"), record("read")], [GOOD, GOOD])
    again = collect([record("write"), record("read")], [GOOD, GOOD])
    other = collect([record("write"), record("read", wall_seconds=0.7)], [GOOD, GOOD])
    assert once.digest == again.digest
    assert once.digest != other.digest


def test_a_huge_output_file_is_cut_in_its_middle(collect: Collect, tmp_path: Path) -> None:
    with (OrderFiles(tmp_path).directory / "runner.log").open("wb") as log:
        log.write(b"begin")
        log.truncate(3 * MAX_FILE_BYTES)
        log.seek(0, 2)
        log.write(b"end")
    result = collect([record("write"), record("read")], [GOOD, GOOD])
    kept = (tmp_path / "artefacts/runner.log").read_bytes()
    assert kept.startswith(b"begin")
    assert kept.endswith(b"end")
    assert b"left out" in kept
    assert len(kept) < MAX_FILE_BYTES + 100
    assert "runner.log" in {artefact.name for artefact in result.artefacts}


def test_a_refusal_says_why_and_nothing_else() -> None:
    result = refusal(make_order(), "instance-1", Verdict(Outcome.DECLINED, "no_space", "x" * 10_000))
    assert (result.outcome, result.reason_code, result.steps) == (Outcome.DECLINED, "no_space", ())
    assert len(str(result.reason)) == 4000
