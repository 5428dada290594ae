"""SQL of the failed runs that would have given a series its points."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, bindparam, text
from sqlalchemy.orm import Session
from sqlalchemy.types import DateTime

from iotide_server.kit.people import are_shown
from iotide_server.results.schemas import SeriesOutput

MOST_FAILURES: Final = 100  # cells with failed runs, the newest; a page draws no more

_FAILED: Final = text(
    """
    SELECT failed.campaign_id, failed.cell_id, count(*) AS run_count, max(failed.ended_at) AS at,
           (array_agg(failed.id ORDER BY failed.ended_at DESC, failed.id DESC))[1] AS run_id,
           (array_agg(failed.reason_code ORDER BY failed.ended_at DESC, failed.id DESC))[1] AS reason_code,
           (array_agg(worded(failed.reason, failed.reason_actor, :with_names)
                      ORDER BY failed.ended_at DESC, failed.id DESC))[1] AS reason
    FROM run AS failed
    JOIN cell ON cell.id = failed.cell_id
    JOIN workload ON workload.id = cell.workload_id
    JOIN series ON series.id = :series_id
    WHERE failed.state = 'failed' AND failed.cluster_id = series.cluster_id AND failed.ended_at IS NOT NULL
      AND (CAST(:since AS timestamptz) IS NULL OR failed.ended_at >= :since)
      AND (CAST(:until AS timestamptz) IS NULL OR failed.ended_at <= :until)
      AND cell.options_sha256 = series.options_sha256 AND cell.variant = series.variant
      AND workload.name = series.workload
      AND workload.series_revision = series.series_revision
      AND ARRAY(SELECT node_id FROM cell_node WHERE cell_id = cell.id ORDER BY node_id) = series.node_ids
      AND ARRAY(SELECT target_id FROM cell_target WHERE cell_id = cell.id ORDER BY target_id) = series.target_ids
    GROUP BY failed.campaign_id, failed.cell_id
    ORDER BY at DESC, failed.cell_id DESC
    LIMIT :most
    """
).bindparams(bindparam("since", type_=DateTime(timezone=True)), bindparam("until", type_=DateTime(timezone=True)))


def failed_cells(
    session: Session, series: SeriesOutput, since: datetime | None, until: datetime | None
) -> Sequence[Row[Any]]:
    """Return the newest cells of a series with failed runs in a span, in time order, as rows of `Failure`."""
    values = {"series_id": series.id, "since": since, "until": until, "most": MOST_FAILURES, "with_names": are_shown()}
    return list(reversed(session.execute(_FAILED, values).all()))
