"""How quick the audit is searched: pages of a hundred among a million entries, by every filter; and an export.

The entries are rows on a private PostgreSQL: five years of 200 people on 10 clusters, one of whom has done nothing for
four of them, with what was before and after. `--explain` shows how PostgreSQL finds each first page.
"""

import argparse
import resource
import sys
import time
from datetime import UTC, datetime, timedelta
from statistics import quantiles
from typing import Final

from services import running, temporary_state
from sqlalchemy import text

from iotide_server.accounts.audit import queries as audit_queries
from iotide_server.accounts.audit import reading as audit_reading
from iotide_server.accounts.audit.schemas import AuditFile, AuditFilter
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.bundled.postgres import prepare_postgres
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.kit.pagination import PageRequest

ENTRIES: Final = 1_000_000
BEGAN_AT: Final = datetime(2021, 11, 21, 10, tzinfo=UTC)
ROUNDS: Final = 12
MOST_P95_MS: Final = 200.0
READER: Final = Principal(PrincipalKind.USER, None, "reader", grants={None: Role.ADMIN})

_ROWS: Final = """
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
SEARCHES: Final = {
    "all": AuditFilter(),
    "actor": AuditFilter(actor="person7"),
    "actor of long ago": AuditFilter(actor="person999"),
    "no such actor": AuditFilter(actor="nobody"),
    "action": AuditFilter(action="target_changed"),
    "kind": AuditFilter(subject_kind="schedule"),
    "subject": AuditFilter(subject_kind="target", subject_id=1230),
    "cluster": AuditFilter(cluster_id=4),
    "address": AuditFilter(address="10.0.3.19"),
    "a month of long ago": AuditFilter(since=BEGAN_AT + timedelta(days=400), until=BEGAN_AT + timedelta(days=430)),
    "actor in a month": AuditFilter(
        actor="person7", since=BEGAN_AT + timedelta(days=400), until=BEGAN_AT + timedelta(days=430)
    ),
    "word": AuditFilter(text="thing 4711"),
    "word of all": AuditFilter(text="nfs"),
    "word that none has": AuditFilter(text="lustre"),
    "rare word and cluster": AuditFilter(text="nfs77", cluster_id=4),
}


def main() -> int:
    """Run the bench; 1 where the limit is passed."""
    parser = argparse.ArgumentParser(prog="./dev bench audit", description=__doc__)
    parser.add_argument("--explain", action="store_true", help="show how PostgreSQL finds each first page")
    parser.add_argument("--entries", type=int, default=ENTRIES, help="another number of entries")
    asked = parser.parse_args()
    with temporary_state() as state:
        postgres = prepare_postgres(state)
        with running(postgres.part(), state):
            postgres.create_owner()
            postgres.create_database("audit")
            engine = open_engine(postgres.url_of("audit"))
            migrate(engine)
            is_quick = measure(Database(engine), asked.entries, explains=asked.explain)
            engine.dispose()
    return 0 if is_quick else 1


def measure(database: Database, entries: int, *, explains: bool) -> bool:
    """Make the entries, then search and export them; whether nearly all pages come in time."""
    began = time.perf_counter()
    with database.transaction() as session:
        session.execute(text(_ROWS), {"began_at": BEGAN_AT, "entries": entries})
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE audit_entry"))
    print(f"{entries} entries made in {time.perf_counter() - began:.0f} s")
    everything: list[float] = []
    for name, wanted in SEARCHES.items():
        if explains:
            print(*plan_of(database, wanted), sep="\n")
        seconds = [_page_seconds(database, wanted) for _ in range(ROUNDS)]
        everything += seconds
        print(f"{name:24} p95 {_p95_ms(seconds):7.1f} ms, most {1000 * max(seconds):7.1f} ms")
    p95 = _p95_ms(everything)
    lines, seconds_of_export, growth_mb = _export(database)
    print(
        f"audit: entries={entries} page_p95_ms={p95:.1f} export_lines={lines} export_seconds={seconds_of_export:.1f}"
        f" export_growth_mb={growth_mb:.1f}"
    )
    return p95 <= MOST_P95_MS


def plan_of(database: Database, wanted: AuditFilter) -> list[str]:
    """How PostgreSQL finds the first page."""
    statement = audit_queries.entries(None, wanted, None).limit(101)
    compiled = statement.compile(database.engine, compile_kwargs={"literal_binds": True})
    with database.transaction() as session:
        return list(session.scalars(text(f"EXPLAIN ANALYZE {compiled}".replace(":", r"\:"))))


def _page_seconds(database: Database, wanted: AuditFilter) -> float:
    began = time.perf_counter()
    with database.transaction() as session:
        audit_reading.page(session, READER, wanted, PageRequest(100, None))
    return time.perf_counter() - began


def _export(database: Database) -> tuple[int, float, float]:
    """The lines, the seconds and by how much the process grew."""
    began, before = time.perf_counter(), _most_mb()
    pieces = audit_reading.written(database, None, SEARCHES["cluster"], AuditFile.JSON_LINES)
    lines = sum(piece.count("\n") for piece in pieces)
    return lines, time.perf_counter() - began, _most_mb() - before


def _most_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _p95_ms(seconds: list[float]) -> float:
    return 1000 * quantiles(seconds, n=20)[-1]


if __name__ == "__main__":
    sys.exit(main())
