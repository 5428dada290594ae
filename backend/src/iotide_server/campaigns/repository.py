"""SQL of campaigns: bulk inserts of the matrix, and lists whose state follows from the runs."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import Row, select, text
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import Campaign
from iotide_server.campaigns.planning import PlannedCell
from iotide_server.campaigns.schemas import CampaignFilter
from iotide_server.kit.pagination import PageRequest, Slice

AnyRow = Row[Any]

_DESCRIBED: Final = """
    SELECT campaign.id, campaign.name, campaign.cluster_id, cluster.name AS cluster_name, user_account.name AS owner,
           campaign.plan, campaign.created_at, counted.*,
           CASE WHEN waiting + active = 0 THEN
                CASE WHEN failed > 0 THEN 'failed' WHEN cancelled > 0 THEN 'cancelled' ELSE 'finished' END
                WHEN active + finished + failed + cancelled = 0 THEN 'waiting' ELSE 'active' END AS state
    FROM campaign
    JOIN cluster ON cluster.id = campaign.cluster_id
    LEFT JOIN user_account ON user_account.id = campaign.owner_id
    JOIN LATERAL (
        SELECT count(*) FILTER (WHERE run.state = 'waiting') AS waiting,
               count(*) FILTER (WHERE run.state = 'active') AS active,
               count(*) FILTER (WHERE run.state = 'finished') AS finished,
               count(*) FILTER (WHERE run.state = 'failed') AS failed,
               count(*) FILTER (WHERE run.state = 'cancelled') AS cancelled,
               count(*) AS runs,
               min(run.started_at) AS started_at,
               max(run.ended_at) AS last_ended_at
        FROM run WHERE run.campaign_id = campaign.id
    ) AS counted ON true
"""
_CONDITIONS: Final = {
    "campaign_id": "campaign.id = :campaign_id",
    "cluster_id": "campaign.cluster_id = :cluster_id",
    "owner": "user_account.name = :owner",
    "visible": "campaign.cluster_id = ANY(:visible)",
    "before_id": "campaign.id < :before_id",
}
_PROGRESS: Final = text(
    """
    SELECT node_order.run_id, min(coalesce(node_order.progress, 0)) AS progress
    FROM run JOIN attempt ON attempt.run_id = run.id AND attempt.state = 'open'
    JOIN node_order ON node_order.attempt_id = attempt.id
    WHERE run.campaign_id = :campaign_id AND run.state = 'active' GROUP BY node_order.run_id
    """
)


def by_idempotency_key(session: Session, owner_id: int | None, key: str) -> Campaign | None:
    """The campaign that this person submitted with this key."""
    return session.scalar(select(Campaign).where(Campaign.owner_id == owner_id, Campaign.idempotency_key == key))


def insert_cells(session: Session, campaign_id: int, cells: Sequence[PlannedCell]) -> None:
    """The matrix as rows, in one statement a table however large it is."""
    values = {
        "campaign_id": campaign_id,
        "ordinals": [cell.ordinal for cell in cells],
        "workload_ids": [cell.variant.workload.id for cell in cells],
        "options": [json.dumps(cell.variant.options) for cell in cells],
        "digests": [cell.variant.options_sha256 for cell in cells],
        "needed": [cell.bytes_needed for cell in cells],
        "moved": [cell.bytes_moved for cell in cells],
        "node_ids": [cell.node.id for cell in cells],
        "place_ordinals": [cell.ordinal for cell in cells for _ in cell.places],
        "target_ids": [place.target.target.id for cell in cells for place in cell.places],
    }
    session.execute(
        text(
            "WITH planned AS ("
            " SELECT * FROM unnest(CAST(:ordinals AS bigint[]), CAST(:workload_ids AS bigint[]),"
            " CAST(:options AS text[]), CAST(:digests AS text[]), CAST(:needed AS float8[]),"
            " CAST(:moved AS float8[]), CAST(:node_ids AS bigint[]))"
            " AS planned(ordinal, workload_id, options, digest, needed, moved, node_id)"
            "), placed AS ("
            " SELECT * FROM unnest(CAST(:place_ordinals AS bigint[]), CAST(:target_ids AS bigint[]))"
            " AS placed(ordinal, target_id)"
            "), made AS ("
            " INSERT INTO cell"
            " (campaign_id, ordinal, workload_id, options, options_sha256, bytes_needed, bytes_moved)"
            " SELECT :campaign_id, ordinal, workload_id, CAST(options AS jsonb), digest, needed, moved FROM planned"
            " RETURNING id, ordinal"
            "), on_nodes AS ("
            " INSERT INTO cell_node (cell_id, node_id) SELECT made.id, node_id FROM made JOIN planned USING (ordinal)"
            ") INSERT INTO cell_target (cell_id, target_id)"
            " SELECT made.id, target_id FROM made JOIN placed USING (ordinal)"
        ),
        values,
    )


def described(session: Session, campaign_id: int) -> AnyRow:
    """A campaign that there is, with its counts and its state."""
    statement = text(_DESCRIBED + "WHERE campaign.id = :campaign_id")
    return session.execute(statement, {"campaign_id": campaign_id}).one()


def page(
    session: Session, visible: frozenset[int] | None, wanted: CampaignFilter, paging: PageRequest
) -> Slice[AnyRow]:
    """Campaigns of the visible clusters (None: all), newest first."""
    values: dict[str, Any] = {**asdict(wanted), "before_id": paging.before_id}
    state = values.pop("state")
    if visible is not None:
        values["visible"] = list(visible)
    given = {name: value for name, value in values.items() if value is not None}
    conditions = " AND ".join(_CONDITIONS[name] for name in given)
    statement = text(
        f"SELECT * FROM ({_DESCRIBED} WHERE {conditions}) AS described"  # noqa: S608 - made of the constants above
        " WHERE CAST(:state AS text) IS NULL OR state = :state ORDER BY id DESC LIMIT :limit"
    )
    rows = session.execute(statement, {**given, "state": state, "limit": paging.limit + 1}).all()
    return paging.cut(rows, key=lambda row: int(row.id))


def progress_of_active(session: Session, campaign_id: int) -> float:
    """The sum of the fractions that the campaign's active runs have done."""
    return float(sum(row.progress for row in session.execute(_PROGRESS, {"campaign_id": campaign_id})))
