"""Makes an order's result of what the runner left: outcomes, samples, flags, raw output, curves, environment."""

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from iotide_agent.plan import Plan
from iotide_agent.progress import read_started_at
from iotide_agent.runner.card import output_name
from iotide_agent.spool import OrderFiles
from iotide_agent.workloads.base import Before, OutputRefusedError, Parsed, Sample, StepOutcome, Workload
from iotide_wire.facts import Facts
from iotide_wire.messages import (
    ArtefactFact,
    CurvePiece,
    FinishRequest,
    Flag,
    FlagCode,
    FlagEffect,
    Order,
    Outcome,
    SampleMessage,
    StepRecord,
)

MAX_FILE_BYTES: Final = 8 * 1024**2
"""Kept of an output file that a tool wrote itself; its streams are capped by the runner."""
_MAX_TEXT: Final = 4000
_MAX_FLAGS: Final = 1000
_MAX_OUTPUTS: Final = 998
_NO_DIGEST: Final = "0" * 64
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an order came to.

    Attributes:
        code, reason: None where it finished.
    """

    outcome: Outcome
    code: str | None
    reason: str | None
    samples: tuple[SampleMessage, ...] = ()
    flags: tuple[Flag, ...] = ()


def refusal(order: Order, instance: str, verdict: Verdict, artefacts: tuple[ArtefactFact, ...] = ()) -> FinishRequest:
    """The result of an order whose output cannot be read, or that never got as far as a runner."""
    return _sealed(
        FinishRequest(
            fence=order.fence,
            agent_instance=instance,
            digest=_NO_DIGEST,
            outcome=verdict.outcome,
            reason_code=verdict.code,
            reason=_text(verdict.reason),
            started_at=None,
            ended_at=datetime.now(UTC),
            steps=(),
            samples=(),
            flags=(),
            environment={},
            artefacts=artefacts,
            curves=(),
        )
    )


def environment_of(plan: Plan | None, order: Order, tool_version: str | None) -> Facts:
    """What a run's numbers depend on besides its options; a fact that changes is an event on their series."""
    facts: Facts = {"workload.revision": order.workload_revision, "tool.version": tool_version}
    for ordinal, place in enumerate(plan.places if plan else (), start=1):
        prefix = "" if ordinal == 1 else f"target{ordinal}."
        facts |= {f"{prefix}{name}": value for name, value in place.facts.items() if facts.get(name) != value}
    return facts


_Read = tuple[tuple[SampleMessage, ...], Sequence[Flag]]


class _UnreadError(Exception):
    """The output of a step was refused, or its parser failed."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class Collector:
    """Reads one order's files.

    Attributes:
        exit: the runner's last word.
        plan: None where the run never got its places.
        options: as the workload's own model.
    """

    files: OrderFiles
    exit: dict[str, Any]
    plan: Plan | None
    workload: Workload[Any]
    options: Any

    def result(self, order: Order, instance: str, environment: Facts, curves: Sequence[CurvePiece]) -> FinishRequest:
        """The result, and its artefacts beside it."""
        artefacts = keep_artefacts(self.files, self.exit, self.plan)
        outcomes = list(self._outcomes())
        verdict = self._verdict(outcomes)
        return _sealed(
            FinishRequest(
                fence=order.fence,
                agent_instance=instance,
                digest=_NO_DIGEST,
                outcome=verdict.outcome,
                reason_code=verdict.code,
                reason=_text(verdict.reason),
                started_at=read_started_at(self.exit),
                ended_at=datetime.fromtimestamp(self.exit["ended_at_epoch_seconds"], UTC),
                steps=tuple(map(_record, outcomes)),
                samples=verdict.samples,
                flags=_merged([*self._flags(verdict), *verdict.flags]),
                environment=environment,
                artefacts=artefacts,
                curves=tuple(curves),
            )
        )

    def _outcomes(self) -> Iterator[StepOutcome]:
        if self.plan is None:
            return
        steps = chain.from_iterable(self.plan.groups)
        for ordinal, (step, record) in enumerate(zip(steps, self.exit["steps"], strict=False)):
            stem = output_name(ordinal, step.name)
            yield StepOutcome(
                step=step,
                stdout=_read_text(self.files.output / f"{stem}.stdout"),
                stderr=_read_text(self.files.output / f"{stem}.stderr"),
                truncated=record["stdout_left_out_bytes"] + record["stderr_left_out_bytes"] > 0,
                files={file.name: _read_text(file) for file in step.output_files if _is_plain(file)},
                exit_status=record["exit_status"],
                signal=record["signal"],
                started_at=datetime.fromtimestamp(record["started_at_epoch_seconds"], UTC),
                wall_seconds=record["wall_seconds"],
                user_seconds=record["user_seconds"],
                system_seconds=record["system_seconds"],
                max_rss_bytes=record["max_rss_bytes"],
                before_done=Before(record["before_done"]),
            )

    def _verdict(self, outcomes: Sequence[StepOutcome]) -> Verdict:
        """What the order came to, with all numbers that can be trusted, also of a run that failed."""
        outcome, code, reason = Outcome(self.exit["outcome"]), self.exit["code"], self.exit["reason"]
        read: list[_Read] = []
        failures = [self._failure(done) for done in outcomes]
        failed = [(done, failure) for done, failure in zip(outcomes, failures, strict=True) if failure is not None]
        if failed and (outcome is Outcome.FINISHED or code == "step_failed"):
            # The tool's own words say more than its exit status, and some tools exit with 0 after an error. Of a group
            # the first to end was the cause: the others were stopped because of it.
            first, failure = min(failed, key=lambda pair: _ended_at(pair[0]))
            outcome, code, reason = Outcome.FAILED, "tool_failed", f"step {first.step.name}: {failure}"
        elif failed and code == "stalled":
            # Why it hangs is often what it complained of before: iozone waits for ever for processes that died.
            reason = f"{reason}; {failed[0][1]}"
        reads = [
            partial(self._read, done, is_cut=failure is not None)
            for done, failure in zip(outcomes, failures, strict=True)
        ]
        for one in [*reads, *([partial(self._conclude, outcomes)] if outcome is Outcome.FINISHED else [])]:
            try:
                read.append(one())
            except _UnreadError as error:
                if outcome is Outcome.FINISHED:
                    outcome, code, reason = Outcome.FAILED, error.code, str(error)
        samples = tuple(chain.from_iterable(samples for samples, _ in read))
        return Verdict(outcome, code, reason, samples, tuple(chain.from_iterable(flags for _, flags in read)))

    def _failure(self, done: StepOutcome) -> str | None:
        try:
            return self.workload.failure(done)
        except Exception as error:
            _logger.exception("failure_failed workload=%s", self.workload.name)
            return f"{self.workload.name} could not judge its end: {error!r}"

    def _read(self, done: StepOutcome, *, is_cut: bool) -> _Read:
        if self.plan is None:
            return (), ()
        read = self.workload.read_cut if is_cut else self.workload.read
        place = self.plan.place_of(done.step)
        return self._guarded(lambda: read(self.options, place, done))

    def _conclude(self, outcomes: Sequence[StepOutcome]) -> _Read:
        places = self.plan.places if self.plan else ()
        return self._guarded(lambda: self.workload.conclude(self.options, places, outcomes))

    def _guarded(self, work: Callable[[], Parsed]) -> _Read:
        try:
            parsed = work()
            return tuple(map(_sample, parsed.samples)), parsed.flags
        except OutputRefusedError as error:
            raise _UnreadError("output_refused", str(error)) from error
        except Exception as error:
            # A plug-in's own fault must not lose the run: its raw output is kept and can be read again.
            _logger.exception("parser_failed workload=%s", self.workload.name)
            raise _UnreadError("parser_fault", f"the parser of {self.workload.name} met {error!r}") from error

    def _flags(self, verdict: Verdict) -> Iterator[Flag]:
        for problem in self.exit["mount_problems"]:
            yield _rejected(FlagCode.WRONG_MOUNT, problem, "the target's own mount, before and after the run")
        if verdict.outcome is Outcome.FAILED and verdict.samples:
            yield _rejected(FlagCode.ERRORS, verdict.reason or "the run failed", "no error in the whole run")


def keep_artefacts(files: OrderFiles, ended: dict[str, Any], plan: Plan | None) -> tuple[ArtefactFact, ...]:
    """Keeps raw output, without which no number could be checked later, and the runner's own record `ended`."""
    files.artefacts.mkdir(mode=0o700, exist_ok=True)
    return tuple(_keep(files.artefacts / name, content) for name, content in _raw(files, ended, plan) if content)


def _raw(files: OrderFiles, ended: dict[str, Any], plan: Plan | None) -> Iterator[tuple[str, bytes]]:
    steps = enumerate(chain.from_iterable(plan.groups if plan else ()))
    printed = ((file.name, file) for file in sorted(files.output.glob("*")))
    written = ((output_name(ordinal, file.name), file) for ordinal, step in steps for file in step.output_files)
    for name, file in islice(chain(printed, written), _MAX_OUTPUTS):
        if _is_plain(file):
            yield name, _read_bytes(file)
    yield "runner.log", _read_bytes(files.directory / "runner.log")
    yield "runner.json", json.dumps(ended, indent=1).encode()


def _keep(file: Path, content: bytes) -> ArtefactFact:
    file.write_bytes(content)
    return ArtefactFact(name=file.name, sha256=hashlib.sha256(content).hexdigest(), size_bytes=len(content))


def _ended_at(done: StepOutcome) -> datetime:
    return done.started_at + timedelta(seconds=done.wall_seconds)


def _merged(flags: Sequence[Flag]) -> tuple[Flag, ...]:
    """Each flag once; where too many are left, one of those that crossed the same limit stands for all samples."""
    once = tuple({flag.model_dump_json(): flag for flag in flags}.values())
    if len(once) <= _MAX_FLAGS:
        return once
    one_of_each: dict[tuple[FlagCode, FlagEffect, str], Flag] = {}
    for flag in sorted(once, key=lambda flag: flag.effect is not FlagEffect.REJECTED):
        alike = one_of_each.setdefault((flag.code, flag.effect, flag.limit), flag)
        if alike is not flag:
            everywhere = alike.model_copy(update={"labels": {}, "target_id": None})
            one_of_each[flag.code, flag.effect, flag.limit] = everywhere
    return tuple(one_of_each.values())[:_MAX_FLAGS]


def _sealed(unsealed: FinishRequest) -> FinishRequest:
    """The request with the digest of all the rest, by which the server knows it again."""
    text = json.dumps(unsealed.model_dump(mode="json", exclude={"digest"}), sort_keys=True)
    return unsealed.model_copy(update={"digest": hashlib.sha256(text.encode()).hexdigest()})


def _record(done: StepOutcome) -> StepRecord:
    return StepRecord(
        name=done.step.name,
        phase=done.step.phase,
        argv=done.step.argv,
        role=done.step.role,
        target_id=done.step.target_id,
        writer=done.step.writer,
        started_at=done.started_at,
        wall_seconds=done.wall_seconds,
        user_seconds=done.user_seconds,
        system_seconds=done.system_seconds,
        max_rss_bytes=done.max_rss_bytes,
        exit_status=done.exit_status,
        signal=done.signal,
    )


def _sample(sample: Sample) -> SampleMessage:
    return SampleMessage(
        metric=sample.metric, value=sample.value, labels=dict(sample.labels), target_id=sample.target_id
    )


def _rejected(code: FlagCode, measured: str, limit: str) -> Flag:
    return Flag(code=code, effect=FlagEffect.REJECTED, measured=measured[:_MAX_TEXT], limit=limit)


def _text(sentence: str | None) -> str | None:
    return sentence if sentence is None else sentence[:_MAX_TEXT]


def _is_plain(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()


def _read_text(file: Path) -> str:
    return _read_bytes(file).decode("utf-8", errors="replace")


def _read_bytes(file: Path) -> bytes:
    """The file, or its two ends where it is larger than what is kept."""
    try:
        size_bytes = file.stat().st_size
        with file.open("rb") as opened:
            if size_bytes <= MAX_FILE_BYTES + 1024:
                return opened.read()
            head = opened.read(MAX_FILE_BYTES // 2)
            opened.seek(-MAX_FILE_BYTES // 2, 2)
            left_out_bytes = size_bytes - 2 * (MAX_FILE_BYTES // 2)
            return head + b"\n[iotide left out %d bytes here]\n" % left_out_bytes + opened.read()
    except FileNotFoundError:
        return b""
