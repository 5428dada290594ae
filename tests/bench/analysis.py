"""Cost of analyses: 200 series of 2,000 points one after the other, and the follow-up of one result among many.

The analysis is the worker's own, one transaction per series, on a private PostgreSQL with durable commits. Growth
compares the seconds per series of all 200 with those of the first 50: 1 is linear. The follow-up computes the points
of a new cell of five runs with 200 numbers each, once among 100,000 samples and once among a million of the same
series.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from statistics import median
from typing import Final

import numpy as np
from factories.measured import Measured, finish, sample
from numpy.typing import NDArray
from private_database import migrated_database, vacuum
from rich.console import Console
from rich.progress import track
from sqlalchemy import text

from iotide_server.kit.db import Database
from iotide_server.trends.changes.analysis import analyse_series
from iotide_server.trends.points.service import recompute_points

BEGAN_AT: Final = datetime(2024, 11, 21, 10, tzinfo=UTC)
SERIES: Final = 200
FEW_SERIES: Final = 50
POINTS: Final = 2000
RUNS_OF_A_CELL: Final = 5
FEW_SAMPLES, MANY_SAMPLES = 100_000, 1_000_000
MOST_SECONDS: Final = 120.0
MOST_GROWTH: Final = 1.2
FOLLOW_UPS: Final = 5

_CELLS: Final = text(
    """
    WITH made AS (
        INSERT INTO cell (campaign_id, ordinal, workload_id, options, options_sha256, bytes_needed, bytes_moved)
        SELECT campaign_id, number + 1000000, workload_id, options, options_sha256, bytes_needed, bytes_moved
        FROM cell, generate_series(1, :points) AS number WHERE id = :cell_id
        RETURNING id
    )
    INSERT INTO cell_node (cell_id, node_id) SELECT made.id, node_id FROM made, cell_node WHERE cell_id = :cell_id
    """
)
_POINTS: Final = text(
    """
    INSERT INTO point (series_id, cell_id, campaign_id, at, median, low, high, run_count)
    SELECT :series_id, id, campaign_id, :began_at + ordinality * interval '8 h', value, value, value, 1
    FROM unnest(CAST(:values AS float8[])) WITH ORDINALITY AS made (value, ordinality)
    JOIN cell ON cell.ordinal = 1000000 + ordinality
    """
)
_RUNS: Final = text(
    """
    WITH made AS (
        INSERT INTO run (campaign_id, cell_id, cluster_id, repeat, state, exclusive, sort_key, time_limit_seconds,
                         attempts_allowed, started_at)
        SELECT cell.campaign_id, cell.id, campaign.cluster_id, 1 + number / :points, 'finished', 'node', 0, 60, 2,
               :began_at + (1 + number % :points) * interval '8 h'
        FROM generate_series(CAST(:first AS bigint), :last - 1) AS number
        JOIN cell ON cell.ordinal = 1000001 + number % :points JOIN campaign ON campaign.id = cell.campaign_id
        RETURNING id
    ), attempts AS (
        INSERT INTO attempt (run_id, ordinal, fence, state) SELECT id, 1, id, 'finished' FROM made RETURNING id, run_id
    ), orders AS (
        INSERT INTO node_order (attempt_id, run_id, node_id, role, state, outcome, result_sha256)
        SELECT attempts.id, run_id, (SELECT min(id) FROM node), 'load', 'ended', 'finished', '' FROM attempts
        RETURNING id, run_id
    )
    INSERT INTO sample (run_id, order_id, series_id, value)
    SELECT orders.run_id, orders.id, series.id, 100 + series.id % 7 FROM orders, series
    """
)


def main() -> int:
    """Run the bench; return 1 if a limit is exceeded."""
    argparse.ArgumentParser(prog="./dev bench analysis", description=__doc__).parse_args()
    with migrated_database() as database:
        return 0 if measure(database) else 1


def measure(database: Database) -> bool:
    """Make the series, analyse them and follow results up; return whether all limits hold."""
    with database.transaction() as session:
        measured = Measured(session, BEGAN_AT)
        cell_id = add_cell(measured, runs=1)
        series_ids = session.scalars(text("SELECT id FROM series ORDER BY id")).all()
        session.execute(_CELLS, {"points": POINTS, "cell_id": cell_id})
        for series_id, values in zip(series_ids, histories(), strict=True):
            session.execute(_POINTS, {"series_id": series_id, "began_at": BEGAN_AT, "values": values.tolist()})
    vacuum(database)
    console = Console(stderr=True)
    seconds = [
        analysis_seconds(database, series_id)
        for series_id in track(series_ids, "analysing", console=console, transient=True)
    ]
    few, all_of_them = sum(seconds[:FEW_SERIES]) / FEW_SERIES, sum(seconds) / SERIES
    growth = all_of_them / few
    milliseconds = [follow_up_milliseconds(database, measured, samples) for samples in (FEW_SAMPLES, MANY_SAMPLES)]
    typical_ms = 1000 * median(seconds)
    print(f"{SERIES} series of {POINTS} points: {typical_ms:.0f} ms each in the middle, {max(seconds):.2f} s at most")
    print(
        f"the points of a cell of {RUNS_OF_A_CELL} runs with {SERIES} numbers each:"
        f" {milliseconds[0]:.0f} ms among {FEW_SAMPLES:,} samples, {milliseconds[1]:.0f} ms among {MANY_SAMPLES:,}"
    )
    print(
        f"analysis: seconds_200x2000={sum(seconds):.1f} growth={growth:.2f}"
        f" points_ms_100k={milliseconds[0]:.0f} points_ms_1m={milliseconds[1]:.0f}"
    )
    return sum(seconds) <= MOST_SECONDS and growth <= MOST_GROWTH


def add_cell(measured: Measured, runs: int) -> int:
    """Add a cell with finished runs of 200 numbers each, all in the same series; return its id."""
    cell = measured.cell()
    numbers = [sample(100.0 + number % 7, operation="write", writer=number) for number in range(SERIES)]
    for repeat in range(runs):
        measured.deliver(cell, finish(measured.now, *numbers), minutes=repeat)
    return cell.id


def histories() -> Iterator[NDArray[np.float64]]:
    """Yield two years of points per series, three a day, with up to six steps of 5 to 30 % and noise of 3 %."""
    random = np.random.default_rng(1)
    for _ in range(SERIES):
        level = np.full(POINTS, 100.0)
        for place in random.integers(50, POINTS - 50, size=int(random.integers(0, 7))):
            level[place:] *= 1 + random.choice([-1, 1]) * random.uniform(0.05, 0.3)
        yield level * (1 + 0.03 * random.standard_normal(POINTS))


def analysis_seconds(database: Database, series_id: int) -> float:
    """Return the duration of one analysis, with its commit."""
    began = time.perf_counter()
    with database.transaction() as session:
        analyse_series(session, series_id)
    return time.perf_counter() - began


def follow_up_milliseconds(database: Database, measured: Measured, samples: int) -> float:
    """Return the time to compute the points of a new cell among this many samples, the median of several cells."""
    with database.transaction() as session:
        present = session.scalar(text("SELECT count(*) FROM sample")) or 0
        runs = [session.scalar(text("SELECT count(*) FROM run")) or 0]
        runs.append(runs[0] + (samples - present) // SERIES)
        session.execute(_RUNS, {"points": POINTS, "began_at": BEGAN_AT, "first": runs[0], "last": runs[1]})
    vacuum(database)
    return median(_follow_up(database, measured) for _ in range(FOLLOW_UPS))


def _follow_up(database: Database, measured: Measured) -> float:
    with database.transaction() as measured.session:
        cell_id = add_cell(measured, RUNS_OF_A_CELL)
    began = time.perf_counter()
    with database.transaction() as session:
        recompute_points(session, cell_id)
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
