"""SQL of points and of the runs behind them."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, DateTime, Row, bindparam, delete, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Session, aliased
from sqlalchemy.orm.util import identity_key

from iotide_server.campaigns.models import Campaign, Cell, CellNode
from iotide_server.kit.db import Json, any_text_of, in_clusters, none_of
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.kit.people import are_shown
from iotide_server.results.models import Environment, Point, Series
from iotide_server.results.schemas import SeriesOutput
from iotide_server.runs.models import Run
from iotide_server.statistics.lateness import FEWEST_GAPS
from iotide_server.trends.models import ChangePoint
from iotide_server.trends.points.of_cell import CellPoint
from iotide_server.trends.schemas import ChangeFilter
from iotide_server.workloads.models import Workload
from iotide_server.workloads.primary import primary_metrics
from iotide_wire.measured import Flag, FlagCode

# One series stands for all of a run: they differ in metric and labels only, and so have the same previous run.
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
# One statement for all: a cell may have hundreds of points, and each as parameters of its own costs more than all else.
_PUT = text(
    """
    INSERT INTO point (cell_id, campaign_id, series_id, at, median, low, high, run_count, variation_ratio,
                       robust_spread_ratio, flags)
    SELECT :cell_id, :campaign_id, series_id, at, median, low, high, run_count, variation_ratio, robust_spread_ratio,
           CAST(flags AS jsonb)
    FROM unnest(
        CAST(:series_id AS bigint[]), CAST(:at AS timestamptz[]), CAST(:median AS float8[]), CAST(:low AS float8[]),
        CAST(:high AS float8[]), CAST(:run_count AS bigint[]), CAST(:variation_ratio AS float8[]),
        CAST(:robust_spread_ratio AS float8[]), CAST(:flags AS text[])
    ) AS made (series_id, at, median, low, high, run_count, variation_ratio, robust_spread_ratio, flags)
    ON CONFLICT (cell_id, series_id) DO UPDATE
    SET (at, median, low, high, run_count, variation_ratio, robust_spread_ratio, flags)
        = (excluded.at, excluded.median, excluded.low, excluded.high, excluded.run_count, excluded.variation_ratio,
           excluded.robust_spread_ratio, excluded.flags)
    WHERE (point.at, point.median, point.low, point.high, point.run_count, point.variation_ratio,
           point.robust_spread_ratio, point.flags)
        IS DISTINCT FROM
          (excluded.at, excluded.median, excluded.low, excluded.high, excluded.run_count, excluded.variation_ratio,
           excluded.robust_spread_ratio, excluded.flags)
    RETURNING series_id
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
# Without a change that was found once, and without an event to judge, nothing else depends on so few points.
_YOUNG = text(
    """
    WITH counted AS (
        SELECT series.id, series.cluster_id, series.workload, count(point.id) AS points, min(point.at) AS first_at
        FROM series LEFT JOIN point ON point.series_id = series.id
        WHERE series.id = ANY(:series_ids) GROUP BY series.id
    ), looked_at AS (
        SELECT counted.*, points < :fewest
               AND NOT EXISTS (SELECT FROM change_point WHERE series_id = counted.id)
               AND NOT EXISTS (SELECT FROM event_effect WHERE series_id = counted.id)
               AND NOT EXISTS (SELECT FROM event WHERE event.cluster_id = counted.cluster_id
                               AND kind = 'manual' AND at >= first_at) AS is_young
        FROM counted
    ), written AS (
        INSERT INTO series_course AS course
            (series_id, course, point_count, missing_points, memory, detector, analysed_at)
        SELECT id, 'too_short', points, :answered - points, 0, :detector, now()
        FROM looked_at WHERE is_young ORDER BY id
        ON CONFLICT (series_id) DO UPDATE SET
            course = excluded.course, point_count = excluded.point_count, missing_points = excluded.missing_points,
            memory = 0, drift = NULL, noise = NULL, suspect = NULL,
            detector = excluded.detector, analysed_at = excluded.analysed_at
    )
    SELECT looked_at.id, cluster_id, is_young,
           course.course IS DISTINCT FROM 'too_short' OR course.point_count <> points AS is_news,
           course.course IS NULL AND NOT EXISTS (
               SELECT FROM series JOIN series_course ON series_course.series_id = series.id
               WHERE series.cluster_id = looked_at.cluster_id AND series.workload = looked_at.workload) AS is_first
    FROM looked_at LEFT JOIN series_course AS course ON course.series_id = looked_at.id
    """
)


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run of a cell that finished."""

    id: int
    cluster_id: int
    environment_sha256: str | None
    started_at: datetime | None
    began_at: datetime  # when it started, or was made where nobody said when it started


def lock_cell(session: Session, cell_id: int) -> Cell | None:
    """The cell, kept from others who compute its points at the same time."""
    return session.scalar(select(Cell).where(Cell.id == cell_id).with_for_update(key_share=True))


def cluster_and_time(session: Session, campaign_id: int) -> tuple[int, datetime]:
    """The campaign's cluster, and `transaction_time`."""
    cluster_id, now = session.execute(select(Campaign.cluster_id, func.now()).where(Campaign.id == campaign_id)).one()
    return cluster_id, now


def lock_finished_runs(session: Session, cell_id: int) -> list[FinishedRun]:
    """Return the finished runs of a cell without their flags, in the order in which everyone locks runs."""
    began_at = func.coalesce(Run.started_at, Run.created_at)
    columns = select(Run.id, Run.cluster_id, Run.environment_sha256, Run.started_at, began_at)
    finished = columns.where(Run.cell_id == cell_id, Run.state == "finished").order_by(Run.id)
    return [FinishedRun(*row) for row in session.execute(finished.with_for_update(key_share=True))]


def put_flags(session: Session, code: FlagCode, flags: Mapping[int, Sequence[Flag]]) -> None:
    """Have exactly these flags of this code, by run, on each run, after its others."""
    stored = [json.dumps([flag.model_dump(mode="json") for flag in own]) for own in flags.values()]
    changed = session.scalars(_PUT_FLAGS, {"code": code, "run_ids": list(flags), "flags": stored})
    for run_id in changed:
        if (known := session.identity_map.get(identity_key(Run, run_id))) is not None:
            session.expire(known, ["flags"])


def has_open_runs(session: Session, cell_id: int) -> bool:
    """Whether runs of the cell are still to end."""
    is_open = select(Run.id).where(Run.cell_id == cell_id, Run.state.in_(("waiting", "active"))).exists()
    return session.scalars(select(is_open)).one()


def previous_runs(session: Session, cell_id: int) -> dict[int, Row[Any]]:
    """Return by finished run of the cell the one before it in its series: id, environment_sha256 and started_at."""
    return {row.of_run: row for row in session.execute(_PREVIOUS_RUNS, {"cell_id": cell_id})}


def node_ids(session: Session, cell_id: int) -> list[int]:
    """The nodes that load in the runs of a cell, sorted."""
    statement = select(CellNode.node_id).where(CellNode.cell_id == cell_id).order_by(CellNode.node_id)
    return list(session.scalars(statement))


def facts(session: Session, digests: Sequence[str]) -> dict[str, Json]:
    """Environments by digest."""
    statement = select(Environment.sha256, Environment.facts).where(Environment.sha256 == any_text_of(digests))
    return dict(session.execute(statement).all())


def primary_of(session: Session, cell_id: int) -> frozenset[str]:
    """The metrics that stand for the runs of a cell."""
    statement = select(Workload.metrics).join(Cell, Cell.workload_id == Workload.id).where(Cell.id == cell_id)
    return primary_metrics(session.scalars(statement).one())


def drop_points(
    session: Session, cell_id: int, kept: Collection[int], after_id: int, last_id: int | None = None
) -> set[int]:
    """Delete points of the cell, of series after one id up to another if named, not in `kept`; return the series."""
    gone = delete(Point).where(Point.cell_id == cell_id, Point.series_id > after_id, Point.series_id != none_of(kept))
    if last_id is not None:
        gone = gone.where(Point.series_id <= last_id)
    return set(session.scalars(gone.returning(Point.series_id)))


def put_points(session: Session, cell: Cell, points: Sequence[CellPoint]) -> set[int]:
    """Write these points of a cell; return the series whose point is new or changed."""
    values = {"cell_id": cell.id, "campaign_id": cell.campaign_id} | _columns(points)
    return set(session.scalars(_PUT, values))


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
        "flags": [json.dumps(list(point.flags)) for point in points],
    }


def lock_series(session: Session, series_id: int) -> Series | None:
    """Return the series, kept from others who analyse it or raise its alerts at the same time."""
    return session.scalar(select(Series).where(Series.id == series_id).with_for_update(key_share=True))


def count_points(session: Session, series_id: int, since: datetime | None = None, until: datetime | None = None) -> int:
    """How many points a series has, in the span where one is given."""
    return session.scalars(select(func.count()).where(*_in_span(series_id, since, until))).one()


def write_young(
    session: Session, series_ids: Sequence[int], fewest: int, answered: int, detector: str
) -> list[Row[Any]]:
    """Write of each of these series with fewer than `fewest` points that it is too short; `answered` allow an answer.

    Returns:
        Of each series that is there: id, cluster_id, whether this is its whole analysis (`is_young`; else nothing was
        written), whether it says anything new (`is_news`), and whether none of its cluster and workload was analysed
        before (`is_first`).
    """
    values = {"series_ids": list(series_ids), "fewest": fewest, "answered": answered, "detector": detector}
    return list(session.execute(_YOUNG, values))


def change_points(session: Session, series_id: int) -> Sequence[ChangePoint]:
    """All changes of a series that an analysis ever found, in time order."""
    statement = select(ChangePoint).where(ChangePoint.series_id == series_id).order_by(ChangePoint.at, ChangePoint.id)
    return session.scalars(statement).all()


def told_changes(session: Session, series_id: int) -> Sequence[ChangePoint]:
    """Those that the last analysis found, in time order."""
    return [row for row in change_points(session, series_id) if row.gone_at is None]


def changes_page(
    session: Session, visible: frozenset[int] | None, wanted: ChangeFilter, paging: PageRequest
) -> Slice[ChangePoint]:
    """Changes that are still found, the newest found first, without those that only took listed ones back."""
    told = [ChangePoint.gone_at.is_(None), has_own_line()]
    told += in_clusters(Series.cluster_id, visible, wanted.cluster_id)
    if not wanted.with_unconfirmed:
        told.append(ChangePoint.confirmed_at.is_not(None))
    if wanted.workload is not None:
        told.append(Series.workload == wanted.workload)
    if wanted.direction is not None:
        # As `words.direction` has it; what rose from 0 has no ratio.
        is_higher = func.coalesce(ChangePoint.shift_ratio, 1) > 0
        way = "higher" if wanted.direction == "better" else "lower"
        told.append(Series.better != "neither")
        told.append(is_higher == (Series.better == way))
        if wanted.direction == "better":
            told.append(~ChangePoint.is_recovery)
    statement = select(ChangePoint).join(Series, Series.id == ChangePoint.series_id).where(*told)
    return newest_first(session, statement, ChangePoint.id, paging)


def has_own_line() -> ColumnElement[bool]:
    """Return the condition for a line in a list of changes: a recovery is part of the line of what it took back."""
    ended = aliased(ChangePoint)
    takes_back = select(ended.id).where(ended.recovered_by_id == ChangePoint.id).exists()
    return ~(ChangePoint.is_recovery & takes_back)


def newest_points(
    session: Session, series_id: int, limit: int, since: datetime | None = None, until: datetime | None = None
) -> list[Point]:
    """The newest points of a series, in time order; of the span where one is given, its ends included."""
    statement = select(Point).where(*_in_span(series_id, since, until)).order_by(Point.at.desc(), Point.id.desc())
    return list(reversed(session.scalars(statement.limit(limit)).all()))


def newest_times(session: Session, series_id: int, limit: int) -> list[datetime]:
    """When the newest points of a series were measured, in time order."""
    statement = select(Point.at).where(Point.series_id == series_id).order_by(Point.at.desc()).limit(limit)
    return list(reversed(session.scalars(statement).all()))


def _in_span(series_id: int, since: datetime | None, until: datetime | None) -> list[ColumnElement[bool]]:
    conditions = [Point.series_id == series_id]
    if since is not None:
        conditions.append(Point.at >= since)
    if until is not None:
        conditions.append(Point.at <= until)
    return conditions


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


_MOST_DAYS: Final = 21  # with points, the newest: 20 gaps
_MOST_POINTS: Final = 500

_PUT_USUAL_GAPS: Final = text(
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
    values = {"series_ids": list(series_ids), "fewest": FEWEST_GAPS, "points": _MOST_POINTS, "days": _MOST_DAYS}
    session.execute(_PUT_USUAL_GAPS, values)
