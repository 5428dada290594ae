"""Findings of the doctor: a sentence for each check, with a remedy if needed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from iotide_server.kit.suggest import first_of

_SHOWN: Final = 5


class CheckState(StrEnum):
    """Result of a check.

    NOTE: a deliberate choice, or not checkable. WARNING: it works, but needs attention. WRONG: it does not work or is
    not safe.
    """

    FINE = "fine"
    NOTE = "note"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    check: str  # stable, for programs: `redis_persistence`
    standing: CheckState
    sentence: str
    remedy: str | None = None


def fine(check: str, sentence: str) -> Finding:
    return Finding(check, CheckState.FINE, sentence)


def note(check: str, sentence: str, remedy: str) -> Finding:
    return Finding(check, CheckState.NOTE, sentence, remedy)


def warning(check: str, sentence: str, remedy: str) -> Finding:
    return Finding(check, CheckState.WARNING, sentence, remedy)


def wrong(check: str, sentence: str, remedy: str) -> Finding:
    return Finding(check, CheckState.WRONG, sentence, remedy)


def in_lines(findings: Iterable[Finding]) -> str:
    lines = []
    for finding in findings:
        lines.append(f"{finding.standing:8}{finding.check}: {finding.sentence}")
        if finding.remedy:
            lines.append(f"        remedy: {finding.remedy}")
    return "\n".join(lines)


def some(names: Sequence[str]) -> str:
    return first_of(names, _SHOWN)
