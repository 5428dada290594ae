"""API schemas of advice."""

from typing import Annotated

from pydantic import Field

from iotide_server.advice.findings import Severity
from iotide_server.kit.web import Output
from iotide_wire.facts import FactValue
from iotide_wire.units import Unit

Subjects = Annotated[list[str], Field(description="Subjects of the advice", examples=[["scratch on node07"]])]


class AdviceEvidence(Output):
    """Number that an advice is based on.

    `run_ids`: the source runs; empty for an agent's last report or a value computed from the others.
    """

    name: Annotated[str, Field(examples=["md.chunk_bytes"], description="Name of the fact or measurement")]
    value: FactValue
    unit: Unit | None
    run_ids: list[int]


class AdviceOutput(Output):
    """Problem with its evidence and remedy; `commands` are lines to copy."""

    code: Annotated[str, Field(examples=["stripe_misaligned"])]
    severity: Severity
    subjects: Subjects
    title: str
    explanation: str
    evidence: list[AdviceEvidence]
    remedy: str
    commands: Annotated[list[str], Field(examples=[["tune2fs -E stride=16,stripe_width=32 /dev/md5"]])]
    source: Annotated[str, Field(description="Document that the rule is based on", examples=["nfs(5)"])]


class AdviceNotKnown(Output):
    code: Annotated[str, Field(examples=["stripe_misaligned"])]
    subjects: Subjects
    because: Annotated[str, Field(examples=["the fact ext.stripe_unit_bytes is missing"])]


class AdviceLook(Output):
    """Result of one rule. All three are empty if nothing of its kind exists."""

    looks_at: Annotated[str, Field(examples=["File system and RAID stripes"])]
    fine: Annotated[list[str], Field(description="Subjects without a problem")]
    advised: int
    not_known: int


class AdviceReport(Output):
    """Advice by severity, subjects that could not be judged, and checks performed."""

    advice: list[AdviceOutput]
    not_known: list[AdviceNotKnown]
    looked_at: list[AdviceLook]
    places: Annotated[int, Field(description="Number of targets on nodes whose facts were read")]
    cells: Annotated[int, Field(description="Number of cells with valid runs that were read")]
    is_cut: Annotated[bool, Field(description="True if limits cut off a part of the input")]
