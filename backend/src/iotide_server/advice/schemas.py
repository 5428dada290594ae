"""What the API gives for advice."""

from typing import Annotated

from pydantic import Field

from iotide_server.advice.findings import Severity
from iotide_server.kit.web import Output
from iotide_wire.facts import FactValue
from iotide_wire.units import Unit

Subjects = Annotated[list[str], Field(description="What it is about", examples=[["scratch on node07"]])]


class AdviceEvidence(Output):
    """A number that an advice stands on.

    `run_ids` are the runs that it is from; empty is the last word of an agent, or computed from the others.
    """

    name: Annotated[str, Field(examples=["md.chunk_bytes"], description="Of the fact, or what was measured")]
    value: FactValue
    unit: Unit | None
    run_ids: list[int]


class AdviceOutput(Output):
    """Something to know or to change, with the numbers behind it; `commands` are to be copied, a line each."""

    code: Annotated[str, Field(examples=["stripe_misaligned"])]
    severity: Severity
    subjects: Subjects
    title: str
    explanation: str
    evidence: list[AdviceEvidence]
    remedy: str
    commands: Annotated[list[str], Field(examples=[["tune2fs -E stride=16,stripe_width=32 /dev/md5"]])]
    source: Annotated[str, Field(description="The document that the rule is from", examples=["nfs(5)"])]


class AdviceNotKnown(Output):
    """Something that could not be judged, and why."""

    code: Annotated[str, Field(examples=["stripe_misaligned"])]
    subjects: Subjects
    because: Annotated[str, Field(examples=["the fact ext.stripe_unit_bytes is missing"])]


class AdviceLook(Output):
    """What one rule looked at; where all three are empty, nothing of its kind is there."""

    looks_at: Annotated[str, Field(examples=["Stripes of file system and RAID"])]
    fine: Annotated[list[str], Field(description="What it has nothing to advise on")]
    advised: int
    not_known: int


class AdviceReport(Output):
    """What all rules say, the gravest first, what they could not judge, and what they looked at."""

    advice: list[AdviceOutput]
    not_known: list[AdviceNotKnown]
    looked_at: list[AdviceLook]
    places: Annotated[int, Field(description="Targets on nodes whose facts were looked at")]
    cells: Annotated[int, Field(description="Cells with valid runs that were looked at")]
    is_cut: Annotated[bool, Field(description="There is more than was looked at")]
