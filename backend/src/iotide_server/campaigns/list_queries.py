"""SQL of the list of campaigns: filtered, sorted and grouped by schedule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.campaigns.plain import LISTED_PLAN_BYTES
from iotide_server.campaigns.repository import AnyRow, described_sql
from iotide_server.campaigns.schemas import CampaignFilter, CampaignSort
from iotide_server.kit.db import array_of, containing
from iotide_server.kit.pagination import PageRequest, Slice

RECENT_CAMPAIGNS: Final = 20
"""Newest campaigns of a schedule whose states its group shows. States follow from runs, so counting all is slow."""

_CONDITIONS: Final = {
    "visible": "campaign.cluster_id = ANY(:visible)",
    "cluster_id": "campaign.cluster_id = :cluster_id",
    "owner": "campaign.owner_id IN (SELECT id FROM user_account WHERE name = :owner)",
    "schedule_id": "campaign.id IN (SELECT campaign_id FROM firing WHERE firing.schedule_id = :schedule_id)",
    "text": "campaign.name ILIKE :text",
}
_NEWEST_OF_SCHEDULE: Final = (
    "NOT EXISTS (SELECT FROM firing AS own JOIN firing AS later ON later.schedule_id = own.schedule_id"
    " AND later.id > own.id AND later.campaign_id IS NOT NULL WHERE own.campaign_id = campaign.id)"
)
_ORDERS: Final = {
    CampaignSort.NEWEST: "id DESC",
    CampaignSort.OLDEST: "id",
    CampaignSort.NAME: "lower(name), -id",
}
_AFTER: Final = {
    CampaignSort.NEWEST: "campaign.id < :last_id",
    CampaignSort.OLDEST: "campaign.id > :last_id",
    CampaignSort.NAME: "(lower(campaign.name), -campaign.id)"
    " > (SELECT lower(name), -id FROM campaign WHERE id = :last_id)",
}
_NEWEST_BY_SCHEDULE: Final = """(
    SELECT campaign.* FROM unnest(CAST(:schedule_ids AS bigint[])) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT campaign_id FROM firing WHERE firing.schedule_id = wanted.id AND campaign_id IS NOT NULL
        ORDER BY firing.id DESC LIMIT :recent
    ) AS newest
    JOIN campaign ON campaign.id = newest.campaign_id
)"""
_RECENT_STATES: Final = text(
    f"SELECT schedule_id, state, count(*) AS campaigns FROM ({described_sql(_NEWEST_BY_SCHEDULE)}) AS described"  # noqa: S608 - made of constants
    " GROUP BY schedule_id, state"
)
_COUNTS: Final = text(
    "SELECT schedule_id, count(campaign_id) AS campaigns FROM firing WHERE schedule_id = ANY(:schedule_ids)"
    " GROUP BY schedule_id"
)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Part of a list that a caller asks for; `visible` None: of all clusters."""

    visible: frozenset[int] | None
    wanted: CampaignFilter
    paging: PageRequest


def page(session: Session, asked: ListRequest, now: datetime) -> Slice[AnyRow]:
    """Return campaigns; a plan over LISTED_PLAN_BYTES is None."""
    return _page(session, asked, [], now)


def page_of_groups(session: Session, asked: ListRequest, now: datetime) -> Slice[AnyRow]:
    """Return campaigns like `page`, but of each schedule only the newest."""
    return _page(session, asked, [_NEWEST_OF_SCHEDULE], now)


def _page(session: Session, asked: ListRequest, conditions: Sequence[str], now: datetime) -> Slice[AnyRow]:
    wanted, paging = asked.wanted, asked.paging
    given: dict[str, Any] = {"visible": array_of(asked.visible), "last_id": paging.last_id}
    given |= {name: getattr(wanted, name) for name in ("cluster_id", "owner", "schedule_id")}
    given |= {"text": None if wanted.text is None else containing(wanted.text)}
    values = {name: value for name, value in given.items() if value is not None}
    possible = _CONDITIONS | {"last_id": _AFTER[wanted.sort]}
    where = " AND ".join([*(possible[name] for name in values), *conditions]) or "true"
    order = _ORDERS[wanted.sort]
    # The state follows from the runs of a campaign. Choose the page first, or at least its order, so that PostgreSQL
    # reads the runs of no other campaigns.
    limit = "LIMIT :limit" if wanted.state is None else ""
    chosen = f"(SELECT * FROM campaign WHERE {where} ORDER BY {order} {limit})"  # noqa: S608 - made of constants
    statement = text(
        f"SELECT * FROM ({described_sql(chosen)}) AS described"  # noqa: S608 - made of constants
        f" WHERE CAST(:state AS text) IS NULL OR state = :state ORDER BY {order} LIMIT :limit"
    )
    fixed = {"state": wanted.state, "limit": paging.limit + 1, "plan_bytes": LISTED_PLAN_BYTES, "now": now}
    return paging.cut(session.execute(statement, values | fixed).all(), key=lambda row: int(row.id))


def campaign_counts(session: Session, schedule_ids: Sequence[int]) -> Mapping[int, int]:
    """Return the number of campaigns by schedule."""
    return {row.schedule_id: row.campaigns for row in session.execute(_COUNTS, {"schedule_ids": list(schedule_ids)})}


def recent_states(session: Session, schedule_ids: Sequence[int], now: datetime) -> Sequence[AnyRow]:
    """Return schedule, state and number of its newest RECENT_CAMPAIGNS in that state."""
    values = {"schedule_ids": list(schedule_ids), "recent": RECENT_CAMPAIGNS, "plan_bytes": 0, "now": now}
    return session.execute(_RECENT_STATES, values).all()
