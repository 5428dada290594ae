import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, DateTime, Row, bindparam, delete, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session
from sqlalchemy.orm.util import identity_key

from iotide_server.campaigns.models import Campaign, Cell, CellNode
from iotide_server.kit.db import Json, any_text_of, none_of
from iotide_server.kit.people import are_shown
from iotide_server.results.models import Environment, Point, Series
from iotide_server.results.schemas import SeriesOutput
from iotide_server.runs.models import Run
from iotide_server.statistics.lateness import FEWEST_GAPS
from iotide_server.trends.points.of_cell import CellPoint
from iotide_server.workloads.models import Workload
from iotide_server.workloads.primary import primary_metrics
from iotide_wire.measured import Flag, FlagCode

# Any series of a run will do: all have the same previous run.
_PREVIOUS_RUNS = text(
    """
    SELECT run.id AS of_run, previous.*
    FROM run
    JOIN LATERAL (SELECT min(series_id) AS series_id FROM sample WHERE run_id = run.id) AS kept ON true
    JOIN LATERAL (
        SELECT earlier.id, earlier.environment_sha256, earlier.started_at
        FROM sample JOIN run AS earlier ON earlier.id = sample.run_id
        WHERE sample.series_id = kept.series_id
          AND earlier.state = 'finished' AND earlier.validity = 'valid' AND earlier.environment_sha256 IS NOT NULL
          AND (earlier.started_at, earlier.id) < (run.started_at, run.id)
        ORDER BY earlier.started_at DESC, earlier.id DESC
        LIMIT 1
    ) AS previous ON true
    WHERE run.cell_id = :cell_id AND run.state = 'finished'
    """
)
USUAL_OF_RUNS: Final = 20
FEWEST_USUAL_RUNS: Final = 10
USUAL_RATIO: Final = 0.9
"""A flag is usual in a series if at least this share of its last 20 runs had it; with fewer than 10 runs, none is."""

# One statement: separate parameters for hundreds of points cost more than all else. Usual flags are counted by runs,
# over whole points; those of release 0.2 have no counts, so each of their flags counts for all runs.
_PUT = text(
    """
    INSERT INTO point (cell_id, campaign_id, series_id, at, median, low, high, run_count, variation_ratio,
                       robust_spread_ratio, flags, flag_runs, usual_flags)
    SELECT :cell_id, :campaign_id, series_id, at, median, low, high, run_count, variation_ratio, robust_spread_ratio,
           CAST(flags AS jsonb), CAST(flag_runs AS jsonb), before.usual_flags
    FROM unnest(
        CAST(:series_id AS bigint[]), CAST(:at AS timestamptz[]), CAST(:median AS float8[]), CAST(:low AS float8[]),
        CAST(:high AS float8[]), CAST(:run_count AS bigint[]), CAST(:variation_ratio AS float8[]),
        CAST(:robust_spread_ratio AS float8[]), CAST(:flags AS text[]), CAST(:flag_runs AS text[])
    ) AS made (series_id, at, median, low, high, run_count, variation_ratio, robust_spread_ratio, flags, flag_runs)
    CROSS JOIN LATERAL (
        WITH newest AS (
            SELECT earlier.at, earlier.run_count, coalesce(earlier.flag_runs, (
                       SELECT jsonb_object_agg(code, earlier.run_count)
                       FROM jsonb_array_elements_text(earlier.flags) AS code
                   )) AS flag_runs
            FROM point AS earlier
            WHERE earlier.series_id = made.series_id AND earlier.at < made.at AND earlier.cell_id <> :cell_id
            ORDER BY earlier.at DESC LIMIT :usual_of_runs
        ), counted AS (
            SELECT run_count, flag_runs FROM (
                SELECT newest.*, sum(run_count) OVER (ORDER BY at DESC) - run_count AS newer_runs FROM newest
            ) AS summed
            WHERE newer_runs < :usual_of_runs
        ), total AS (
            SELECT sum(run_count) AS runs FROM counted
        )
        SELECT coalesce(jsonb_agg(code ORDER BY code), '[]') AS usual_flags FROM (
            SELECT code FROM counted CROSS JOIN LATERAL jsonb_each_text(counted.flag_runs) AS bore (code, runs)
            GROUP BY code
            HAVING sum(CAST(bore.runs AS bigint)) >= :usual_ratio * (SELECT runs FROM total)
               AND (SELECT runs FROM total) >= :fewest_usual_runs
        ) AS usual
    ) AS before
    ON CONFLICT (cell_id, series_id) DO UPDATE
    SET (at, median, low, high, run_count, variation_ratio, robust_spread_ratio, flags, flag_runs, usual_flags)
        = (excluded.at, excluded.median, excluded.low, excluded.high, excluded.run_count, excluded.variation_ratio,
           excluded.robust_spread_ratio, excluded.flags, excluded.flag_runs, excluded.usual_flags)
    WHERE (point.at, point.median, point.low, point.high, point.run_count, point.variation_ratio,
           point.robust_spread_ratio, point.flags, point.flag_runs, point.usual_flags)
        IS DISTINCT FROM
          (excluded.at, excluded.median, excluded.low, excluded.high, excluded.run_count, excluded.variation_ratio,
           excluded.robust_spread_ratio, excluded.flags, excluded.flag_runs, excluded.usual_flags)
    RETURNING series_id
    """
)
_PUT_USUAL_FLAGS: Final = text(
    """
    UPDATE cell SET usual_flags = made.usual_flags
    FROM (
        SELECT coalesce(jsonb_agg(DISTINCT code ORDER BY code), '[]') AS usual_flags
        FROM point CROSS JOIN LATERAL jsonb_array_elements_text(point.usual_flags) AS code WHERE cell_id = :cell_id
    ) AS made
    WHERE cell.id = :cell_id AND cell.usual_flags <> made.usual_flags
    """
)
_PUT_FLAGS: Final = text(
    """
    UPDATE run SET flags = made.flags
    FROM (
        SELECT run.id, coalesce((
                   SELECT jsonb_agg(flag ORDER BY place)
                   FROM jsonb_array_elements(run.flags) WITH ORDINALITY AS borne (flag, place)
                   WHERE flag ->> 'code' IS DISTINCT FROM :code
               ), '[]') || CAST(named.flags AS jsonb) AS flags
        FROM unnest(CAST(:run_ids AS bigint[]), CAST(:flags AS text[])) AS named (id, flags) JOIN run USING (id)
    ) AS made
    WHERE run.id = made.id AND run.flags <> made.flags
    RETURNING run.id
    """
)


@dataclass(frozen=True, slots=True)
class FinishedRun:
    id: int
    cluster_id: int
    environment_sha256: str | None
    started_at: datetime | None
    began_at: datetime  # or its creation, if unknown


def lock_cell(session: Session, cell_id: int) -> Cell | None:
    return session.scalar(select(Cell).where(Cell.id == cell_id).with_for_update(key_share=True))


def cluster_and_time(session: Session, campaign_id: int) -> tuple[int, datetime]:
    cluster_id, now = session.execute(select(Campaign.cluster_id, func.now()).where(Campaign.id == campaign_id)).one()
    return cluster_id, now


def lock_finished_runs(session: Session, cell_id: int) -> list[FinishedRun]:
    """Lock the finished runs in the order that all code uses; without their flags."""
    began_at = func.coalesce(Run.started_at, Run.created_at)
    columns = select(Run.id, Run.cluster_id, Run.environment_sha256, Run.started_at, began_at)
    finished = columns.where(Run.cell_id == cell_id, Run.state == "finished").order_by(Run.id)
    return [FinishedRun(*row) for row in session.execute(finished.with_for_update(key_share=True))]


def put_flags(session: Session, code: FlagCode, flags: Mapping[int, Sequence[Flag]]) -> None:
    stored = [json.dumps([flag.model_dump(mode="json") for flag in own]) for own in flags.values()]
    changed = session.scalars(_PUT_FLAGS, {"code": code, "run_ids": list(flags), "flags": stored})
    for run_id in changed:
        if (known := session.identity_map.get(identity_key(Run, run_id))) is not None:
            session.expire(known, ["flags"])


def has_open_runs(session: Session, cell_id: int) -> bool:
    is_open = select(Run.id).where(Run.cell_id == cell_id, Run.state.in_(("waiting", "active"))).exists()
    return session.scalars(select(is_open)).one()


def previous_runs(session: Session, cell_id: int) -> dict[int, Row[Any]]:
    """Return id, environment_sha256 and started_at of each run's predecessor."""
    return {row.of_run: row for row in session.execute(_PREVIOUS_RUNS, {"cell_id": cell_id})}


def node_ids(session: Session, cell_id: int) -> list[int]:
    statement = select(CellNode.node_id).where(CellNode.cell_id == cell_id).order_by(CellNode.node_id)
    return list(session.scalars(statement))


def facts(session: Session, digests: Sequence[str]) -> dict[str, Json]:
    statement = select(Environment.sha256, Environment.facts).where(Environment.sha256 == any_text_of(digests))
    return dict(session.execute(statement).all())


def primary_of(session: Session, cell_id: int) -> frozenset[str]:
    statement = select(Workload.metrics).join(Cell, Cell.workload_id == Workload.id).where(Cell.id == cell_id)
    return primary_metrics(session.scalars(statement).one())


def drop_points(
    session: Session, cell_id: int, kept: Collection[int], after_id: int, last_id: int | None = None
) -> set[int]:
    """Drop points not in `kept`, between two series ids; return their series."""
    gone = delete(Point).where(Point.cell_id == cell_id, Point.series_id > after_id, Point.series_id != none_of(kept))
    if last_id is not None:
        gone = gone.where(Point.series_id <= last_id)
    return set(session.scalars(gone.returning(Point.series_id)))


def put_points(session: Session, cell: Cell, points: Sequence[CellPoint]) -> set[int]:
    """Return the changed series."""
    usual = {
        "usual_of_runs": USUAL_OF_RUNS,
        "fewest_usual_runs": FEWEST_USUAL_RUNS,
        "usual_ratio": USUAL_RATIO,
    }
    values = {"cell_id": cell.id, "campaign_id": cell.campaign_id} | usual | _columns(points)
    return set(session.scalars(_PUT, values))


def put_usual_flags(session: Session, cell_id: int) -> None:
    """Store the flags that are usual in any series of the cell."""
    session.execute(_PUT_USUAL_FLAGS, {"cell_id": cell_id})


def _columns(points: Sequence[CellPoint]) -> dict[str, list[Any]]:
    summaries = [point.summary for point in points]
    return {
        "series_id": [point.series_id for point in points],
        "at": [point.at for point in points],
        "median": [summary.median for summary in summaries],
        "low": [summary.low for summary in summaries],
        "high": [summary.high for summary in summaries],
        "run_count": [summary.run_count for summary in summaries],
        "variation_ratio": [summary.variation_ratio for summary in summaries],
        "robust_spread_ratio": [summary.robust_spread_ratio for summary in summaries],
        "flags": [json.dumps(point.flags) for point in points],
        "flag_runs": [json.dumps(point.flag_runs) for point in points],
    }


def lock_series(session: Session, series_id: int) -> Series | None:
    return session.scalar(select(Series).where(Series.id == series_id).with_for_update(key_share=True))


def count_points(session: Session, series_id: int, since: datetime | None = None, until: datetime | None = None) -> int:
    return session.scalars(select(func.count()).where(*_in_span(series_id, since, until))).one()


def newest_points(
    session: Session, series_id: int, limit: int, since: datetime | None = None, until: datetime | None = None
) -> list[Point]:
    """Return the newest points in time order, optionally of a span, including its ends."""
    statement = select(Point).where(*_in_span(series_id, since, until)).order_by(Point.at.desc(), Point.id.desc())
    return list(reversed(session.scalars(statement.limit(limit)).all()))


_LISTED: Final = [one for one in Point.__table__.columns if one.name not in {"id", "series_id", "flag_runs"}]


def newest_rows(
    session: Session, series_id: int, limit: int, since: datetime | None = None, until: datetime | None = None
) -> list[Row[Any]]:
    """Return what `Points` lists of the same points, as rows: they take a third of the time of entities."""
    statement = select(*_LISTED).where(*_in_span(series_id, since, until))
    newest_first = statement.order_by(Point.at.desc(), Point.id.desc()).limit(limit)
    return list(reversed(session.execute(newest_first).all()))


def newest_times(session: Session, series_id: int, limit: int) -> list[datetime]:
    statement = select(Point.at).where(Point.series_id == series_id).order_by(Point.at.desc()).limit(limit)
    return list(reversed(session.scalars(statement).all()))


def _in_span(series_id: int, since: datetime | None, until: datetime | None) -> list[ColumnElement[bool]]:
    conditions = [Point.series_id == series_id]
    if since is not None:
        conditions.append(Point.at >= since)
    if until is not None:
        conditions.append(Point.at <= until)
    return conditions


MOST_FAILURES: Final = 100  # as many as a chart draws

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
    """Return the newest cells with failed runs as rows of `Failure`, in time order."""
    values = {"series_id": series.id, "since": since, "until": until, "most": MOST_FAILURES, "with_names": are_shown()}
    return list(reversed(session.execute(_FAILED, values).all()))


_MOST_DAYS: Final = 21  # with points: 20 gaps
_MOST_POINTS: Final = 500

_PUT_USUAL_GAPS: Final = text(
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
    """Store the median gap between the newest days with points, or one day if too few days already have 500 points."""
    values = {"series_ids": list(series_ids), "fewest": FEWEST_GAPS, "points": _MOST_POINTS, "days": _MOST_DAYS}
    session.execute(_PUT_USUAL_GAPS, values)
