"""SQL of the table of runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.explorer.cursors import PageEnd
from iotide_server.explorer.schemas import ExplorerFilter, RunSort, SortKey
from iotide_server.kit.db import array_of, containing
from iotide_server.runs.queries import CONDITIONS

AnyRow = Row[Any]
MOST_COUNTED: Final = 100_000
MOST_NAMED: Final = 10_000
"""Matches of a text search that are read as ids; more are resolved in a subquery."""

_MOMENT: Final = "coalesce(run.started_at, run.created_at)"
_KEYS: Final = {
    SortKey.TIME: _MOMENT,
    SortKey.DURATION: "(run.ended_at - run.started_at)",
    SortKey.VALUE: "headline.value",
}
_EXISTING: Final = {
    SortKey.TIME: "true",
    SortKey.DURATION: "run.ended_at IS NOT NULL AND run.started_at IS NOT NULL",
    SortKey.VALUE: "headline.workload = :headlines_of",
}
_OF_WORKLOAD: Final = "run.cell_id IN (SELECT id FROM cell WHERE workload_id = ANY(:workload))"
_CONDITIONS: Final = CONDITIONS | {
    "id": "run.id = ANY(:id)",
    "workload": _OF_WORKLOAD,
    "validity": "run.validity = :validity",
    "flag": "run.flags <> '[]' AND run.flags @> jsonb_build_array(jsonb_build_object('code', CAST(:flag AS text)))",
    "since": f"{_MOMENT} >= :since",
    "until": f"{_MOMENT} <= :until",
}
_NAMED: Final = {
    "named_campaigns": ("SELECT id FROM campaign WHERE name ILIKE :text", "run.campaign_id = ANY(:named_campaigns)"),
    "named_cells": (
        "SELECT cell.id FROM cell JOIN workload ON workload.id = workload_id WHERE variant || ' ' || name ILIKE :text",
        "run.cell_id = ANY(:named_cells)",
    ),
    "named_nodes": (
        "SELECT id FROM node WHERE name ILIKE :text",
        "run.cell_id IN (SELECT cell_id FROM cell_node WHERE node_id = ANY(:named_nodes))",
    ),
    "named_targets": (
        "SELECT id FROM target WHERE name ILIKE :text",
        "run.cell_id IN (SELECT cell_id FROM cell_target WHERE target_id = ANY(:named_targets))",
    ),
}
"""Searched names, and how runs refer to the matches."""
_WORKLOADS: Final = text("SELECT id FROM workload WHERE name = :workload")
_FLAGGED: Final = {"any": "run.flags <> '[]'", "none": "run.flags = '[]'"}

# Independent of the flag: PostgreSQL evaluates it once per run.
_TARGETS_OF_HEADLINE: Final = """ARRAY(
    SELECT DISTINCT sample.target_id::text FROM sample JOIN series AS own ON own.id = sample.series_id
    WHERE sample.run_id = run.id AND own.metric = series.metric
      AND own.labels IN (series.labels, series.labels - 'nodes')
)"""

_DESCRIBED: Final = text(
    f"""
    SELECT run.id, run.campaign_id, campaign.name AS campaign_name, run.cluster_id, cluster.name AS cluster_name,
           run.cell_id, cell.ordinal AS cell_ordinal, run.repeat, workload.name AS workload, cell.variant,
           coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(cell.options)
                     WHERE baseline.option_defaults -> key IS DISTINCT FROM value), '{{}}') AS options,
           ARRAY(SELECT name FROM node JOIN cell_node ON node_id = id WHERE cell_id = cell.id ORDER BY name)
               AS node_names,
           ARRAY(SELECT name FROM target JOIN cell_target ON target_id = id WHERE cell_id = cell.id ORDER BY name)
               AS target_names,
           run.state, run.validity,
           ARRAY(SELECT DISTINCT flag ->> 'code' FROM jsonb_array_elements(run.flags) AS flag ORDER BY 1) AS flags,
           {_MOMENT} AS at, extract(epoch FROM run.ended_at - run.started_at)::float8 AS duration_seconds,
           headline.series_id, headline.value, series.metric, series.title, series.unit, series.better, series.labels,
           ARRAY(
               SELECT DISTINCT flag ->> 'code' FROM jsonb_array_elements(run.flags) AS flag
               WHERE series.labels @> coalesce(flag -> 'labels', '{{}}')
                 AND (flag ->> 'target_id' IS NULL OR flag ->> 'target_id' = ANY({_TARGETS_OF_HEADLINE})) ORDER BY 1
           ) AS headline_flags,
           cell.usual_flags,
           coalesce((SELECT usual_flags FROM point WHERE point.cell_id = run.cell_id AND point.series_id = series.id),
                    '[]') AS usual_headline_flags,
           md5(jsonb_build_array(
               series.workload, series.series_revision, series.options_sha256, series.metric, series.labels,
               cardinality(series.node_ids), cardinality(series.target_ids)
           )::text) AS likeness
    FROM run
    JOIN campaign ON campaign.id = run.campaign_id
    JOIN cluster ON cluster.id = run.cluster_id
    JOIN cell ON cell.id = run.cell_id
    JOIN workload ON workload.id = cell.workload_id
    LEFT JOIN workload_baseline AS baseline ON baseline.name = workload.name || coalesce('@' || workload.cluster_id, '')
    LEFT JOIN run_headline AS headline ON headline.run_id = run.id
    LEFT JOIN series ON series.id = headline.series_id
    WHERE run.id = ANY(:ids)
    """  # noqa: S608 - made of the constant above
)
_SPARKLINES: Final = text(
    """
    SELECT wanted.series_id, array_agg(newest.cell_id ORDER BY newest.at, newest.cell_id) AS cell_ids,
           array_agg(newest.median ORDER BY newest.at, newest.cell_id) AS medians
    FROM unnest(CAST(:series_ids AS bigint[])) AS wanted (series_id)
    JOIN series ON series.id = wanted.series_id
    CROSS JOIN LATERAL (
        SELECT cell_id, at, median FROM point WHERE point.series_id = series.id ORDER BY at DESC LIMIT :points
    ) AS newest
    WHERE CAST(:visible AS bigint[]) IS NULL OR series.cluster_id = ANY(:visible)
    GROUP BY wanted.series_id
    """
)


@dataclass(frozen=True, slots=True)
class RunConditions:
    """SQL conditions on runs with their values.

    Names are resolved to ids first, so that PostgreSQL can estimate the number of cells.
    """

    conditions: Sequence[str]
    values: Mapping[str, Any]


def resolve(session: Session, asked: ExplorerFilter, visible: frozenset[int] | None) -> RunConditions | None:
    """Return the conditions of a filter on visible clusters (None: all), or None if no run can match."""
    given: dict[str, Any] = {"visible": array_of(visible)}
    given |= {name: getattr(asked, name) for name in ExplorerFilter.__dataclass_fields__ if name != "text"}
    values = {name: value for name, value in given.items() if value is not None}
    if "workload" in values:
        values["headlines_of"] = asked.workload
        values["workload"] = list(session.scalars(_WORKLOADS, {"workload": asked.workload}))
        if not values["workload"]:
            return None
    conditions = [_CONDITIONS[name] for name in values if name in _CONDITIONS and name != "flag"]
    if "flag" in values:
        conditions.append(_FLAGGED.get(values["flag"], _CONDITIONS["flag"]))
    if asked.text is not None:
        named, found = _named(session, asked.text)
        if not named:
            return None
        values |= found
        conditions.append(f"({' OR '.join(named)})")
    return RunConditions(conditions, values)


def _named(session: Session, words: str) -> tuple[list[str], dict[str, Any]]:
    """Return alternative conditions on names with these words, and their values."""
    conditions: list[str] = []
    values: dict[str, Any] = {}
    pattern = containing(words)
    for name, (statement, condition) in _NAMED.items():
        some = text(f"{statement} LIMIT :most")
        ids = list(session.scalars(some, {"text": pattern, "most": MOST_NAMED + 1}))
        if len(ids) > MOST_NAMED:
            conditions.append(condition.replace(f":{name}", f"ARRAY({statement})"))
            values["text"] = pattern
        elif ids:
            conditions.append(condition)
            values[name] = ids
    return conditions, values


def places(session: Session, wanted: RunConditions, sort: RunSort, after: PageEnd | None, limit: int) -> list[PageEnd]:
    conditions, values = [*wanted.conditions], dict(wanted.values)
    key = _KEYS[sort.key]
    if sort.key is SortKey.VALUE:
        conditions.remove(_OF_WORKLOAD)
    conditions.append(_EXISTING[sort.key])
    if after is not None:
        conditions.append(f"({key}, run.id) {'<' if sort.is_descending else '>'} (:after_key, :after_id)")
        values |= {"after_key": _bound(sort, after.key), "after_id": after.run_id}
    source = "run_headline AS headline JOIN run ON run.id = headline.run_id" if sort.key is SortKey.VALUE else "run"
    direction = "DESC" if sort.is_descending else "ASC"
    statement = text(
        f"SELECT run.id, {key} AS key FROM {source} WHERE {' AND '.join(conditions)}"  # noqa: S608 - made of constants
        f" ORDER BY {key} {direction}, run.id {direction} LIMIT :limit"
    )
    rows = session.execute(statement, {**values, "limit": limit})
    return [PageEnd(row.key.total_seconds() if isinstance(row.key, timedelta) else row.key, row.id) for row in rows]


def _bound(sort: RunSort, key: datetime | float) -> datetime | timedelta | float:
    return timedelta(seconds=key) if sort.key is SortKey.DURATION and not isinstance(key, datetime) else key


def described(session: Session, run_ids: Sequence[int]) -> list[AnyRow]:
    rows = {row.id: row for row in session.execute(_DESCRIBED, {"ids": list(run_ids)})}
    return [rows[run_id] for run_id in run_ids if run_id in rows]


def count(session: Session, wanted: RunConditions) -> int:
    """Return at most MOST_COUNTED + 1."""
    where = " AND ".join(wanted.conditions) or "true"
    limited = f"SELECT FROM run WHERE {where} LIMIT :limit"
    statement = text(f"SELECT count(*) FROM ({limited}) AS found")  # noqa: S608 - made of constants
    return int(session.execute(statement, {**wanted.values, "limit": MOST_COUNTED + 1}).scalar_one())


def sparklines(
    session: Session, visible: frozenset[int] | None, series_ids: Sequence[int], points: int
) -> Sequence[AnyRow]:
    values = {"series_ids": list(series_ids), "visible": array_of(visible), "points": points}
    return session.execute(_SPARKLINES, values).all()
