"""What a rule may say of what it looked at: an advice, that all is well, or why nothing can be said; pure."""

from dataclasses import dataclass
from enum import StrEnum

from iotide_wire.facts import FactValue
from iotide_wire.units import Unit


class Severity(StrEnum):
    """How much an advice matters.

    High: what is said is not what was measured, or data is at risk. Medium: speed is lost, or numbers are
    easily misread. Low: good to know.
    """

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A number that a finding stands on."""

    name: str  # of the fact, such as `md.chunk_bytes`, or what was measured or computed, in words
    value: FactValue
    unit: Unit | None = None  # of the value; None for texts, switches and numbers without one
    # the runs that it is from; empty: the last word of an agent, or computed from the others
    run_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that somebody should know or change."""

    code: str  # stable, for programs
    severity: Severity
    subject: str
    title: str  # what is the matter, in a line
    explanation: str  # why, in plain words
    evidence: tuple[Evidence, ...]
    remedy: str  # what to do, in words
    source: str  # the document that the rule is from
    # what to copy for it, a line each, with computed values: commands, or options of a plan
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """A rule could not judge its subject."""

    code: str
    subject: str
    because: str


@dataclass(frozen=True, slots=True)
class Fine:
    """A rule looked at its subject and has nothing to advise."""

    subject: str
    words: str


Finding = Advice | Unknown | Fine
