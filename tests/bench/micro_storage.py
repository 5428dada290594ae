"""Cost of storage: the sample data, the curves of a long run of many nodes, and a scrape while many runs wait."""

import random
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from statistics import median
from typing import Final

from bring_up import free_port
from factories.known_truth import score
from factories.measured import Measured
from factories.shown_flags import shown_flags
from private_database import migrated_database, vacuum
from redis import Redis
from rich.console import Console
from rich.progress import track
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_agent.orders.progress import PIECE_ENDS, STEP_SECONDS
from iotide_server.clusters.models import Node
from iotide_server.demo_history.forgetting import forget_history
from iotide_server.demo_history.loading import DAYS, HistoryPlan, load_history
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Database
from iotide_server.monitoring.site import FRESH_FOR, SiteMetrics, site_metrics
from iotide_server.results import reading
from iotide_server.results.ingest import service as results
from iotide_server.runs.models import Attempt, Order, Run
from iotide_wire.messages import CurvePiece

BEGAN_AT: Final = datetime(2026, 11, 21, 10, tzinfo=UTC)
READS: Final = 9
MAX_POINTS: Final = 600
MOST_SHOWN_FLAGS: Final = 0.2
_SIZE: Final = text("SELECT pg_total_relation_size('curve_chunk')")
_ROWS: Final = text("SELECT count(*) FROM curve_chunk")

SCRAPES: Final = 15
MOST_MEDIAN_MS: Final = 250.0
WAITING: Final = 100_000
ENDED: Final = 400_000
_NODES: Final = (
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


def history(days: int = DAYS, seed: int = 1) -> bool:
    """Load the sample data as the command does, count its known changes that are found, and remove it again.

    More than one missed change in ten exceeds the limit, as do 0.2 flags of rank 1 and 2 shown on the median run.
    """
    plan = HistoryPlan(seed, days)
    with migrated_database() as database:
        began = time.perf_counter()
        loaded = load_history(database, plan, system_clock)
        seconds = time.perf_counter() - began
        with database.transaction() as session:
            runs, samples, points, events = (
                session.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()  # noqa: S608 - one of these words
                for table in ("run", "sample", "point", "event")
            )
            judged = score(session, plan.sites, loaded.began_at, plan.days)
            shown_median, shown_mean = shown_flags(session)
        for known in judged.missed:
            print(f"missed: {known}")
        for change in judged.unknown:
            print(f"did not happen: {' '.join(change.key)} {change.at:%Y-%m-%d} x{change.ratio:.3f}")
        print(f"{loaded.series_count} series with {points} points, {samples} samples, {events} events")
        began = time.perf_counter()
        forget_history(database, system_clock())
        forget_seconds = time.perf_counter() - began
    known_count = len(judged.found) + len(judged.missed)
    print(
        f"history: seconds={seconds:.0f} analysis_seconds={loaded.analysis_seconds:.1f} runs={runs} points={points}"
        f" found={len(judged.found)}/{known_count} unknown={len(judged.unknown)}"
        f" shown_flags_median={shown_median:g} shown_flags_mean={shown_mean:.2f} forget_seconds={forget_seconds:.1f}"
    )
    return len(judged.missed) <= known_count / 10 and shown_median <= MOST_SHOWN_FLAGS


def ingest(nodes: int = 16, hours: float = 10.0, counters: int = 40) -> bool:
    """Store the curves of a long run of many nodes, and read some of them.

    Each node's curves come as its agent sends them, in heartbeats that end where the agent's pieces end, one
    transaction each, through the function that handles real heartbeats.
    """
    names = [f"counter{number}_per_second" for number in range(counters)]
    rows = round(hours * 3600 / STEP_SECONDS)
    heartbeats = list(heartbeat_bounds(rows))
    seconds = 0.0
    with migrated_database() as database:
        with database.transaction() as session:
            run_id, orders = make_orders(session, nodes)
        for begin, end in track(heartbeats, "storing heartbeats", console=Console(stderr=True), transient=True):
            for order_id in orders:
                pieces = heartbeat(names, begin, end)
                started = time.perf_counter()
                with database.transaction() as session:
                    results.store_curves(session, order_id, pieces)
                seconds += time.perf_counter() - started
        with database.transaction() as session:
            size_bytes, row_count = session.execute(_SIZE).scalar_one(), session.execute(_ROWS).scalar_one()
        read_ms = [read_milliseconds(database, run_id, names[index % counters]) for index in range(READS)]
    print(f"{nodes} nodes, {rows * STEP_SECONDS / 3600:g} h, {counters} counters: {len(heartbeats) * nodes} heartbeats")
    print(f"ingest: mb={size_bytes / 1e6:.1f} seconds={seconds:.1f} rows={row_count} read_ms={median(read_ms):.1f}")
    return True


def metrics() -> bool:
    """Scrape with 100,000 waiting runs and 10,000 live nodes, then the same with 400,000 ended runs.

    Each scrape comes after the cached values expired (`FRESH_FOR`).
    """
    with migrated_database() as database:
        with database.transaction() as session:
            for rows in _NODES:
                session.execute(text(rows))
        add_runs(database, "waiting", 1, WAITING)
        alone = scrape_milliseconds(database)
        add_runs(database, "finished", 1000, ENDED)
        with_ended = scrape_milliseconds(database)
    print(f"metrics: waiting={WAITING} median_ms={alone:.0f} ended={ENDED} median_beside_ms={with_ended:.0f}")
    return alone <= MOST_MEDIAN_MS and with_ended <= 2 * alone + 20


def make_orders(session: Session, nodes: int) -> tuple[int, list[int]]:
    """Return a run with an order for each of several nodes."""
    measured = Measured(session, BEGAN_AT)
    run: Run = measured.run(measured.cell())
    attempt = Attempt(run_id=run.id, ordinal=1, fence=1)
    members = [measured.node]
    for number in range(2, nodes + 1):
        name = f"node{number}"
        of_cluster = measured.cluster.id
        members.append(
            Node(cluster_id=of_cluster, name=name, role="compute", token_sha256=name, redis_password_sha256="")
        )
    session.add_all([attempt, *members])
    session.flush()
    orders = [
        Order(attempt_id=attempt.id, run_id=run.id, node_id=node.id, role="load", state="running") for node in members
    ]
    session.add_all(orders)
    session.flush()
    return run.id, [order.id for order in orders]


def heartbeat_bounds(rows: int) -> Iterator[tuple[int, int]]:
    """Return the row numbers that bound the pieces of each heartbeat, and those of the result."""
    yield from pairwise([0, *takewhile(lambda end: end < rows, PIECE_ENDS), rows])


def heartbeat(names: Sequence[str], begin: int, end: int) -> list[CurvePiece]:
    """Return pieces of all counters with incompressible values, as on a busy node."""
    at = BEGAN_AT + timedelta(seconds=begin * STEP_SECONDS)
    return [
        CurvePiece(
            counter=name,
            started_at=at,
            step_seconds=STEP_SECONDS,
            values=tuple(float(f"{random.lognormvariate(15, 1):.6g}") for _ in range(begin, end)),
        )
        for name in names
    ]


def read_milliseconds(database: Database, run_id: int, counter: str) -> float:
    """Return the time to read and thin one counter of all nodes, as for the run's page."""
    started = time.perf_counter()
    with database.transaction() as session:
        curves = reading.thinned_curves(session, run_id, MAX_POINTS, [counter])
    if not curves:
        raise SystemExit(f"{counter} has no curve")
    return (time.perf_counter() - started) * 1000


def add_runs(database: Database, state: str, first: int, number: int) -> None:
    """Add this many runs in that state, over all campaigns."""
    with database.transaction() as session:
        session.execute(text(_RUNS), {"state": state, "first": first, "last": first + number // 500 - 1})
    vacuum(database)


def scrape_milliseconds(database: Database) -> float:
    """Return the median time of scrapes; each one queries the database."""
    moment = [system_clock()]
    scraped = SiteMetrics(database, Redis(port=free_port()), lambda: moment[0], site_metrics)
    took = []
    for _ in range(SCRAPES):
        moment[0] += FRESH_FOR + timedelta(seconds=1)
        began_at = time.perf_counter()
        list(scraped.collect())
        took.append(1000 * (time.perf_counter() - began_at))
    return median(took)
