"""Search by name, for the command palette."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.explorer import search_queries
from iotide_server.kit.web import Output
from iotide_server.results.schemas import Labels, Metric

MOST_WORDS = 5
MOST_OF_A_KIND = 5


class FoundName(Output):
    """An object with these words in its name."""

    kind: Literal["cluster", "node", "target", "campaign", "schedule"]
    id: int
    name: str
    cluster_id: int
    cluster_name: str


class FoundSeries(Output):
    id: int
    title: str
    workload: str
    metric: Metric
    labels: Labels
    target_names: list[str]
    cluster_id: int
    cluster_name: str


class SearchResult(Output):
    """At most five of each kind, best match first."""

    named: list[FoundName]
    series: Annotated[list[FoundSeries], Field(description="Each has every word, in whichever of its names")]


def search(session: Session, principal: Principal, words: str) -> SearchResult:
    """Return what the caller may see; nothing for blank text."""
    sought = words.split()
    if not sought:
        return SearchResult(named=[], series=[])
    visible = principal.visible_clusters()
    named = search_queries.named(session, visible, " ".join(sought), MOST_OF_A_KIND)
    series = search_queries.series(session, visible, sought[:MOST_WORDS], MOST_OF_A_KIND)
    return SearchResult(
        named=[FoundName.model_validate(row) for row in named],
        series=[FoundSeries.of_row(row, title=row.name) for row in series],
    )
