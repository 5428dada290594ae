"""What `iotide-server load-demo-history` costs, and how much of what is known to have happened there is found.

A private PostgreSQL with durable commits, a history of --days by --seed, loaded by the command's own function and
removed again.
"""

import argparse
import sys
import time

from factories.known_truth import score
from services import running, temporary_state
from sqlalchemy import text

from iotide_server.bundled.postgres import prepare_postgres
from iotide_server.demo_history.forgetting import forget_history
from iotide_server.demo_history.loading import DAYS, HistoryPlan, load_history
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate


def main() -> int:
    """Run the bench; 1 where more than one in ten changes was missed."""
    parser = argparse.ArgumentParser(prog="./dev bench history", description=__doc__)
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with temporary_state() as state:
        postgres = prepare_postgres(state)
        with running(postgres.part(), state):
            postgres.create_owner()
            postgres.create_database("history")
            engine = open_engine(postgres.url_of("history"))
            migrate(engine)
            is_found = measure(Database(engine), HistoryPlan(options.seed, options.days))
            engine.dispose()
    return 0 if is_found else 1


def measure(database: Database, plan: HistoryPlan) -> bool:
    """Load, judge, forget."""
    began = time.perf_counter()
    loaded = load_history(database, plan, system_clock)
    seconds = time.perf_counter() - began
    with database.transaction() as session:
        runs, samples, points, events = (
            session.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()  # noqa: S608 - one of these words
            for table in ("run", "sample", "point", "event")
        )
        judged = score(session, plan.sites, loaded.began_at, plan.days)
    for known in judged.missed:
        print(f"missed: {known}")
    for change in judged.unknown:
        print(f"did not happen: {' '.join(change.key)} {change.at:%Y-%m-%d} x{change.ratio:.3f}")
    print(f"{loaded.series_count} series with {points} points, {samples} samples, {events} events")
    began = time.perf_counter()
    forget_history(database, system_clock())
    known_count = len(judged.found) + len(judged.missed)
    print(
        f"history: seconds={seconds:.0f} analysis_seconds={loaded.analysis_seconds:.1f} runs={runs} points={points}"
        f" found={len(judged.found)}/{known_count} unknown={len(judged.unknown)}"
        f" forget_seconds={time.perf_counter() - began:.1f}"
    )
    return len(judged.missed) <= known_count / 10


if __name__ == "__main__":
    sys.exit(main())
