"""SQL of comparisons."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

AnyRow = Row[Any]

_CAMPAIGNS: Final = text(
    """
    SELECT campaign.id, campaign.name, campaign.cluster_id, cluster.name AS cluster_name,
           jsonb_typeof(campaign.plan -> 'scratch') IS NOT DISTINCT FROM 'object' AS is_on_scratch
    FROM campaign JOIN cluster ON cluster.id = campaign.cluster_id WHERE campaign.id = ANY(:ids)
    """
)
_OF_CELLS: Final = text(
    """
    SELECT cell.id, cell.campaign_id, campaign.cluster_id
    FROM cell JOIN campaign ON campaign.id = cell.campaign_id WHERE cell.id = ANY(:ids)
    """
)


def campaign_names(session: Session, campaign_ids: Sequence[int]) -> dict[int, AnyRow]:
    return {row.id: row for row in session.execute(_CAMPAIGNS, {"ids": list(campaign_ids)})}


def campaigns_of_cells(session: Session, cell_ids: Sequence[int]) -> dict[int, AnyRow]:
    return {row.id: row for row in session.execute(_OF_CELLS, {"ids": list(cell_ids)})}
