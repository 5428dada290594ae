"""SQL of the search by name. Each kind is one query with a bounded answer."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.kit.db import array_of, containing

AnyRow = Row[Any]
SERIES_READ: Final = 20_000
"""The newest series that are searched. Their words are in no index."""
_SERIES_RANKED: Final = 200

_VISIBLE: Final = "(CAST(:visible AS bigint[]) IS NULL OR cluster.id = ANY(:visible))"
_BEST_FIRST: Final = "lower(found.name) <> lower(:words), NOT starts_with(lower(found.name), lower(:words))"
_NAMED: Final = {
    "cluster": "SELECT id, name, id AS cluster_id FROM cluster",
    "node": "SELECT id, name, cluster_id FROM node WHERE retired_at IS NULL",
    "target": "SELECT id, name, cluster_id FROM target WHERE retired_at IS NULL",
    "campaign": "SELECT id, name, cluster_id FROM campaign",
    "schedule": "SELECT id, name, cluster_id FROM schedule WHERE removed_at IS NULL",
}
_STATEMENTS: Final = {
    kind: text(
        f"SELECT '{kind}' AS kind, found.id, found.name, found.cluster_id, cluster.name AS cluster_name"  # noqa: S608 - made of constants
        f" FROM ({source}) AS found JOIN cluster ON cluster.id = found.cluster_id"
        f" WHERE found.name ILIKE :pattern AND {_VISIBLE}"
        f" ORDER BY {_BEST_FIRST}, {'found.id DESC' if kind == 'campaign' else 'lower(found.name), found.id'}"
        " LIMIT :limit"
    )
    for kind, source in _NAMED.items()
}
# Every word is in the workload, the metric, a label, or the name of a target or of the cluster. Series of headlines
# come first.
_SERIES: Final = text(
    f"""
    SELECT ranked.* FROM (
        SELECT 'series' AS kind, series.id, series.title AS name, series.cluster_id, cluster.name AS cluster_name,
               series.workload, series.metric, series.labels,
               ARRAY(SELECT name FROM target WHERE id = ANY(series.target_ids) ORDER BY name) AS target_names
        FROM (SELECT * FROM series WHERE superseded = '' ORDER BY id DESC LIMIT :series) AS series
        JOIN cluster ON cluster.id = series.cluster_id
        WHERE {_VISIBLE} AND NOT EXISTS (
            SELECT FROM unnest(CAST(:patterns AS text[])) AS word (pattern)
            WHERE NOT (
                concat_ws(' ', cluster.name, series.workload, series.title, series.labels::text) ILIKE word.pattern
                OR series.target_ids && ARRAY(SELECT target.id FROM target WHERE target.name ILIKE word.pattern)
            )
        )
        ORDER BY series.id DESC LIMIT :ranked
    ) AS ranked
    ORDER BY NOT EXISTS (SELECT FROM run_headline WHERE series_id = ranked.id), ranked.id DESC LIMIT :limit
    """  # noqa: S608 - made of the constant above
)


def named(session: Session, visible: frozenset[int] | None, words: str, limit: int) -> list[AnyRow]:
    """Return clusters, nodes, targets, campaigns and schedules with these words in their name, best match first."""
    values = {"words": words, "pattern": containing(words), "visible": array_of(visible), "limit": limit}
    return [row for statement in _STATEMENTS.values() for row in session.execute(statement, values)]


def series(session: Session, visible: frozenset[int] | None, words: Sequence[str], limit: int) -> Sequence[AnyRow]:
    values = {"patterns": [containing(word) for word in words], "visible": array_of(visible), "limit": limit}
    return session.execute(_SERIES, values | {"series": SERIES_READ, "ranked": _SERIES_RANKED}).all()
