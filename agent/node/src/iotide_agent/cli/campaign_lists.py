"""List of campaigns with the main result of each."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from rich.table import Table

from iotide_agent.cli.answers import Campaign, CampaignHeadline, Headline
from iotide_agent.cli.api import Api, Document
from iotide_agent.cli.display import minute, table_of
from iotide_agent.cli.preparations import has_failed_preparation, preparation_words
from iotide_agent.cli.run_display import headline_words
from iotide_agent.cli.watch import ENDED
from iotide_wire.units import format_factor, format_percent, format_value

_MOST_AT_ONCE: Final = 100
"""Limit of the server."""


class CampaignSort(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"
    NAME = "name"


def campaign_headlines(api: Api, campaigns: Sequence[Document]) -> dict[int, CampaignHeadline]:
    """Return the main results of the campaigns that have ended, by id."""
    ended = [campaign["id"] for campaign in campaigns if campaign["state"] in ENDED]
    found: dict[int, CampaignHeadline] = {}
    for first in range(0, len(ended), _MOST_AT_ONCE):
        some = ended[first : first + _MOST_AT_ONCE]
        rows = map(CampaignHeadline.of, api.get("/campaign-headlines", {"campaign_id": some})["items"])
        found |= {row.campaign_id: row for row in rows}
    return found


def campaign_list(campaigns: Iterable[Campaign], results: Mapping[int, CampaignHeadline]) -> Table:
    table = table_of("id", "name", "state", "runs", "main result", "previous", "cluster", "owner", "submitted")
    for campaign in campaigns:
        result = results.get(campaign.id)
        table.add_row(
            str(campaign.id),
            campaign.name,
            campaign.state,
            _runs(campaign),
            "" if result is None else _result(result),
            "" if result is None else _previous(result),
            campaign.cluster_name,
            campaign.owner or "",
            minute(campaign.created_at),
        )
    return table


def _runs(campaign: Campaign) -> str:
    counts = dict(campaign.counts)
    total = sum(counts.values())
    if campaign.state not in ENDED:
        return f"{counts['finished']} of {total}, {format_percent(campaign.progress)}"
    others = [f"{counts[state]} {state}" for state in ("failed", "cancelled") if counts[state]]
    if has_failed_preparation(campaign):
        others += preparation_words(campaign)
    return ", ".join([str(total), *others])


def _result(result: CampaignHeadline) -> str:
    main = headline_words(
        Headline(metric=result.metric, title=result.title, unit=result.unit, labels=result.labels, value=result.median)
    )
    spread = (
        ""
        if result.n == 1
        else f", {format_value(result.low, result.unit)} to {format_value(result.high, result.unit)}"
    )
    return f"{main} (n = {result.n}{spread})"


def _previous(result: CampaignHeadline) -> str:
    previous = result.previous
    if previous is None or previous.ratio is None:
        return ""
    return f"ratio {format_factor(previous.ratio)} to {previous.campaign_id} (n = {previous.n})"
