"""All flags that a whole run gets from what the node saw of it, besides those of its workload."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iotide_agent.judging.client import judge_client
from iotide_agent.judging.conditions import judge_clock, judge_condition
from iotide_agent.judging.foreign import judge_foreign
from iotide_agent.judging.phases import JUDGED, Row, phases_of
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
    """What a sceptic must know of a run, and what others used of its node meanwhile; None where nobody can tell.

    `untold` says why nobody can tell whether others used the processors meanwhile; empty where that can be told.
    """

    flags: list[Flag]
    not_judged: list[NotJudged]
    during: ForeignDuring | None
    untold: str


@dataclass(frozen=True, slots=True)
class Witness:
    """What the node saw of a run besides its tools' output: the runner's last word, seconds, and conditions."""

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
    """Judge a finished run, of which each step gave these samples, under the quiet policy of its campaign."""
    found = judge_clock(witness.ended) + judge_condition(witness.before, witness.after)
    phases = phases_of(plan.groups, outcomes, samples, witness.rows)
    for phase in phases:
        found += judge_steady(phase)
        found += judge_client(phase, plan.places)
        found += judge_foreign(phase, plan.places) if quiet is not QuietPolicy.IGNORE else []
    during, untold = measure_foreign(phases, plan.places), why_unmeasured(phases, plan.places)
    return Judgement(*answers(found), during, untold)


def answers(found: Iterable[Answer]) -> tuple[list[Flag], list[NotJudged]]:
    """Return the flags among the answers of checks, and what was not judged, each once."""
    flags: list[Flag] = []
    not_judged: list[NotJudged] = []
    for answer in found:
        if isinstance(answer, Flag):
            flags.append(answer)
        elif answer not in not_judged:
            not_judged.append(answer)
    return flags, not_judged


def read_rows(curve: Path) -> Iterator[Row]:
    """What is judged of the whole rows of the sampler's file; none where there is no such file."""
    try:
        with curve.open("rb") as lines:
            yield from (_judged(json.loads(line)) for line in lines if line.endswith(b"\n"))
    except FileNotFoundError:
        return


def _judged(row: Row) -> Row:
    # The names of JUDGED, one object each for all rows, rather than those that were just parsed.
    return {name: row[name] for name in JUDGED if name in row}
