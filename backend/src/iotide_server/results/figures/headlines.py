"""Numbers that represent campaigns in lists."""

from collections.abc import Iterable
from typing import Annotated, Any, Final

from pydantic import Field
from sqlalchemy import Row
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.kit.web import Output
from iotide_server.results.figures import headline_queries
from iotide_server.results.schemas import Better, Labels, Metric
from iotide_wire.units import Unit

MOST_CAMPAIGNS: Final = 100


class PreviousHeadline(Output):
    """Result of the previous campaign of the schedule in the same series. The ratio is no verdict: see comparisons."""

    campaign_id: int
    median: float
    n: int
    ratio: Annotated[float | None, Field(description="Newer median / this one; null if this one is 0")]


class CampaignHeadline(Output):
    """First primary metric of a campaign's first configuration that has a result, over its valid runs."""

    campaign_id: int
    ordinal: Annotated[int, Field(description="Of the cell")]
    series_id: int
    workload: str
    target_names: list[str]
    metric: Metric
    title: str
    unit: Unit
    better: Better
    labels: Labels
    n: int
    median: float
    low: float
    high: float
    flags: Annotated[list[str], Field(description="Flag codes of its runs", examples=[["CACHE_SIZE"]])]
    usual_flags: list[str]
    previous: Annotated[PreviousHeadline | None, Field(description="Null without a schedule or an earlier result")]


class CampaignHeadlines(Output):
    items: list[CampaignHeadline]


def campaign_headlines(session: Session, principal: Principal, campaign_ids: Iterable[int]) -> CampaignHeadlines:
    rows = headline_queries.headlines(session, principal.visible_clusters(), sorted({*campaign_ids}))
    return CampaignHeadlines(items=[CampaignHeadline.of_row(row, previous=_previous(row)) for row in rows])


def _previous(row: Row[Any]) -> PreviousHeadline | None:
    if row.previous_id is None:
        return None
    ratio = row.median / row.previous_median if row.previous_median else None
    return PreviousHeadline(campaign_id=row.previous_id, median=row.previous_median, n=row.previous_n, ratio=ratio)
