"""Parsing of a run's output: samples, flags and outcome, at once or later from kept raw output."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from iotide_agent.judging.cut import TIME_LIMIT, judge_cut, limit_reason
from iotide_agent.judging.direct import why_cached
from iotide_agent.judging.run import answers
from iotide_agent.orders.plan import Plan
from iotide_agent.orders.progress import check_curve
from iotide_agent.runner.card import output_name
from iotide_agent.workloads.base import Before, Curve, OutputRefusedError, Parsed, Sample, StepOutcome, Workload
from iotide_agent.workloads.quality import about, judge_cache_drop, judge_direct, rejected
from iotide_agent.workloads.releases import judge_release, unread_remedy
from iotide_wire.measured import Answer, Flag, FlagCode, NotJudged, SampleMessage, StepRole
from iotide_wire.messages import Outcome

_CUT_SHORT = frozenset({Outcome.FAILED, Outcome.CANCELLED})
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome of an order; a declined one may be tried again at `not_before`, by default when the server decides.

    `of_steps` has samples by step ordinal; `samples` also has those of all steps together.
    """

    outcome: Outcome
    code: str | None
    reason: str | None
    samples: tuple[SampleMessage, ...] = ()
    flags: tuple[Flag, ...] = ()
    curves: tuple[Curve, ...] = ()
    of_steps: tuple[tuple[SampleMessage, ...], ...] = ()
    not_before: datetime | None = None
    not_judged: tuple[NotJudged, ...] = ()


class RawOutput(ABC):
    @abstractmethod
    def stream(self, name: str) -> str:
        pass

    @abstractmethod
    def file(self, ordinal: int, path: Path) -> str | None:
        pass


_Read = tuple[tuple[SampleMessage, ...], Sequence[Answer], Sequence[Curve]]


class _UnreadError(Exception):
    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class RunReader:
    """Parser of one order's output; `plan` is None without directories.

    `reached` describes the load's progress; it is empty without samples. `tool_version` is None if it is not known.
    """

    ended: dict[str, Any]
    plan: Plan | None
    workload: Workload[Any]
    options: Any
    reached: str = ""
    tool_version: str | None = None

    def outcomes(self, raw: RawOutput) -> list[StepOutcome]:
        steps = chain.from_iterable(self.plan.groups if self.plan else ())
        return [
            StepOutcome(
                step=replace(step, argv=tuple(record["argv"])) if "argv" in record else step,
                stdout=raw.stream(f"{output_name(ordinal, step.name)}.stdout"),
                stderr=raw.stream(f"{output_name(ordinal, step.name)}.stderr"),
                truncated=record["stdout_left_out_bytes"] + record["stderr_left_out_bytes"] > 0,
                files={file.name: text for file in step.output_files if (text := raw.file(ordinal, file)) is not None},
                exit_status=record["exit_status"],
                signal=record["signal"],
                started_at=datetime.fromtimestamp(record["started_at_epoch_seconds"], UTC),
                wall_seconds=record["wall_seconds"],
                user_seconds=record["user_seconds"],
                system_seconds=record["system_seconds"],
                max_rss_bytes=record["max_rss_bytes"],
                before_done=Before(record["before_done"]),
                cached_because=why_cached(self.workload.tool or self.workload.name, record),
                launcher_hung=record.get("launcher_hung", False),
            )
            for ordinal, (step, record) in enumerate(zip(steps, self.ended["steps"], strict=False))
        ]

    def verdict(self, outcomes: Sequence[StepOutcome]) -> Verdict:
        """Return the outcome with all trustworthy numbers, also for a failed run.

        A member of a gang has none: its head reads the output of the program. It only says what it cached.
        """
        outcome, code, reason = Outcome(self.ended["outcome"]), self.ended["code"], self.ended["reason"]
        if self.plan is not None and any(place.step_role is StepRole.MEMBER for place in self.plan.places):
            flags = [*self._wrong_mounts(), *chain.from_iterable(map(self._cached_by_member, outcomes))]
            return Verdict(outcome, code, reason, flags=tuple(flags), of_steps=((),) * len(outcomes))
        failures = [self._failure(done) for done in outcomes]
        is_killed = False
        failed = [(done, failure) for done, failure in zip(outcomes, failures, strict=True) if failure is not None]
        if failed and (outcome is Outcome.FINISHED or code == "step_failed"):
            # The tool's message is more precise than its exit status, and some tools exit with 0 after an error. In a
            # group the first to end was the cause.
            first, failure = min(failed, key=lambda pair: _ended_at(pair[0]))
            outcome, code, reason = Outcome.FAILED, "tool_failed", f"step {first.step.name}: {failure}"
            is_killed = first.signal is not None
        elif failed and code == "stalled":
            # An earlier complaint often explains a hang: iozone waits for ever for dead processes.
            reason = f"{reason}; {failed[0][1]}"
        elif code == TIME_LIMIT:
            reason = limit_reason(reason, self.reached)
        reads = [
            partial(self._read, done, is_cut=failure is not None)
            for done, failure in zip(outcomes, failures, strict=True)
        ]
        conclude = partial(self._conclude, outcomes)
        read: list[_Read] = []
        for one in [*reads, conclude]:
            if one is conclude and outcome is not Outcome.FINISHED:
                continue  # one unreliable step makes the total unreliable
            try:
                read.append(one())
            except _UnreadError as error:
                read.append(((), (), ()))
                if outcome is Outcome.FINISHED:
                    outcome, code, reason = Outcome.FAILED, error.code, str(error)
        samples = tuple(chain.from_iterable(samples for samples, _, _ in read))
        cut = judge_cut(outcome, code, reason, is_killed=is_killed) if outcome in _CUT_SHORT and samples else ()
        release = judge_release(self._release(outcomes), self.workload.supported) if samples else ()
        flags, not_judged = answers(chain(self._wrong_mounts(), cut, release, *(found for _, found, _ in read)))
        curves = chain.from_iterable(curves for _, _, curves in read)
        of_steps = tuple(samples for samples, _, _ in read[: len(outcomes)])
        made = Verdict(outcome, code, reason, samples, tuple(flags), tuple(curves), of_steps)
        return replace(made, not_judged=tuple(not_judged))

    def _release(self, outcomes: Sequence[StepOutcome]) -> str | None:
        pattern = self.workload.printed_release
        if pattern is None:
            return self.tool_version
        texts = chain.from_iterable((done.stdout, done.stderr, *done.files.values()) for done in outcomes)
        found = next(filter(None, map(pattern.search, texts)), None)
        return found[1] if found else self.tool_version

    def _failure(self, done: StepOutcome) -> str | None:
        # Its output is whole, and only the launcher was killed.
        judged = replace(done, exit_status=0, signal=None) if done.launcher_hung else done
        try:
            return self.workload.failure(judged)
        except Exception as error:
            _logger.exception("failure_failed workload=%s", self.workload.name)
            return f"{self.workload.name} could not check its outcome: {error!r}"

    def _read(self, done: StepOutcome, *, is_cut: bool) -> _Read:
        if self.plan is None:
            return (), (), ()
        read = self.workload.read_cut if is_cut else self.workload.read
        place = self.plan.place_of(done.step).seen_by(done)
        return self._guarded(lambda: read(self.options, place, done))

    def _conclude(self, outcomes: Sequence[StepOutcome]) -> _Read:
        places = self.plan.places if self.plan else ()
        return self._guarded(lambda: self.workload.conclude(self.options, places, outcomes))

    def _guarded(self, work: Callable[[], Parsed]) -> _Read:
        try:
            parsed = work()
            for curve in parsed.curves:
                check_curve(curve)
            return tuple(map(_sample, parsed.samples)), (*parsed.flags, *parsed.not_judged), parsed.curves
        except OutputRefusedError as error:
            remedy = unread_remedy(self.tool_version, self.workload.supported)
            raise _UnreadError("output_refused", f"{error}; {remedy}") from error
        except Exception as error:
            # An error of a plug-in must not lose the run: its raw output can be parsed again.
            _logger.exception("parser_failed workload=%s", self.workload.name)
            raise _UnreadError("parser_fault", f"the parser of {self.workload.name} failed: {error!r}") from error

    def _cached_by_member(self, done: StepOutcome) -> list[Flag]:
        """Return CACHE_DROP and NO_DIRECT of a member's own page cache, which its head does not see."""
        if self.plan is None:
            return []
        wants_direct, place = bool(done.step.direct_files), self.plan.place_of(done.step).seen_by(done)
        found = judge_direct(place, wanted=wants_direct)
        is_warm = done.step.before is Before.DROP and done.before_done in {Before.NONE, Before.SYNC}
        # The head judges a sequence that reads only its own files.
        if is_warm and not done.step.is_sequence:
            found += judge_cache_drop(place, done, direct=wants_direct and place.direct_works)
        flags, _ = answers(about(flag, {"operation": done.step.name}, place) for flag in found)
        return flags

    def _wrong_mounts(self) -> list[Flag]:
        wanted = "the target's own mount, before and after the run"
        return [rejected(FlagCode.WRONG_MOUNT, problem, wanted) for problem in self.ended["mount_problems"]]


def _ended_at(done: StepOutcome) -> datetime:
    return done.started_at + timedelta(seconds=done.wall_seconds)


def _sample(sample: Sample) -> SampleMessage:
    return SampleMessage(
        metric=sample.metric, value=sample.value, labels=dict(sample.labels), target_id=sample.target_id
    )
