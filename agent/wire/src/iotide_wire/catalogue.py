"""Announcement of a workload, from which server and browser offer it without its code."""

import hashlib
import json
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from iotide_wire.base import Message, Text
from iotide_wire.expressions import Expression, Number
from iotide_wire.units import Unit
from iotide_wire.versions import Since

WorkloadName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,40}$")]
LabelName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")]


class MetricSpec(Message):
    """A metric of a workload.

    Attributes:
        title: label of an axis, a few words.
        description: what exactly is measured, if the title does not say it.
        primary: may represent a whole run. The first primary metric of a run does.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
    title: Text
    description: Text = ""
    unit: Unit
    better: Literal["higher", "lower", "neither"]
    labels: tuple[LabelName, ...]
    primary: Annotated[bool, Since(3)] = False


_OWN: Final = Number.of(1)


class WorkloadAnnouncement(Message):
    """A workload as one agent has it.

    Attributes:
        options_schema: JSON Schema of the options; `x-unit` of a property is its base unit.
        option_defaults: of every optional option, in base units.
        bytes_needed: maximum bytes on the target, over options and facts.
        bytes_moved: bytes written and read. The run time is bytes_moved / the target's last rate.
        run_seconds: run time given by options; 0 if it follows from `bytes_moved`.
        breaks_series: not comparable with the previous revision, so series start again.
        step_roles: parts of a run for different nodes; empty if each node does all. A `maker` only prepares a stage.
        own_programs: above 0, each node of a gang starts its own program; 0 if one program runs over all of them.
        available: the node has the tool; otherwise see `unavailable_because`.
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
    step_roles: tuple[Literal["sender", "receiver", "maker"], ...] = ()
    own_programs: Annotated[Expression, Since(3)] = _OWN
    tool: Text
    tool_version: Text | None
    available: bool
    unavailable_because: Text | None

    @property
    def schema_sha256(self) -> str:
        """Return the hexadecimal digest of all that must be the same on each node of a campaign."""
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
        # Only where they say something, so that the digests of all other workloads stay the same.
        parts |= {"step_roles"} if self.step_roles else set()
        parts |= {"own_programs"} if self.own_programs != _OWN else set()
        described = self.model_dump(mode="json", include=parts)
        # `primary` only selects what lists show, so agents with and without it must agree.
        for metric in described["metrics"]:
            del metric["primary"]
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()

    @property
    def ordered_sha256(self) -> frozenset[str]:
        """Return the digests that orders of this workload may have: servers before wire version 3 know less of it."""
        return frozenset({self.schema_sha256, self.model_copy(update={"own_programs": _OWN}).schema_sha256})
