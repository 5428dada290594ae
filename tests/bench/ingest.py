"""What a long run of many nodes costs the database: size, seconds to store it, and milliseconds to read a curve of it.

Each node's curves come as its agent sends them, in beats that end where the agent's pieces end, a transaction each,
through what takes in the beats of real agents; PostgreSQL is a private one, with durable commits.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from statistics import median
from typing import Final

from factories.measured import Measured
from rich.console import Console
from rich.progress import track
from services import running, temporary_state
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_agent.orders.progress import PIECE_ENDS, STEP_SECONDS
from iotide_server.bundled.postgres import prepare_postgres
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.results import reading
from iotide_server.results.ingest import service as results
from iotide_server.runs.models import Attempt, Order, Run
from iotide_wire.messages import CurvePiece

BEGAN_AT: Final = datetime(2026, 11, 21, 10, tzinfo=UTC)
READS: Final = 9
MAX_POINTS: Final = 600
_SIZE: Final = text("SELECT pg_total_relation_size('curve_chunk')")
_ROWS: Final = text("SELECT count(*) FROM curve_chunk")


def main() -> int:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=16, help="default: %(default)s")
    parser.add_argument("--hours", type=float, default=10, help="default: %(default)s")
    parser.add_argument("--counters", type=int, default=40, help="default: %(default)s")
    asked = parser.parse_args()
    with temporary_state() as state:
        postgres = prepare_postgres(state)
        with running(postgres.part(), state):
            postgres.create_owner()
            postgres.create_database("ingest")
            engine = open_engine(postgres.url_of("ingest"))
            migrate(engine)
            measure(Database(engine), asked.nodes, round(asked.hours * 3600 / STEP_SECONDS), asked.counters)
            engine.dispose()
    return 0


def measure(database: Database, nodes: int, rows: int, counters: int) -> None:
    """Store everything, read some of it, print the line."""
    with database.transaction() as session:
        run_id, orders = make_orders(session, nodes)
    names = [f"counter{number}_per_second" for number in range(counters)]
    seconds = 0.0
    beats = list(beat_bounds(rows))
    for begin, end in track(beats, "storing beats", console=Console(stderr=True), transient=True):
        for order_id in orders:
            pieces = beat(names, begin, end)
            started = time.perf_counter()
            with database.transaction() as session:
                results.store_curves(session, order_id, pieces)
            seconds += time.perf_counter() - started
    with database.transaction() as session:
        size_bytes, row_count = session.execute(_SIZE).scalar_one(), session.execute(_ROWS).scalar_one()
    read_ms = [read_milliseconds(database, run_id, names[index % counters]) for index in range(READS)]
    print(f"{nodes} nodes, {rows * STEP_SECONDS / 3600:g} h, {counters} counters: {len(beats) * nodes} beats")
    print(f"ingest: mb={size_bytes / 1e6:.1f} seconds={seconds:.1f} rows={row_count} read_ms={median(read_ms):.1f}")


def make_orders(session: Session, nodes: int) -> tuple[int, list[int]]:
    """A run with an order for each of several nodes."""
    measured = Measured(session, BEGAN_AT)
    run: Run = measured.run(measured.cell())
    attempt = Attempt(run_id=run.id, ordinal=1, fence=1)
    members = [measured.node]
    for number in range(2, nodes + 1):
        name = f"node{number}"
        members.append(
            Node(
                cluster_id=measured.cluster.id,
                name=name,
                role="compute",
                token_sha256=name,
                redis_password_sha256="",
            )
        )
    session.add_all([attempt, *members])
    session.flush()
    orders = [
        Order(attempt_id=attempt.id, run_id=run.id, node_id=node.id, role="load", state="running") for node in members
    ]
    session.add_all(orders)
    session.flush()
    return run.id, [order.id for order in orders]


def beat_bounds(rows: int) -> Iterator[tuple[int, int]]:
    """The rows between which the pieces of each beat lie, and what the result brings at the end."""
    yield from pairwise([0, *takewhile(lambda end: end < rows, PIECE_ENDS), rows])


def beat(names: Sequence[str], begin: int, end: int) -> list[CurvePiece]:
    """Pieces of all counters with values that no compression makes smaller, as counters of a busy node have."""
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
    """How long one counter of all nodes takes to be read and thinned as the run's page asks for it."""
    started = time.perf_counter()
    with database.transaction() as session:
        curves = reading.thinned_curves(session, run_id, MAX_POINTS, [counter])
    if not curves:
        raise SystemExit(f"{counter} has no curve")
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    sys.exit(main())
