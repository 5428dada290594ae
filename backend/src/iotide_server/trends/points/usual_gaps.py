"""The usual gap of a series: how many days lie between the days on which it is measured."""

from collections.abc import Collection
from typing import Final

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session
from sqlalchemy.types import BigInteger

from iotide_server.statistics.lateness import FEWEST_GAPS

MOST_DAYS: Final = 21  # with points, the newest: 20 gaps
_MOST_POINTS: Final = 500

_PUT: Final = text(
    # Points of one day are one measurement: an afternoon of tries says nothing of the days after it.
    """
    UPDATE series_course SET usual_gap_seconds = (
        SELECT CASE WHEN count(gap) >= :fewest THEN percentile_cont(0.5) WITHIN GROUP (ORDER BY gap)
                    WHEN (SELECT count(*) FROM (SELECT FROM point WHERE series_id = series_course.series_id
                                                LIMIT :points) AS many) = :points THEN 86400 END
        FROM (
            SELECT extract(epoch FROM day - lag(day) OVER (ORDER BY day)) AS gap
            FROM (
                SELECT DISTINCT date_trunc('day', at, 'UTC') AS day
                FROM (SELECT at FROM point WHERE series_id = series_course.series_id ORDER BY at DESC LIMIT :points)
                     AS newest
                ORDER BY day DESC LIMIT :days
            ) AS measured
        ) AS known
    )
    WHERE series_id = ANY(:series_ids)
    """
).bindparams(bindparam("series_ids", type_=ARRAY(BigInteger)))


def put_usual_gaps(session: Session, series_ids: Collection[int]) -> None:
    """Store the median gap between the newest days with points; a day where so few days have 500 points, else none."""
    values = {"series_ids": list(series_ids), "fewest": FEWEST_GAPS, "points": _MOST_POINTS, "days": MOST_DAYS}
    session.execute(_PUT, values)
