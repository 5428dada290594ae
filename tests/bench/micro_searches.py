"""Response times of pages of a hundred: among a million entries of the audit log, and among 100,000 runs."""

import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from private_database import executed, migrated_database, p95_ms, vacuum
from sqlalchemy import text

from iotide_server.accounts.audit import reading as audit_reading
from iotide_server.accounts.audit.schemas import AuditFile, AuditFilter
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.explorer import service
from iotide_server.explorer.schemas import ExplorerFilter, ExplorerPaging, RunSort
from iotide_server.kit.db import Database
from iotide_server.kit.pagination import PageRequest
from iotide_server.runs.lifecycle import RunState

ROUNDS: Final = 12
READER: Final = Principal(PrincipalKind.USER, None, "reader", grants={None: Role.ADMIN})
AUDIT_BEGAN_AT: Final = datetime(2021, 11, 21, 10, tzinfo=UTC)
AUDIT_MOST_P95_MS: Final = 200.0
RUNS_BEGAN_AT: Final = datetime(2024, 11, 21, 10, tzinfo=UTC)
RUNS: Final = 2500 * 8 * 5
RUNS_MOST_P95_MS: Final = 100.0
PAGES: Final = 3

_ENTRIES: Final = """
    INSERT INTO audit_entry (at, principal_kind, principal_id, principal_name, address, action, subject_kind,
                             subject_id, cluster_id, before, after)
    SELECT CAST(:began_at AS timestamptz) + i * interval '158 s',
           CASE WHEN i % 3 = 0 THEN 'token' ELSE 'user' END, person,
           CASE WHEN i % 3 = 0 THEN 'person' || person || ' (token nightly)' ELSE 'person' || person END,
           '10.0.' || i % 16 || '.' || i % 250, kind || (ARRAY['_created', '_changed', '_removed'])[1 + i % 3],
           kind, i % 5000, 1 + i % 10,
           jsonb_build_object('name', 'thing-' || i % 5000, 'path', '/scratch/fs' || i % 700),
           jsonb_build_object('name', 'thing-' || i % 5000, 'path', '/mnt/nfs' || i % 900, 'reserve_bytes', i)
    FROM generate_series(1, :entries) AS i,
         LATERAL (SELECT CASE WHEN i < 200000 AND i % 1000 = 0 THEN 999 ELSE i * 7919 % 200 END AS person) AS who,
         LATERAL (SELECT (ARRAY['target', 'node', 'campaign', 'schedule', 'run'])[1 + i % 5] AS kind) AS what
"""
AUDIT_SEARCHES: Final = {
    "all": AuditFilter(),
    "actor": AuditFilter(actor="person7"),
    "actor of long ago": AuditFilter(actor="person999"),
    "no such actor": AuditFilter(actor="nobody"),
    "action": AuditFilter(action="target_changed"),
    "kind": AuditFilter(subject_kind="schedule"),
    "subject": AuditFilter(subject_kind="target", subject_id=1230),
    "cluster": AuditFilter(cluster_id=4),
    "address": AuditFilter(address="10.0.3.19"),
    "a month of long ago": AuditFilter(
        since=AUDIT_BEGAN_AT + timedelta(days=400), until=AUDIT_BEGAN_AT + timedelta(days=430)
    ),
    "actor in a month": AuditFilter(
        actor="person7", since=AUDIT_BEGAN_AT + timedelta(days=400), until=AUDIT_BEGAN_AT + timedelta(days=430)
    ),
    "word": AuditFilter(text="thing 4711"),
    "word of all": AuditFilter(text="nfs"),
    "word that none has": AuditFilter(text="lustre"),
    "rare word and cluster": AuditFilter(text="nfs77", cluster_id=4),
}
_RUNS: Final = (
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

RUN_SEARCHES: Final[dict[str, tuple[ExplorerFilter, RunSort]]] = {
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
        ExplorerFilter(since=RUNS_BEGAN_AT + timedelta(days=300), until=RUNS_BEGAN_AT + timedelta(days=330)),
        RunSort.NEWEST,
    ),
    "text": (ExplorerFilter(text="nightly-42"), RunSort.NEWEST),
    "text that none has": (ExplorerFilter(text="nowhere"), RunSort.NEWEST),
    "longest": (ExplorerFilter(), RunSort.LONGEST),
    "longest of a target": (ExplorerFilter(target_id=31), RunSort.LONGEST),
    "highest": (ExplorerFilter(workload="fio"), RunSort.HIGHEST),
    "lowest on a node": (ExplorerFilter(workload="dd", node_id=7), RunSort.LOWEST),
}


def audit(entries: int = 1_000_000, *, explain: bool = False) -> bool:
    """Search and export the audit log of five years of 200 users on 10 clusters.

    One of the users was inactive for four of the years. `--explain` shows how PostgreSQL finds each first page.
    """
    with migrated_database() as database:
        began = time.perf_counter()
        with database.transaction() as session:
            session.execute(text(_ENTRIES), {"began_at": AUDIT_BEGAN_AT, "entries": entries})
        vacuum(database)
        print(f"{entries} entries made in {time.perf_counter() - began:.0f} s")
        pages = {name: _audit_pages(database, wanted) for name, wanted in AUDIT_SEARCHES.items()}
        p95 = _search(database, pages, explains=explain)
        lines, seconds, growth_mb = _export(database)
    print(
        f"audit: entries={entries} page_p95_ms={p95:.1f} export_lines={lines} export_seconds={seconds:.1f}"
        f" export_growth_mb={growth_mb:.1f}"
    )
    return p95 <= AUDIT_MOST_P95_MS


def explorer(*, explain: bool = False) -> bool:
    """Search and count 100,000 runs, in every order: 2,500 campaigns of 8 cells, on 20 nodes and 40 targets.

    One of the five workloads has no recent runs, so a list by time has to go far back to reach it. `--explain` shows
    how PostgreSQL finds each first page.
    """
    with migrated_database() as database:
        with database.transaction() as session:
            for statement in _RUNS:
                session.execute(text(statement), {"began_at": RUNS_BEGAN_AT} if ":began_at" in statement else {})
        vacuum(database)
        pages = {name: _run_pages(database, *search) for name, search in RUN_SEARCHES.items()}
        p95 = _search(database, pages, explains=explain)
        counting = [_count(database, wanted) for wanted, _ in RUN_SEARCHES.values()]
    print(f"explorer: runs={RUNS} page_p95_ms={p95:.1f} count_p95_ms={p95_ms(counting):.1f}")
    return p95 <= RUNS_MOST_P95_MS


_Pages: TypeAlias = Callable[[], Iterable[float]]
"""Reads the first pages of a search, one after the other; returns the seconds of each."""


def _search(database: Database, pages: Mapping[str, _Pages], *, explains: bool) -> float:
    """Read all pages many times and print a line for each search; return the 95th percentile of all in milliseconds."""
    everything: list[float] = []
    for name, read in pages.items():
        if explains:
            print(*_plans(database, read), sep="\n")
        seconds = [one for _ in range(ROUNDS) for one in read()]
        everything += seconds
        print(f"{name:24} p95 {p95_ms(seconds):7.1f} ms, most {1000 * max(seconds):7.1f} ms")
    return p95_ms(everything)


def _plans(database: Database, read: _Pages) -> list[str]:
    """Return how PostgreSQL executes the statements of a first page."""
    lines: list[str] = []
    with database.engine.connect() as connection:
        for statement, parameters in executed(database, lambda: next(iter(read()))):
            lines += connection.exec_driver_sql(f"EXPLAIN (ANALYZE, BUFFERS) {statement}", parameters).scalars()
    return lines


def _audit_pages(database: Database, wanted: AuditFilter) -> _Pages:
    def read() -> Iterator[float]:
        began = time.perf_counter()
        with database.transaction() as session:
            audit_reading.page(session, READER, wanted, PageRequest(100, None))
        yield time.perf_counter() - began

    return read


def _run_pages(database: Database, wanted: ExplorerFilter, sort: RunSort) -> _Pages:
    def read() -> Iterator[float]:
        cursor = None
        for _ in range(PAGES):
            began = time.perf_counter()
            with database.transaction() as session:
                page = service.runs_page(session, READER, wanted, ExplorerPaging(sort, 100, cursor))
            yield time.perf_counter() - began
            cursor = page.next_cursor
            if cursor is None:
                return

    return read


def _count(database: Database, wanted: ExplorerFilter) -> float:
    began = time.perf_counter()
    with database.transaction() as session:
        service.count(session, READER, wanted)
    return time.perf_counter() - began


def _export(database: Database) -> tuple[int, float, float]:
    """Return the lines, the seconds and by how many MiB the process grew."""
    began, before = time.perf_counter(), _most_mb()
    pieces = audit_reading.written(database, None, AUDIT_SEARCHES["cluster"], AuditFile.JSON_LINES)
    lines = sum(piece.count("\n") for piece in pieces)
    return lines, time.perf_counter() - began, _most_mb() - before


def _most_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
