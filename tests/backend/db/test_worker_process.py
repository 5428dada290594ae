"""The server's Celery worker as a process of its own, on the real PostgreSQL and Redis."""

import os
import signal
import subprocess
import sys
import time

from factories.clock import MovedClock
from factories.measured import Measured
from sqlalchemy import text

from iotide_server.embedded.redis import PrivateRedis
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker
from iotide_server.kit.work import want_work
from iotide_server.results.service import POINTS

_DEADLINE_SECONDS = 60.0


def is_open(database: Database) -> bool:
    with database.transaction() as session:
        return bool(session.scalars(text("SELECT count(*) FROM work WHERE done_version < version")).one())


def test_a_named_row_is_worked_on_by_the_process_and_a_signal_ends_it(
    database: Database, database_url: str, redis_server: PrivateRedis, broker: Broker, clock: MovedClock
) -> None:
    with database.transaction() as session:
        measured = Measured(session, clock())
        cell_id = measured.cell().id
        want_work(session, POINTS, cell_id, clock())
    broker.send_work("nobody does this", 1)
    broker.send_work(POINTS, cell_id)
    environment = {**os.environ, "IOTIDE_DATABASE_URL": database_url, "IOTIDE_REDIS_URL": redis_server.url}
    process = subprocess.Popen([sys.executable, "-m", "iotide_server.cli", "worker"], env=environment)
    try:
        begin = time.monotonic()
        while is_open(database):
            assert process.poll() is None
            assert time.monotonic() - begin < _DEADLINE_SECONDS
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(_DEADLINE_SECONDS) == 0
    finally:
        process.kill()
        process.wait()
