"""Results of orders: outcomes, samples, flags, raw output, curves, environment."""

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from iotide_agent.core.spool import OrderFiles
from iotide_agent.judging.quiet import judge_before, judge_unmeasured
from iotide_agent.judging.run import Judgement, Witness, answers, judge_run
from iotide_agent.orders.parsing import RawOutput, RunReader, Verdict
from iotide_agent.orders.plan import Plan
from iotide_agent.orders.progress import added_up, read_started_at
from iotide_agent.runner.card import output_name
from iotide_agent.runner.files import NotPlainError, open_plain
from iotide_agent.workloads.base import StepOutcome
from iotide_wire.facts import Facts
from iotide_wire.foreign import ForeignBefore, ForeignLoad
from iotide_wire.measured import Check, Flag, FlagCode, FlagEffect, NotJudged, StepRecord, StepRole
from iotide_wire.messages import ArtefactFact, CurvePiece, FinishRequest, Order, Outcome
from iotide_wire.plan import QuietPolicy
from iotide_wire.units import MIB

MAX_FILE_BYTES: Final = 8 * MIB
"""For each file that a tool wrote; the runner limits its output streams."""
_MAX_TEXT: Final = 4000
_MAX_FLAGS: Final = 1000
_MAX_TOOL_PIECES: Final = 5000
"""Limit for the tool's own curves, in pieces of ten minutes; a result holds four times as many in total."""
_MAX_OUTPUTS: Final = 996
RESULT_REFUSED: Final = "result_refused"
ENDED_NAME: Final = "runner.json"
PLAN_NAME: Final = "plan.json"
JUDGED_NAME: Final = "judged.json"
FLAGS: Final = TypeAdapter(list[Flag])
_ENDED: Final = TypeAdapter(dict[str, Any])
_OF_RUN: Final = (
    *(Check.CLOCK, Check.STORAGE_CONDITION, Check.STORAGE_ERRORS),
    *(Check.STEADINESS, Check.CLIENT_LIMIT, Check.LOAD_DURING),
)
_FAULT: Final = "the agent could not check the run; see its log"
_NO_DIGEST: Final = "0" * 64
_logger = logging.getLogger(__name__)


def refusal(
    order: Order,
    instance: str,
    verdict: Verdict,
    artefacts: tuple[ArtefactFact, ...] = (),
    foreign: ForeignLoad | None = None,
) -> FinishRequest:
    """Return the result of an order that had no runner or whose output is unreadable."""
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
            foreign=foreign,
            not_before=verdict.not_before,
        )
    )


def observed(
    order: Order, instance: str, ended: dict[str, Any], environment: Facts, curves: Sequence[CurvePiece]
) -> FinishRequest:
    return _sealed(
        FinishRequest(
            fence=order.fence,
            agent_instance=instance,
            digest=_NO_DIGEST,
            outcome=Outcome(ended["outcome"]),
            reason_code=ended["code"],
            reason=_text(ended["reason"]),
            started_at=read_started_at(ended),
            ended_at=_ended_at(ended),
            steps=(),
            samples=(),
            flags=(),
            environment=environment,
            artefacts=(),
            curves=tuple(curves),
        )
    )


def environment_of(plan: Plan | None, order: Order, tool_version: str | None) -> Facts:
    """Return facts other than options that affect the numbers; a change is an event on their series."""
    facts: Facts = {
        "workload.revision": order.workload_revision,
        "tool.version": tool_version,
        "cache.policy": order.cache.value,
    }
    for ordinal, place in enumerate(plan.places if plan else (), start=1):
        prefix = "" if ordinal == 1 else f"target{ordinal}."
        facts |= {f"{prefix}{name}": value for name, value in place.facts.items() if facts.get(name) != value}
    return facts


class SpooledOutput(RawOutput):
    def __init__(self, files: OrderFiles) -> None:
        self._files = files

    def stream(self, name: str) -> str:
        return (self._read(self._files.output / name) or b"").decode("utf-8", errors="replace")

    def file(self, ordinal: int, path: Path) -> str | None:
        del ordinal
        content = self._read(path)
        return None if content is None else content.decode("utf-8", errors="replace")

    def _read(self, file: Path) -> bytes | None:
        return _read_bytes(self._files, file)


@dataclass(frozen=True, slots=True)
class Collector:
    files: OrderFiles
    reader: RunReader
    witness: Witness
    before: ForeignBefore | None = None

    def result(self, order: Order, instance: str, environment: Facts, curves: Sequence[CurvePiece]) -> FinishRequest:
        ended, plan = self.reader.ended, self.reader.plan
        outcomes = self.reader.outcomes(SpooledOutput(self.files))
        verdict = self.reader.verdict(outcomes)
        judgement = self._judgement(order, plan, outcomes, verdict)
        judged = judgement.flags
        started_at = read_started_at(ended)
        tool_curves = added_up(verdict.curves, started_at) if started_at else []
        return _sealed(
            FinishRequest(
                fence=order.fence,
                agent_instance=instance,
                digest=_NO_DIGEST,
                outcome=verdict.outcome,
                reason_code=verdict.code,
                reason=_text(verdict.reason),
                started_at=started_at,
                ended_at=_ended_at(ended),
                steps=tuple(map(_record, outcomes)),
                samples=verdict.samples,
                flags=merged([*verdict.flags, *judged]),
                environment=environment,
                artefacts=keep_artefacts(self.files, ended, plan, judged),
                curves=(*curves, *tool_curves[:_MAX_TOOL_PIECES]),
                foreign=ForeignLoad(before=self.before, during=judgement.during),
                not_judged=tuple([*verdict.not_judged, *judgement.not_judged][:_MAX_FLAGS]),
            )
        )

    def _judgement(
        self, order: Order, plan: Plan | None, outcomes: Sequence[StepOutcome], verdict: Verdict
    ) -> Judgement:
        # If only the parser failed, the run may be parsed later, when the node can no longer judge it.
        is_measured = order.step_role is not StepRole.MAKER
        if plan is None or not is_measured or self.reader.ended["outcome"] != Outcome.FINISHED:
            return Judgement([], [], None, "")
        before, unsampled = answers(judge_before(self.before, order.quiet))
        try:
            # The counters of a node see only its own share.
            own = [replace(done, step=plan.own_part(done.step)) for done in outcomes]
            judged = judge_run(self.witness, plan, own, verdict.of_steps, order.quiet)
        except Exception:
            # An internal error in a check must not lose the numbers.
            _logger.exception("judging_failed workload=%s", self.reader.workload.name)
            judged = Judgement([], [NotJudged(check=check, because=_FAULT) for check in _OF_RUN], None, _FAULT)
        flags = [*before, *judged.flags]
        if order.quiet is not QuietPolicy.IGNORE:
            flags += judge_unmeasured(self.before, judged.cpu_unknown_because, flags)
        return replace(judged, flags=flags, not_judged=[*unsampled, *judged.not_judged])


def parse_ended(text: str) -> dict[str, Any]:
    return _ENDED.validate_json(text)


def keep_artefacts(
    files: OrderFiles, ended: dict[str, Any], plan: Plan | None, judged: Sequence[Flag] = ()
) -> tuple[ArtefactFact, ...]:
    """Store what is needed to verify or parse the numbers later."""
    files.artefacts.mkdir(mode=0o700, exist_ok=True)
    kept = chain(_raw(files, plan), _records(files, ended, judged))
    return tuple(_keep(files.artefacts / name, content) for name, content in kept if content)


def _records(files: OrderFiles, ended: dict[str, Any], judged: Sequence[Flag]) -> Iterator[tuple[str, bytes]]:
    yield "runner.log", _read_bytes(files, files.directory / "runner.log") or b""
    yield ENDED_NAME, json.dumps(ended, indent=1).encode()
    yield PLAN_NAME, _read_bytes(files, files.plan) or b""
    yield JUDGED_NAME, FLAGS.dump_json(list(judged)) if judged else b""


def _raw(files: OrderFiles, plan: Plan | None) -> Iterator[tuple[str, bytes]]:
    steps = enumerate(chain.from_iterable(plan.groups if plan else ()))
    printed = ((file.name, file) for file in sorted(files.output.glob("*")))
    written = ((output_name(ordinal, file.name), file) for ordinal, step in steps for file in step.output_files)
    for name, file in islice(chain(printed, written), _MAX_OUTPUTS):
        content = _read_bytes(files, file)
        if content is not None:
            yield name, content


def _keep(file: Path, content: bytes) -> ArtefactFact:
    file.write_bytes(content)
    return ArtefactFact(name=file.name, sha256=hashlib.sha256(content).hexdigest(), size_bytes=len(content))


def merged(flags: Sequence[Flag]) -> tuple[Flag, ...]:
    """Return flags without duplicates; above the limit, one flag per limit crossed stands for all samples."""
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


def _ended_at(ended: dict[str, Any]) -> datetime:
    names = ("started_at_epoch_seconds", "started_at_boottime_seconds", "ended_at_boottime_seconds")
    started, boot_started, boot_ended = (ended.get(name) for name in names)
    if started is None or boot_started is None or boot_ended is None or boot_ended < boot_started:
        return datetime.fromtimestamp(ended["ended_at_epoch_seconds"], UTC)
    return datetime.fromtimestamp(started + (boot_ended - boot_started), UTC)


def _sealed(unsealed: FinishRequest) -> FinishRequest:
    """Add a digest of the content, so that the server recognises a repeat."""
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
        before_done=done.before_done.value,
    )


def _text(sentence: str | None) -> str | None:
    return sentence if sentence is None else sentence[:_MAX_TEXT]


def _read_bytes(files: OrderFiles, file: Path) -> bytes | None:
    """Return the file, or both ends if it is too large; None if it is missing or not a plain file.

    A load may have put links and pipes in place of its output.
    """
    try:
        with os.fdopen(open_plain(file, files.directory), "rb") as opened:
            size_bytes = os.fstat(opened.fileno()).st_size
            if size_bytes <= MAX_FILE_BYTES + 1024:
                return opened.read()
            head = opened.read(MAX_FILE_BYTES // 2)
            opened.seek(-MAX_FILE_BYTES // 2, 2)
            left_out_bytes = size_bytes - 2 * (MAX_FILE_BYTES // 2)
            return head + b"\n[iotide left out %d bytes here]\n" % left_out_bytes + opened.read()
    except FileNotFoundError:
        return None
    except NotPlainError as error:
        _logger.warning("output_not_plain file=%s because=%s", file, error)
        return None
