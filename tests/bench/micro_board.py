"""Requests of the overview and of Trends among a million points: 200 series of 5,000, one an hour, on four clusters."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, Final

from micro_searches import READER
from private_database import executed, migrated_database, vacuum
from sqlalchemy import text

from iotide_server.kit.db import Database
from iotide_server.overview import metric_states, service
from iotide_server.overview.metric_states import MetricChoice
from iotide_server.overview.throughput import ThroughputChoice, throughput

NOW: Final = datetime(2026, 11, 21, 10, tzinfo=UTC)
ROUNDS: Final = 9
MOST_MS: Final = 500.0

# A twentieth of the series fell by 20 % a month ago.
_SITE: Final = (
    "INSERT INTO cluster (name) SELECT 'c' || i FROM generate_series(1, 4) AS i",
    """INSERT INTO node (cluster_id, name, role, token_sha256, redis_password_sha256)
       SELECT 1 + i % 4, 'n' || i, 'compute', 'token' || i, '' FROM generate_series(1, 40) AS i""",
    """INSERT INTO target (cluster_id, name, path, scope)
       SELECT 1 + i % 4, 't' || i, '/t' || i, 'shared' FROM generate_series(1, 40) AS i""",
    """INSERT INTO target_mount (target_id, node_id, path, fstype, source, mount_options, seen_at)
       SELECT id, id, path, CASE WHEN id % 3 = 0 THEN 'nfs4' ELSE 'xfs' END, '/dev/sda', 'rw', :now FROM target""",
    """INSERT INTO workload (name, revision, schema_sha256, title, description, options_schema, option_defaults,
                             metrics, bytes_needed, bytes_moved, breaks_series, tool)
       SELECT name, 1, '', name, '', '{}', '{}', '[]', '{}', '{}', false, name
       FROM unnest(ARRAY['dd', 'fio']) AS name""",
    """INSERT INTO campaign (cluster_id, name, plan, request_sha256, created_at)
       SELECT i, 'hourly', '{}', '', CAST(:now AS timestamptz) - :points * interval '1 h'
       FROM generate_series(1, 4) AS i""",
    """INSERT INTO cell (campaign_id, ordinal, workload_id, options, options_sha256, bytes_needed, bytes_moved)
       SELECT campaign.id, i, 1, '{}', '', 0, 0 FROM campaign, generate_series(1, :points) AS i ORDER BY 1, 2""",
    """INSERT INTO series (key_sha256, cluster_id, node_ids, target_ids, workload, series_revision, options,
                           options_sha256, metric, title, unit, better, labels)
       SELECT i::text, 1 + i % 4, ARRAY[1 + i % 40], ARRAY[1 + i % 40], CASE WHEN i % 20 < 10 THEN 'dd' ELSE 'fio' END,
              1, '{}', i::text, 'throughput', 'Throughput', 'bytes_per_second', 'higher',
              jsonb_build_object('operation', CASE WHEN i % 8 < 4 THEN 'read' ELSE 'write' END, 'file_size_bytes', i)
       FROM generate_series(1, :series) AS i""",
    """INSERT INTO point (series_id, cell_id, campaign_id, at, median, low, high, run_count)
       SELECT series.id, cell.id, cell.campaign_id,
              CAST(:now AS timestamptz) - (:points - cell.ordinal + 1) * interval '1 h', value, value, value, 4
       FROM series JOIN campaign ON campaign.cluster_id = series.cluster_id JOIN cell ON cell.campaign_id = campaign.id,
            LATERAL (SELECT 1e9 * (1 + series.id % 7) * (1 + 0.01 * sin(cell.ordinal * series.id))
                     * CASE WHEN series.id % 20 = 0 AND cell.ordinal > :points - 720 THEN 0.8 ELSE 1 END AS value
            ) AS made
       ORDER BY cell.ordinal, series.id""",
    """INSERT INTO series_course (series_id, course, point_count, missing_points, memory, usual_gap_seconds, detector,
                                  analysed_at)
       SELECT id, CASE WHEN id % 20 = 0 THEN 'changed' ELSE 'steady' END, 2000, 0, 0, 86400, '', :now FROM series""",
    """INSERT INTO change_point (series_id, at, previous_at, cell_id, points_before, points_after, median_before,
                                 median_after, shift_ratio, p_value, found_at, found_points, confirmed_at, detector)
       SELECT series.id, point.at, point.at - interval '1 h', point.cell_id, 1000, 720, 1e9 * (1 + series.id % 7),
              0.8e9 * (1 + series.id % 7), -0.2, 1e-9, point.at, 2000, point.at, ''
       FROM series JOIN LATERAL (SELECT at, cell_id FROM point WHERE series_id = series.id ORDER BY at DESC
                                 OFFSET 719 LIMIT 1) AS point ON true
       WHERE series.id % 20 = 0""",
)


def board(series: int = 200, points: int = 5000, *, explain: bool = False) -> bool:
    """Time the requests of the overview and of Trends. `--explain` shows how PostgreSQL executes their statements."""
    with migrated_database() as database:
        with database.transaction() as session:
            for statement in _SITE:
                known = {"now": NOW, "series": series, "points": points}
                session.execute(text(statement), {name: known[name] for name in known if f":{name}" in statement})
        vacuum(database)
        figures = {name: _measure(database, name, ask, explains=explain) for name, ask in _requests().items()}
    print(f"board: series={series} points={points} " + " ".join(f"{name}_ms={ms:.0f}" for name, ms in figures.items()))
    return max(figures.values()) <= MOST_MS


def _requests() -> Mapping[str, Callable[[Any], object]]:
    a_metric = MetricChoice(workload="dd", metric="throughput")
    return {
        "overview": lambda session: service.board(session, READER, NOW - timedelta(days=90), NOW),
        "overview_of_a_year": lambda session: service.board(session, READER, NOW - timedelta(days=365), NOW),
        "throughput": lambda session: throughput(session, READER, ThroughputChoice(), NOW),
        "throughput_of_a_year": lambda session: throughput(session, READER, ThroughputChoice(days=365), NOW),
        "worst_trends": lambda session: metric_states.metric_board(session, READER, MetricChoice(), NOW),
        "trends": lambda session: metric_states.metric_board(session, READER, a_metric, NOW),
    }


def _measure(database: Database, name: str, ask: Callable[[Any], object], *, explains: bool) -> float:
    """Print the median and the rows that PostgreSQL reads; return the median in milliseconds."""
    seconds: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        with database.transaction() as session:
            ask(session)
        seconds.append(time.perf_counter() - began)
    plans = _plans(database, ask)
    rows = [_rows_read(plan["Plan"]) for _, plan in plans]
    print(f"{name:24} {1000 * median(seconds):7.1f} ms, {len(plans)} statements, {sum(rows):,} rows read")
    if explains:
        for (statement, plan), own in sorted(
            zip(plans, rows, strict=True), key=lambda one: -one[0][1]["Execution Time"]
        ):
            print(f"    {plan['Execution Time']:7.1f} ms {own:9,} rows: {' '.join(statement.split())[:110]}")
    return 1000 * median(seconds)


def _plans(database: Database, ask: Callable[[Any], object]) -> list[tuple[str, Any]]:
    """Return each statement of a request with PostgreSQL's plan, executed."""
    with database.transaction() as session:
        done = executed(database, lambda: ask(session))
    with database.engine.connect() as connection:
        plans = [
            connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()[0]
            for statement, parameters in done
        ]
    return [(statement, plan) for (statement, _), plan in zip(done, plans, strict=True)]


def _rows_read(plan: Mapping[str, Any]) -> int:
    """Return the rows that the scans below found or filtered out."""
    own = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) if "Relation Name" in plan else 0
    return round(own * plan["Actual Loops"]) + sum(_rows_read(part) for part in plan.get("Plans", ()))
