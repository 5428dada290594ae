"""How quick the table of runs is: pages of a hundred among 100,000 runs, by every filter and in every order.

The runs are rows on a private PostgreSQL: 2,500 campaigns of 8 cells with 5 repeats, on 20 nodes and 40 targets, by
five workloads, one of which nobody has run for long, so that a list by time has far to go to it. `--explain` shows the
plans.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from statistics import quantiles
from typing import Any, Final

from services import running, temporary_state
from sqlalchemy import event, text
from sqlalchemy.engine import Connection

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.bundled.postgres import prepare_postgres
from iotide_server.explorer import service
from iotide_server.explorer.schemas import ExplorerFilter, ExplorerPaging, RunSort
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.runs.lifecycle import RunState

BEGAN_AT: Final = datetime(2024, 11, 21, 10, tzinfo=UTC)
RUNS: Final = 2500 * 8 * 5
ROUNDS: Final = 12
PAGES: Final = 3
MOST_P95_MS: Final = 100.0
READER: Final = Principal(PrincipalKind.USER, None, "reader", grants={None: Role.VIEWER})

_ROWS: Final = (
    "INSERT INTO cluster (name) SELECT 'c' || i FROM generate_series(1, 4) AS i",
    """INSERT INTO node (cluster_id, name, role, token_sha256, redis_password_sha256)
       SELECT 1 + i % 4, 'n' || i, 'compute', 'token' || i, '' FROM generate_series(1, 20) AS i""",
    """INSERT INTO target (cluster_id, name, path, scope)
       SELECT 1 + i % 4, 't' || i, '/t' || i, 'shared' FROM generate_series(1, 40) AS i""",
    """INSERT INTO workload (name, revision, schema_sha256, title, description, options_schema, option_defaults,
                             metrics, bytes_needed, bytes_moved, breaks_series, tool)
       SELECT name, 1, '', name, '', '{}', '{}', '[]', '{}', '{}', false, name
       FROM unnest(ARRAY['dd', 'fio', 'iozone', 'create', 'bonnie']) AS name""",
    """INSERT INTO workload_baseline (name, option_defaults) SELECT name, '{}' FROM workload""",
    """INSERT INTO campaign (cluster_id, name, plan, request_sha256, created_at)
       SELECT 1 + i % 4, 'nightly-' || i % 90, '{}', '', CAST(:began_at AS timestamptz) + i * interval '7 h'
       FROM generate_series(1, 2500) AS i""",
    # The last workload stops early in the history.
    """INSERT INTO cell (campaign_id, ordinal, workload_id, options, options_sha256, bytes_needed, bytes_moved)
       SELECT campaign.id, i, CASE WHEN campaign.id < 60 AND i = 1 THEN 5 ELSE 1 + (campaign.id + i) % 4 END,
              jsonb_build_object('file_size_bytes', i), i::text, 0, 0
       FROM campaign, generate_series(1, 8) AS i ORDER BY 1, 2""",
    "INSERT INTO cell_node (cell_id, node_id) SELECT id, 1 + id % 20 FROM cell",
    "INSERT INTO cell_target (cell_id, target_id) SELECT id, 1 + id % 40 FROM cell",
    """INSERT INTO run (campaign_id, cell_id, cluster_id, repeat, state, validity, flags, exclusive, sort_key,
                        time_limit_seconds, attempts_allowed, created_at, started_at, ended_at)
       SELECT campaign.id, cell.id, campaign.cluster_id, i,
              CASE WHEN (cell.id + i) % 500 = 0 THEN 'failed' ELSE 'finished' END,
              CASE WHEN (cell.id + i) % 200 = 0 THEN 'rejected' ELSE 'valid' END,
              CASE WHEN (cell.id + i) % 30 = 0
                   THEN '[{"code": "CACHE_SIZE", "effect": "marked", "measured": "", "limit": ""}]'
                   ELSE '[]' END::jsonb,
              'node', 0, 60, 2, campaign.created_at, moment,
              moment + (10 + (cell.id * 7919 + i) % 3000) * interval '1 s'
       FROM cell JOIN campaign ON campaign.id = campaign_id, generate_series(1, 5) AS i,
            LATERAL (SELECT campaign.created_at + (cell.ordinal * 5 + i) * interval '1 min' AS moment) AS started
       ORDER BY 2, 4""",
    """INSERT INTO series (key_sha256, cluster_id, node_ids, target_ids, workload, series_revision, options,
                           options_sha256, metric, title, unit, better, labels)
       SELECT i::text, 1, '{1}', '{1}', workload.name, 1, '{}', i::text, 'throughput', 'Throughput', 'bytes_per_second',
              'higher', '{}'
       FROM workload, generate_series(1, 80) AS n, LATERAL (SELECT workload.id * 1000 + n AS i) AS numbered""",
    """INSERT INTO run_headline (run_id, workload, series_id, value)
       SELECT run.id, workload.name,
              (SELECT min(id) FROM series WHERE series.workload = workload.name) + run.cell_id % 80,
              1e8 + (run.id * 104729 % 1000003) * 100
       FROM run JOIN cell ON cell.id = cell_id JOIN workload ON workload.id = workload_id WHERE state = 'finished'""",
)

SEARCHES: Final[dict[str, tuple[ExplorerFilter, RunSort]]] = {
    "all": (ExplorerFilter(), RunSort.NEWEST),
    "all, oldest": (ExplorerFilter(), RunSort.OLDEST),
    "cluster": (ExplorerFilter(cluster_id=2), RunSort.NEWEST),
    "campaign": (ExplorerFilter(campaign_id=77), RunSort.NEWEST),
    "node": (ExplorerFilter(node_id=7), RunSort.NEWEST),
    "target": (ExplorerFilter(target_id=31), RunSort.NEWEST),
    "workload": (ExplorerFilter(workload="fio"), RunSort.NEWEST),
    "workload of long ago": (ExplorerFilter(workload="bonnie"), RunSort.NEWEST),
    "no such workload": (ExplorerFilter(workload="none"), RunSort.NEWEST),
    "failed": (ExplorerFilter(state=RunState.FAILED), RunSort.NEWEST),
    "rejected": (ExplorerFilter(validity="rejected"), RunSort.NEWEST),
    "flag": (ExplorerFilter(flag="CACHE_SIZE"), RunSort.NEWEST),
    "flag that none has": (ExplorerFilter(flag="ERRORS"), RunSort.NEWEST),
    "a month": (
        ExplorerFilter(since=BEGAN_AT + timedelta(days=300), until=BEGAN_AT + timedelta(days=330)),
        RunSort.NEWEST,
    ),
    "text": (ExplorerFilter(text="nightly-42"), RunSort.NEWEST),
    "text that none has": (ExplorerFilter(text="nowhere"), RunSort.NEWEST),
    "longest": (ExplorerFilter(), RunSort.LONGEST),
    "longest of a target": (ExplorerFilter(target_id=31), RunSort.LONGEST),
    "highest": (ExplorerFilter(workload="fio"), RunSort.HIGHEST),
    "lowest on a node": (ExplorerFilter(workload="dd", node_id=7), RunSort.LOWEST),
}


def main() -> int:
    """Run the bench; 1 where the limit is passed."""
    parser = argparse.ArgumentParser(prog="./dev bench explorer", description=__doc__)
    parser.add_argument("--explain", action="store_true", help="show how PostgreSQL finds each first page")
    asked = parser.parse_args()
    with temporary_state() as state:
        postgres = prepare_postgres(state)
        with running(postgres.part(), state):
            postgres.create_owner()
            postgres.create_database("explorer")
            engine = open_engine(postgres.url_of("explorer"))
            migrate(engine)
            is_quick = measure(Database(engine), explains=asked.explain)
            engine.dispose()
    return 0 if is_quick else 1


def measure(database: Database, *, explains: bool) -> bool:
    """Make the runs, then search them; whether nearly all pages come in time."""
    with database.transaction() as session:
        for statement in _ROWS:
            session.execute(text(statement), {"began_at": BEGAN_AT} if ":began_at" in statement else {})
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))
    everything: list[float] = []
    for name, (wanted, sort) in SEARCHES.items():
        if explains:
            print(*_plans(database, wanted, sort), sep="\n")
        seconds = [one for _ in range(ROUNDS) for one in _pages(database, wanted, sort)]
        everything += seconds
        print(f"{name:24} p95 {p95_ms(seconds):6.1f} ms, most {1000 * max(seconds):6.1f} ms")
    counting = [_count(database, wanted) for wanted, _ in SEARCHES.values()]
    p95 = p95_ms(everything)
    print(f"explorer: runs={RUNS} page_p95_ms={p95:.1f} count_p95_ms={p95_ms(counting):.1f}")
    return p95 <= MOST_P95_MS


def p95_ms(seconds: list[float]) -> float:
    """So long take all but a twentieth of them."""
    return 1000 * quantiles(seconds, n=20)[-1]


def _pages(database: Database, wanted: ExplorerFilter, sort: RunSort) -> Iterator[float]:
    cursor = None
    for _ in range(PAGES):
        began = time.perf_counter()
        with database.transaction() as session:
            page = service.runs_page(session, READER, wanted, ExplorerPaging(sort, 100, cursor))
        yield time.perf_counter() - began
        cursor = page.next_cursor
        if cursor is None:
            return


def _count(database: Database, wanted: ExplorerFilter) -> float:
    began = time.perf_counter()
    with database.transaction() as session:
        service.count(session, READER, wanted)
    return time.perf_counter() - began


def _plans(database: Database, wanted: ExplorerFilter, sort: RunSort) -> list[str]:
    """How the statements of a first page are done."""
    done: list[tuple[str, Any]] = []

    def note(_connection: Connection, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        done.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    next(_pages(database, wanted, sort))
    event.remove(database.engine, "before_cursor_execute", note)
    lines: list[str] = []
    with database.engine.connect() as connection:
        for statement, parameters in done:
            lines += connection.exec_driver_sql(f"EXPLAIN (ANALYZE, BUFFERS) {statement}", parameters).scalars()
    return lines


if __name__ == "__main__":
    sys.exit(main())
