"""What the doctor says: a sentence for each thing that was looked at, with a remedy where it is not as it should be."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from iotide_server.kit.suggest import first_of

_SHOWN: Final = 5


class CheckState(StrEnum):
    """How something is.

    FINE; NOTE: a choice that somebody made, or something that cannot be known; WARNING: it goes on, and somebody should
    look at it; WRONG: something does not work or is not safe.
    """

    FINE = "fine"
    NOTE = "note"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str  # its stable name, for programs: `redis_persistence`
    standing: CheckState
    sentence: str
    remedy: str | None = None  # what to do; None where it is fine


def fine(check: str, sentence: str) -> Finding:
    """As it should be."""
    return Finding(check, CheckState.FINE, sentence)


def note(check: str, sentence: str, remedy: str) -> Finding:
    """Nothing is amiss, and who looks should know it; the remedy is for who wants it otherwise."""
    return Finding(check, CheckState.NOTE, sentence, remedy)


def warning(check: str, sentence: str, remedy: str) -> Finding:
    """It goes on, and somebody should look at it."""
    return Finding(check, CheckState.WARNING, sentence, remedy)


def wrong(check: str, sentence: str, remedy: str) -> Finding:
    """Something does not work or is not safe."""
    return Finding(check, CheckState.WRONG, sentence, remedy)


def in_lines(findings: Iterable[Finding]) -> str:
    """For a person: a line each, with its remedy below."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.standing:8}{finding.check}: {finding.sentence}")
        if finding.remedy:
            lines.append(f"        remedy: {finding.remedy}")
    return "\n".join(lines)


def some(names: Sequence[str]) -> str:
    """The first few of many, and how many more there are."""
    return first_of(names, _SHOWN)
