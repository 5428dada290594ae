"""Unanswered checks of the server, and a flag that older agents do not report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from iotide_server.kit.suggest import first_of
from iotide_server.statistics.summary import ENOUGH_RUNS
from iotide_wire.facts import FactValue
from iotide_wire.measured import Check, Flag, FlagCode, FlagEffect, NotJudged
from iotide_wire.messages import FinishRequest, Outcome
from iotide_wire.plan import QuietPolicy
from iotide_wire.units import format_number, format_seconds

IDLE_SECONDS: Final = 5.0
_UNREAD: Final = "unavailable, because "  # prefix of facts that a node could not read
_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class KnownOfRun:
    finished_runs: int
    has_earlier: bool
    environment: Mapping[str, FactValue]
    unstarted: Sequence[str] = ()


def not_judged(known: KnownOfRun) -> list[NotJudged]:
    """Return the server's checks with too little data."""
    found: list[NotJudged] = []
    if known.finished_runs < ENOUGH_RUNS:
        because = f"{_counted(known.finished_runs, 'run')} of its configuration, {ENOUGH_RUNS} needed"
        found.append(NotJudged(check=Check.OUTLIER, because=because))
    if not known.has_earlier:
        found.append(NotJudged(check=Check.ENVIRONMENT, because="no earlier run of its series"))
    unread = sorted(name for name, value in known.environment.items() if str(value).startswith(_UNREAD))
    if unread:
        because = f"facts not read: {first_of(unread, _MOST_NAMED)}"
        found.append(NotJudged(check=Check.ENVIRONMENT, because=because))
    if known.unstarted:
        found.append(NotJudged(check=Check.SAME_START, because=f"no start reported by {', '.join(known.unstarted)}"))
    return found


def unmeasured_by_old_agent(finish: FinishRequest, policy: QuietPolicy) -> list[Flag]:
    """Return LOAD_NOT_MEASURED, if it applies, for agents that do not know the flag."""
    is_old = finish.not_judged is None and finish.outcome is Outcome.FINISHED
    is_flagged = any(flag.code is FlagCode.FOREIGN_LOAD for flag in finish.flags)
    if not is_old or is_flagged or policy is QuietPolicy.IGNORE or finish.foreign is None:
        return []
    before, during = finish.foreign.before, finish.foreign.during
    seconds = 0.0 if before is None else before.seconds
    if seconds >= IDLE_SECONDS or (during is not None and during.cpu_ratio is not None):
        return []
    measured = (
        f"before the run: sample {format_seconds(seconds)} of {format_seconds(IDLE_SECONDS)}; during the "
        "run: not measured"
    )
    limit = f"{format_number(IDLE_SECONDS)} idle seconds before the run, or a benchmark that differs from other load"
    return [Flag(code=FlagCode.LOAD_NOT_MEASURED, effect=FlagEffect.MARKED, measured=measured, limit=limit)]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
