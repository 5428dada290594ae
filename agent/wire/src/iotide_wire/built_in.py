"""Built-in workloads, which a server compares with the announcements of nodes.

`./dev generate` adds the revisions of the present agent code to `built_in.json` and never removes one. Texts of a
released revision stay, because its digest covers them. `command` is missing: each site configures its own.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from iotide_wire.base import Message, Text
from iotide_wire.catalogue import WorkloadAnnouncement, WorkloadName

FIRST_REVISION = 1


class BuiltIn(Message):
    """One revision of a workload.

    Attributes:
        sha256: see `WorkloadAnnouncement.schema_sha256`. A revision has several if a release changed a text.
        option_defaults: as announced. Series keys leave out the newest ones.
    """

    name: WorkloadName
    revision: Annotated[int, Field(ge=1)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    title: Text
    description: Text
    tool: Text
    breaks_series: bool
    primary: tuple[str, ...]
    option_defaults: dict[str, Any]

    @classmethod
    def of(cls, announced: WorkloadAnnouncement) -> "BuiltIn":
        return cls(
            name=announced.name,
            revision=announced.revision,
            sha256=announced.schema_sha256,
            title=announced.title,
            description=announced.description,
            tool=announced.tool,
            breaks_series=announced.breaks_series,
            primary=tuple(metric.name for metric in announced.metrics if metric.primary),
            option_defaults=announced.option_defaults,
        )


@cache
def built_in() -> Mapping[str, Sequence[BuiltIn]]:
    """Return the known revisions of each workload, oldest first."""
    known = TypeAdapter(list[BuiltIn]).validate_json(files(__package__).joinpath("built_in.json").read_bytes())
    by_name: dict[str, list[BuiltIn]] = {}
    for one in known:
        by_name.setdefault(one.name, []).append(one)
    return {name: sorted(revisions, key=lambda one: one.revision) for name, revisions in by_name.items()}


def as_shipped(announced: WorkloadAnnouncement) -> BuiltIn | None:
    digest = announced.schema_sha256
    return next((one for one in built_in().get(announced.name, ()) if one.sha256 == digest), None)


def breaking_revisions(name: str) -> set[int]:
    return {one.revision for one in built_in().get(name, ()) if one.breaks_series}


def frozen_defaults(name: str) -> dict[str, Any]:
    """Return the defaults that a new server leaves out of series keys."""
    return {option: value for one in built_in().get(name, ()) for option, value in one.option_defaults.items()}


def dump(known: Sequence[BuiltIn]) -> str:
    return json.dumps([one.model_dump(mode="json") for one in known], indent=1, ensure_ascii=False) + "\n"
