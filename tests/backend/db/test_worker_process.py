"""The server's Celery worker as a separate process, on the real PostgreSQL and Redis."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest
from factories.clock import MovedClock
from factories.histories import history, levels
from factories.measured import Measured
from sqlalchemy import select, text

from iotide_server.bundled.redis import PrivateRedis
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker
from iotide_server.kit.work import want_all, want_work
from iotide_server.results.ingest.service import POINTS
from iotide_server.trends.models import SeriesCourse
from iotide_server.trends.points.service import ANALYSIS

_DEADLINE_SECONDS = 300.0  # of patience: on a busy machine its imports alone take 20 s


def is_open(database: Database, named: Sequence[tuple[str, int]]) -> bool:
    """Return whether work is left of what was sent; no scheduler sends the follow-up work."""
    with database.transaction() as session:
        is_left = text("SELECT kind, key FROM work WHERE done_version < version")
        return bool(set(named) & {(row.kind, row.key) for row in session.execute(is_left)})


@pytest.mark.timeout(600)
def test_a_named_row_is_worked_on_by_the_process_and_a_signal_ends_it(
    database: Database, database_url: str, redis_server: PrivateRedis, broker: Broker, clock: MovedClock
) -> None:
    with database.transaction() as session:
        measured = Measured(session, clock())
        cell_id = measured.cell().id
        want_work(session, POINTS, cell_id, clock())
        young, long = (history(measured, levels((count, 100.0)), operation=f"of {count}").id for count in (3, 20))
        want_all(session, ANALYSIS, [young, long], clock())
    broker.send_work("unknown task", [1])
    broker.send_work(POINTS, [cell_id])
    broker.send_work(ANALYSIS, [young, long])
    environment = {**os.environ, "IOTIDE_DATABASE_URL": database_url, "IOTIDE_REDIS_URL": redis_server.url}
    process = subprocess.Popen([sys.executable, "-m", "iotide_server.cli", "worker"], env=environment)
    try:
        begin = time.monotonic()
        while is_open(database, [(POINTS, cell_id), (ANALYSIS, young), (ANALYSIS, long)]):
            assert process.poll() is None
            assert time.monotonic() - begin < _DEADLINE_SECONDS
            time.sleep(0.05)
        with database.transaction() as session:
            courses = {row.series_id: row.course for row in session.scalars(select(SeriesCourse))}
        assert courses == {young: "too_short", long: "steady"}
        process.send_signal(signal.SIGTERM)
        assert process.wait(_DEADLINE_SECONDS) == 0
    finally:
        process.kill()
        process.wait()
