"""PostgreSQL killed at many random moments under ingest: data acknowledged to a node is stored exactly once."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import pytest
from fastapi.testclient import TestClient
from ingesting import Nodes, judge, make_deliveries
from pydantic import SecretStr
from services import temporary_state

from iotide_server.bundled.postgres import DURABLE, PrivatePostgres, prepare_postgres
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.main import create_app
from iotide_server.settings import Settings

KILLS = int(os.environ.get("IOTIDE_KILLS", "50"))
SEED = int(os.environ.get("IOTIDE_SEED", str(time.time_ns() % 1_000_000)))
NODES = 4
LONGEST_LIFE_SECONDS = 1.0
POLL_SECONDS = 0.02

pytestmark = [
    pytest.mark.timeout(1500),
    # A connection that PostgreSQL left behind when it was killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Mortal:
    """Durable PostgreSQL that can be killed with all its processes, and restarted on its files."""

    def __init__(self, postgres: PrivatePostgres, log: Path) -> None:
        self.postgres = postgres
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        part = self.postgres.part()
        # As `prepare_postgres` does: the process named in the file is dead.
        (self.postgres.data / "postmaster.pid").unlink(missing_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(part.launch(), stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 120
        while not part.is_ready():
            assert self._process.poll() is None, self._log.read_text()[-2000:]
            assert time.monotonic() < deadline, self._log.read_text()[-2000:]
            time.sleep(POLL_SECONDS)

    def kill(self) -> None:
        assert self._process is not None
        # All of it, as the kernel's OOM killer does: a surviving backend could still commit.
        pids = [self._process.pid, *children(self._process.pid)]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        while any(is_alive(pid) for pid in pids):
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(self.postgres.part().stop_signal)
            self._process.wait(60)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextmanager
def mortal_postgres() -> Iterator[Mortal]:
    with temporary_state() as state:
        mortal = Mortal(prepare_postgres(state, parameters=DURABLE), state.directory("log") / "postgres.log")
        try:
            mortal.start()
            mortal.postgres.create_owner()
            yield mortal
        finally:
            mortal.stop()


def test_no_acknowledged_sample_is_lost_or_doubled_when_postgres_is_killed() -> None:
    random = Random(SEED)  # noqa: S311 - so that a seed repeats it
    with mortal_postgres() as mortal:
        url = mortal.postgres.url
        engine = open_engine(url)
        migrate(engine)
        deliveries = make_deliveries(Database(engine), 200 * KILLS, random)
        app = create_app(Settings(database_url=SecretStr(url), redis_url=SecretStr("redis://127.0.0.1:1/0")))
        with TestClient(app, raise_server_exceptions=False) as client, ThreadPoolExecutor(NODES) as pool:
            nodes = Nodes(client, deliveries)
            at_work = [pool.submit(nodes.hand_in) for _ in range(NODES)]
            try:
                for _ in range(KILLS):
                    before = len(nodes.acknowledged)
                    while len(nodes.acknowledged) == before and not all(node.done() for node in at_work):
                        time.sleep(POLL_SECONDS)
                    time.sleep(random.uniform(0, LONGEST_LIFE_SECONDS))
                    mortal.kill()
                    mortal.start()
            finally:
                nodes.is_over.set()
            for node in at_work:
                node.result()
        engine.dispose()
        verdict = judge(url, nodes.acknowledged)
    sys.stdout.write(
        f"keeping: kills={KILLS} acknowledged={verdict.acknowledged} lost={verdict.lost} doubled={verdict.doubled}"
        f" seed={SEED}\n"
    )
    assert (verdict.lost, verdict.doubled) == (0, 0)
    assert nodes.waiting, "too few results were sent: the last kills hit nothing"
    assert nodes.refusals >= KILLS / 2, "hardly any kill hit a delivery"
