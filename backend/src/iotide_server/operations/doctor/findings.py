"""What the doctor says: a sentence for each thing that was looked at, with a remedy where it is not as it should be."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """FINE; WARNING: it goes on, and somebody should look at it; WRONG: something does not work or is not safe."""

    FINE = "fine"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        check: its stable name, for programs: `redis_persistence`.
        remedy: what to do; None where it is fine.
    """

    check: str
    standing: Standing
    sentence: str
    remedy: str | None = None


def fine(check: str, sentence: str) -> Finding:
    """As it should be."""
    return Finding(check, Standing.FINE, sentence)


def warning(check: str, sentence: str, remedy: str) -> Finding:
    """It goes on, and somebody should look at it."""
    return Finding(check, Standing.WARNING, sentence, remedy)


def wrong(check: str, sentence: str, remedy: str) -> Finding:
    """Something does not work or is not safe."""
    return Finding(check, Standing.WRONG, sentence, remedy)


def in_lines(findings: Iterable[Finding]) -> str:
    """For a person: a line each, with its remedy below."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.standing:8}{finding.check}: {finding.sentence}")
        if finding.remedy:
            lines.append(f"        remedy: {finding.remedy}")
    return "\n".join(lines)
