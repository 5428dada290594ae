"""Quality flags of a whole run, by the node's observations."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iotide_agent.judging.client import judge_client
from iotide_agent.judging.conditions import judge_clock, judge_condition
from iotide_agent.judging.foreign import judge_foreign
from iotide_agent.judging.gang import judge_gang
from iotide_agent.judging.phases import JUDGED, Row, phases_of
from iotide_agent.judging.read_back import judge_read_back
from iotide_agent.judging.share import measure_foreign, why_unmeasured
from iotide_agent.judging.steady import judge_steady
from iotide_agent.orders.plan import Plan
from iotide_agent.probes.condition import Condition
from iotide_agent.workloads.base import StepOutcome
from iotide_wire.foreign import ForeignDuring
from iotide_wire.measured import Answer, Flag, NotJudged, SampleMessage
from iotide_wire.plan import QuietPolicy


@dataclass(frozen=True, slots=True)
class Judgement:
    """Flags of a run and the other load on its node. `cpu_unknown_because` is empty if its CPU use is known."""

    flags: list[Flag]
    not_judged: list[NotJudged]
    during: ForeignDuring | None
    cpu_unknown_because: str


@dataclass(frozen=True, slots=True)
class Witness:
    """Observations of a run: the runner's last message, sampled seconds, conditions."""

    ended: Mapping[str, Any]
    rows: Sequence[Row]
    before: Condition | None
    after: Condition | None


def judge_run(
    witness: Witness,
    plan: Plan,
    outcomes: Sequence[StepOutcome],
    samples: Sequence[Sequence[SampleMessage]],
    quiet: QuietPolicy,
) -> Judgement:
    found = judge_clock(witness.ended) + judge_condition(witness.before, witness.after) + judge_gang(witness.ended)
    phases = phases_of(plan.groups, outcomes, samples, witness.rows)
    found += judge_read_back(phases, plan.places)
    for phase in phases:
        found += judge_steady(phase)
        found += judge_client(phase, plan.places)
        found += judge_foreign(phase, plan.places) if quiet is not QuietPolicy.IGNORE else []
    during, cpu_unknown_because = measure_foreign(phases, plan.places), why_unmeasured(phases, plan.places)
    return Judgement(*answers(found), during, cpu_unknown_because)


def answers(found: Iterable[Answer]) -> tuple[list[Flag], list[NotJudged]]:
    flags: list[Flag] = []
    not_judged: list[NotJudged] = []
    for answer in found:
        if isinstance(answer, Flag):
            flags.append(answer)
        elif answer not in not_judged:
            not_judged.append(answer)
    return flags, not_judged


def read_rows(curve: Path) -> Iterator[Row]:
    try:
        with curve.open("rb") as lines:
            yield from (_judged(json.loads(line)) for line in lines if line.endswith(b"\n"))
    except FileNotFoundError:
        return


def _judged(row: Row) -> Row:
    # Keys from JUDGED: one object for all rows, instead of newly parsed ones.
    return {name: row[name] for name in JUDGED if name in row}
