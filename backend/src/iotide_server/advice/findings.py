"""Findings of a rule: an advice, no problem, or the reason for no judgement. Pure data."""

from dataclasses import dataclass
from enum import StrEnum

from iotide_wire.facts import FactValue
from iotide_wire.units import Unit


class Severity(StrEnum):
    """Severity of an advice.

    High: the result is not what it claims to be, or data is at risk. Medium: speed is lost, or numbers are easily
    misread. Low: good to know.
    """

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Evidence:
    name: str  # fact such as `md.chunk_bytes`, or a description of the number
    value: FactValue
    unit: Unit | None = None  # None for texts, booleans and unitless numbers
    # source runs; empty: an agent's last report, or computed from the others
    run_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Advice:
    code: str
    severity: Severity
    subject: str
    title: str
    explanation: str
    evidence: tuple[Evidence, ...]
    remedy: str
    source: str
    # lines to copy, with computed values: shell commands or options of a plan
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    code: str
    subject: str
    because: str


@dataclass(frozen=True, slots=True)
class Fine:
    subject: str
    words: str


Finding = Advice | Unknown | Fine
