"""Reads what the steps of a run left: samples, flags and what the run came to, on the node and again years later."""

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
from iotide_agent.judging.run import answers
from iotide_agent.orders.plan import Plan
from iotide_agent.orders.progress import check_curve
from iotide_agent.runner.card import output_name
from iotide_agent.workloads.base import Before, Curve, OutputRefusedError, Parsed, Sample, StepOutcome, Workload
from iotide_agent.workloads.quality import rejected
from iotide_wire.measured import Answer, Flag, FlagCode, NotJudged, SampleMessage
from iotide_wire.messages import Outcome

_CUT_SHORT = frozenset({Outcome.FAILED, Outcome.CANCELLED})
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an order came to; a declined one may be tried again at `not_before`, if the server is not to say when.

    `of_steps` has the samples of each step by ordinal; `samples` has those of all steps together as well.
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
    """Where the raw output of a run is."""

    @abstractmethod
    def stream(self, name: str) -> str:
        """What a step printed, by its file's name; empty where there is none."""

    @abstractmethod
    def file(self, ordinal: int, path: Path) -> str | None:
        """What a step wrote to one of its output files; None where there is none."""


_Read = tuple[tuple[SampleMessage, ...], Sequence[Answer], Sequence[Curve]]


class _UnreadError(Exception):
    """The output of a step was refused, or its parser failed."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class RunReader:
    """Reads one order by the runner's last word; `plan` is None where the run never got its places.

    `reached` says how far the load came; it is empty where nothing was sampled.
    """

    ended: dict[str, Any]
    plan: Plan | None
    workload: Workload[Any]
    options: Any
    reached: str = ""

    def outcomes(self, raw: RawOutput) -> list[StepOutcome]:
        """The steps as they went, those that were begun."""
        steps = chain.from_iterable(self.plan.groups if self.plan else ())
        return [
            StepOutcome(
                step=step,
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
            )
            for ordinal, (step, record) in enumerate(zip(steps, self.ended["steps"], strict=False))
        ]

    def verdict(self, outcomes: Sequence[StepOutcome]) -> Verdict:
        """What the order came to, with all numbers that can be trusted, also of a run that failed."""
        outcome, code, reason = Outcome(self.ended["outcome"]), self.ended["code"], self.ended["reason"]
        failures = [self._failure(done) for done in outcomes]
        is_killed = False
        failed = [(done, failure) for done, failure in zip(outcomes, failures, strict=True) if failure is not None]
        if failed and (outcome is Outcome.FINISHED or code == "step_failed"):
            # The tool's own words say more than its exit status, and some tools exit with 0 after an error. Of a group
            # the first to end was the cause: the others were stopped because of it.
            first, failure = min(failed, key=lambda pair: _ended_at(pair[0]))
            outcome, code, reason = Outcome.FAILED, "tool_failed", f"step {first.step.name}: {failure}"
            is_killed = first.signal is not None
        elif failed and code == "stalled":
            # Why it hangs is often what it complained of before: iozone waits for ever for processes that died.
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
                continue  # where one step cannot be believed, all of them together cannot
            try:
                read.append(one())
            except _UnreadError as error:
                read.append(((), (), ()))
                if outcome is Outcome.FINISHED:
                    outcome, code, reason = Outcome.FAILED, error.code, str(error)
        samples = tuple(chain.from_iterable(samples for samples, _, _ in read))
        cut = judge_cut(outcome, code, reason, is_killed=is_killed) if outcome in _CUT_SHORT and samples else ()
        flags, not_judged = answers(chain(self._wrong_mounts(), cut, *(found for _, found, _ in read)))
        curves = chain.from_iterable(curves for _, _, curves in read)
        of_steps = tuple(samples for samples, _, _ in read[: len(outcomes)])
        made = Verdict(outcome, code, reason, samples, tuple(flags), tuple(curves), of_steps)
        return replace(made, not_judged=tuple(not_judged))

    def _failure(self, done: StepOutcome) -> str | None:
        try:
            return self.workload.failure(done)
        except Exception as error:
            _logger.exception("failure_failed workload=%s", self.workload.name)
            return f"{self.workload.name} could not judge its end: {error!r}"

    def _read(self, done: StepOutcome, *, is_cut: bool) -> _Read:
        if self.plan is None:
            return (), (), ()
        read = self.workload.read_cut if is_cut else self.workload.read
        place = self.plan.place_of(done.step)
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
            raise _UnreadError("output_refused", str(error)) from error
        except Exception as error:
            # A plug-in's own fault must not lose the run: its raw output is kept and can be read again.
            _logger.exception("parser_failed workload=%s", self.workload.name)
            raise _UnreadError("parser_fault", f"the parser of {self.workload.name} met {error!r}") from error

    def _wrong_mounts(self) -> list[Flag]:
        wanted = "the target's own mount, before and after the run"
        return [rejected(FlagCode.WRONG_MOUNT, problem, wanted) for problem in self.ended["mount_problems"]]


def _ended_at(done: StepOutcome) -> datetime:
    return done.started_at + timedelta(seconds=done.wall_seconds)


def _sample(sample: Sample) -> SampleMessage:
    return SampleMessage(
        metric=sample.metric, value=sample.value, labels=dict(sample.labels), target_id=sample.target_id
    )
