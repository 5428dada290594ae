"""What an agent announces about a workload, so that server and browser can offer it without having its code."""

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import Field

from iotide_wire.base import Message, Text
from iotide_wire.expressions import Expression, Number
from iotide_wire.units import Unit
from iotide_wire.versions import Since

WorkloadName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,40}$")]
LabelName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")]


class MetricSpec(Message):
    """One kind of number that a workload yields.

    Attributes:
        title: a few words, as they stand at an axis.
        description: what exactly is measured, where the title does not say it.
        primary: this metric may stand for a whole run. Of several primary metrics the first one that a run has counts.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
    title: Text
    description: Text = ""
    unit: Unit
    better: Literal["higher", "lower", "neither"]
    labels: tuple[LabelName, ...]
    primary: Annotated[bool, Since(3)] = False


class WorkloadAnnouncement(Message):
    """A workload as one agent has it.

    Attributes:
        options_schema: JSON Schema of the options; `x-unit` on a property names its base unit.
        option_defaults: every optional option with its default, in base units.
        bytes_needed: peak space on the target, in bytes, over options and facts.
        bytes_moved: bytes written and read in all, so that time = bytes_moved / the target's last rate.
        run_seconds: how long it runs where its options say so; 0 leaves that to `bytes_moved`.
        breaks_series: this revision measures something else than the one before, so its series start anew.
        step_roles: parts of a run that different nodes may do; empty where each node does all of it.
        available: whether the node has the tool; `unavailable_because` says what is missing and the remedy.
    """

    name: WorkloadName
    revision: Annotated[int, Field(ge=1)]
    title: Text
    description: Text
    options_schema: dict[str, Any]
    option_defaults: dict[str, Any]
    metrics: tuple[MetricSpec, ...]
    bytes_needed: Expression
    bytes_moved: Expression
    run_seconds: Expression = Number.of(0)
    breaks_series: bool
    step_roles: tuple[Literal["sender", "receiver"], ...] = ()
    tool: Text
    tool_version: Text | None
    available: bool
    unavailable_because: Text | None

    @property
    def schema_sha256(self) -> str:
        """Digest of all that must be the same on each node of a campaign; hexadecimal."""
        parts = {
            "name",
            "revision",
            "options_schema",
            "option_defaults",
            "metrics",
            "bytes_needed",
            "bytes_moved",
            "run_seconds",
        }
        # Only where there are some: the digests of all other workloads stay what they were.
        described = self.model_dump(mode="json", include=parts | ({"step_roles"} if self.step_roles else set()))
        # `primary` chooses what lists show and changes no number, so agents of before and after it agree.
        for metric in described["metrics"]:
            del metric["primary"]
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()
