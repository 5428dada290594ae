"""SQL of published sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, delete, select, text
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import PublishedSource
from iotide_server.clusters.models import Cluster
from iotide_server.clusters.views import Origin
from iotide_server.kit.db import Json, any_text_of

_CAMPAIGNS = text(
    """
    SELECT published.source_id, campaign.id AS campaign_id, campaign.name AS campaign_name, campaign.cluster_id,
           cluster.name AS cluster_name, workload.name AS workload, count(run.id) AS runs
    FROM published_campaign AS published
    JOIN campaign ON campaign.id = published.campaign_id
    JOIN cluster ON cluster.id = campaign.cluster_id
    JOIN cell ON cell.campaign_id = campaign.id
    JOIN workload ON workload.id = cell.workload_id
    JOIN run ON run.cell_id = cell.id
    GROUP BY published.source_id, campaign.id, cluster.name, workload.name
    ORDER BY campaign.id
    """
)
_NUMBERS = text(
    """
    SELECT cell.options, target.name AS target, point.median AS value
    FROM published_campaign AS published
    JOIN cell ON cell.campaign_id = published.campaign_id
    JOIN cell_target ON cell_target.cell_id = cell.id
    JOIN target ON target.id = cell_target.target_id
    JOIN point ON point.cell_id = cell.id
    JOIN series ON series.id = point.series_id
    WHERE published.source_id = :source_id AND series.metric = :metric AND series.labels @> CAST(:labels AS jsonb)
    ORDER BY cell.id
    """
)


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    options: Json
    target: str
    value: float


def sources(session: Session) -> Sequence[PublishedSource]:
    return session.scalars(select(PublishedSource).order_by(PublishedSource.id)).all()


def campaigns(session: Session) -> Sequence[Row[Any]]:
    return session.execute(_CAMPAIGNS).all()


def numbers(session: Session, source_id: int, metric: str, labels_json: str) -> list[PrintedNumber]:
    rows = session.execute(_NUMBERS, {"source_id": source_id, "metric": metric, "labels": labels_json})
    return [PrintedNumber(row.options, row.target, row.value) for row in rows]


def clusters(session: Session) -> Sequence[Cluster]:
    statement = select(Cluster).where(Cluster.origin == Origin.PUBLISHED).order_by(Cluster.name)
    return session.scalars(statement).all()


def taken_name(session: Session, names: Sequence[str]) -> str | None:
    statement = select(Cluster.name).where(Cluster.name == any_text_of(names), Cluster.origin != Origin.PUBLISHED)
    return session.scalar(statement.order_by(Cluster.name).limit(1))


def delete_sources(session: Session) -> None:
    session.execute(delete(PublishedSource))
