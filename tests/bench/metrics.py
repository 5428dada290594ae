"""What a scrape costs the database while 100,000 runs wait, and whether a long history makes it dearer.

The rows are on a private PostgreSQL: 100,000 waiting runs and 10,000 nodes that beat, then the same beside 400,000 runs
that have ended. Each scrape is one that the seconds of grace (`FRESH_FOR`) did not spare.
"""

import time
from datetime import timedelta
from statistics import median
from typing import Final

from local_stack import free_port
from redis import Redis
from services import FORGETFUL, running, temporary_state
from sqlalchemy import text
from sqlalchemy.engine import Engine

from iotide_server.bundled.postgres import prepare_postgres
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.monitoring.site import FRESH_FOR, SiteMetrics, site_metrics

ROUNDS: Final = 15
MOST_MEDIAN_MS: Final = 250.0
WAITING: Final = 100_000
ENDED: Final = 400_000
_ROWS: Final = (
    "INSERT INTO cluster (name) SELECT 'c' || i FROM generate_series(1, 10) AS i",
    """INSERT INTO node (cluster_id, name, role, token_sha256, redis_password_sha256, agent_version)
       SELECT 1 + i % 10, 'n' || i, 'compute', 'token' || i, '', '1' FROM generate_series(1, 10000) AS i""",
    "INSERT INTO node_beat (node_id, seen_at, spool_bytes) SELECT id, now(), 4096 FROM node",
    """INSERT INTO workload (name, revision, schema_sha256, title, description, options_schema, option_defaults,
                             metrics, bytes_needed, bytes_moved, breaks_series, tool)
       VALUES ('dd', 1, '', 'dd', '', '{}', '{}', '[]', '{}', '{}', false, 'dd')""",
    """INSERT INTO campaign (cluster_id, name, plan, request_sha256)
       SELECT 1 + i % 10, 'c' || i, '{}', '' FROM generate_series(1, 500) AS i""",
    """INSERT INTO cell (campaign_id, ordinal, workload_id, options, options_sha256, bytes_needed, bytes_moved)
       SELECT id, 1, 1, '{}', '', 0, 0 FROM campaign""",
)
_RUNS: Final = """
    INSERT INTO run (campaign_id, cell_id, cluster_id, repeat, state, exclusive, sort_key, time_limit_seconds,
                     attempts_allowed)
    SELECT campaign.id, cell.id, campaign.cluster_id, i, :state, 'node', 0, 60, 1
    FROM campaign JOIN cell ON cell.campaign_id = campaign.id
    CROSS JOIN generate_series(CAST(:first AS int), CAST(:last AS int)) AS i
"""


def add_runs(engine: Engine, state: str, first: int, number: int) -> None:
    """So many runs in that state, over all campaigns."""
    with engine.begin() as connection:
        last = first + number // 500 - 1
        connection.execute(text(_RUNS), {"state": state, "first": first, "last": last})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def median_ms(engine: Engine) -> float:
    """Of scrapes, each of which asks the database."""
    moment = [system_clock()]
    redis = Redis(port=free_port())
    metrics = SiteMetrics(Database(engine), redis, lambda: moment[0], site_metrics)
    took = []
    for _ in range(ROUNDS):
        moment[0] += FRESH_FOR + timedelta(seconds=1)
        began_at = time.perf_counter()
        list(metrics.collect())
        took.append(1000 * (time.perf_counter() - began_at))
    return median(took)


def main() -> None:
    """Print both, and fail where the first is too dear or the second much dearer."""
    with temporary_state() as state:
        postgres = prepare_postgres(state, parameters=FORGETFUL)
        with running(postgres.part(), state):
            postgres.create_owner()
            engine = open_engine(postgres.url)
            migrate(engine)
            with engine.begin() as connection:
                for rows in _ROWS:
                    connection.execute(text(rows))
            add_runs(engine, "waiting", 1, WAITING)
            alone = median_ms(engine)
            add_runs(engine, "finished", 1000, ENDED)
            beside = median_ms(engine)
            engine.dispose()
    print(f"metrics: waiting={WAITING} median_ms={alone:.0f} ended={ENDED} median_beside_ms={beside:.0f}")
    if alone > MOST_MEDIAN_MS or beside > 2 * alone + 20:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
