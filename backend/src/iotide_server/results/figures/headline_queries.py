"""SQL of the numbers that represent campaigns in lists."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.kit.db import array_of

_CELLS_READ: Final = 100
"""The first cells of a campaign's plan. A campaign without a result in any of them has no headline."""

# The result of the first cell in the series of its runs' headlines, and the newest earlier one in that series among
# the campaigns of the same schedule.
_HEADLINES: Final = text(
    """
    SELECT campaign.id AS campaign_id, first.series_id, series.workload, series.metric, series.title, series.unit,
           series.better, series.labels, first.run_count AS n, first.median, first.low, first.high, first.flags,
           first.usual_flags, first.ordinal,
           ARRAY(SELECT name FROM target WHERE id = ANY(series.target_ids) ORDER BY name) AS target_names,
           earlier.campaign_id AS previous_id, earlier.median AS previous_median, earlier.run_count AS previous_n
    FROM campaign
    CROSS JOIN LATERAL (
        SELECT point.*, cell.ordinal
        FROM (
            SELECT id, ordinal FROM cell WHERE cell.campaign_id = campaign.id ORDER BY ordinal LIMIT :cells
        ) AS cell
        JOIN run ON run.cell_id = cell.id
        JOIN run_headline ON run_headline.run_id = run.id
        JOIN point ON point.cell_id = cell.id AND point.series_id = run_headline.series_id
        ORDER BY cell.ordinal, run.repeat LIMIT 1
    ) AS first
    JOIN series ON series.id = first.series_id
    LEFT JOIN LATERAL (
        SELECT point.campaign_id, point.median, point.run_count
        FROM firing AS own
        JOIN firing ON firing.schedule_id = own.schedule_id
        JOIN point ON point.campaign_id = firing.campaign_id AND point.series_id = first.series_id
        WHERE own.campaign_id = campaign.id AND point.campaign_id <> campaign.id AND point.at < first.at
        ORDER BY point.at DESC LIMIT 1
    ) AS earlier ON true
    WHERE campaign.id = ANY(:campaign_ids)
      AND (CAST(:visible AS bigint[]) IS NULL OR campaign.cluster_id = ANY(:visible))
    ORDER BY campaign.id
    """
)


def headlines(session: Session, visible: frozenset[int] | None, campaign_ids: Sequence[int]) -> Sequence[Row[Any]]:
    """Return the headlines of visible campaigns that have results."""
    values = {"campaign_ids": list(campaign_ids), "visible": array_of(visible), "cells": _CELLS_READ}
    return session.execute(_HEADLINES, values).all()
