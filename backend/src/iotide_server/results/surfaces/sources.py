"""What a surface may be of: a run, a campaign, or some cells of one; as one word that stands in addresses."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Query
from pydantic import StringConstraints

_PATTERN: Final = r"^(run-[1-9][0-9]{0,17}|campaign-[1-9][0-9]{0,17}(\.[1-9][0-9]{0,5}){0,300})$"
SourceName = Annotated[
    str,
    StringConstraints(pattern=_PATTERN, max_length=2000),
    Query(description="A run, a campaign, or cells of it by their numbers", examples=["run-12", "campaign-5.1.2"]),
]


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """Where the numbers of a surface are from."""

    side: str  # `a` or `b`
    name: str
    # run_id, campaign_id: one of them
    run_id: int | None
    campaign_id: int | None
    ordinals: frozenset[int]  # of the campaign's cells; empty: all


def source_of(side: str, name: str) -> SourceQuery:
    """The source that a checked name means."""
    kind, _, rest = name.partition("-")
    first, *ordinals = (int(number) for number in rest.split("."))
    is_run = kind == "run"
    return SourceQuery(side, name, first if is_run else None, None if is_run else first, frozenset(ordinals))


def campaign_source(campaign_id: int, ordinals: list[int]) -> str:
    """How cells of a campaign are called."""
    return ".".join([f"campaign-{campaign_id}", *map(str, ordinals)])
