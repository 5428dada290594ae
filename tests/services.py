"""The real PostgreSQL and Redis for tests: one private copy of each per test process, started at first use."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bring_up import free_port
from opened import lend

from iotide_server.bundled.postgres import PrivatePostgres, prepare_postgres
from iotide_server.bundled.privileges import choose_account
from iotide_server.bundled.redis import PrivateRedis, prepare_redis
from iotide_server.bundled.state import StateDirectory, prepare_state_directory
from iotide_server.bundled.supervise import Part

FORGETFUL = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
}
"""Settings of a PostgreSQL that need not survive a power cut."""

_POLL_SECONDS = 0.02


@contextmanager
def temporary_state() -> Iterator[StateDirectory]:
    """Yield a state directory in the temporary directory, with a path short enough for a unix socket."""
    root = Path(tempfile.mkdtemp(prefix="iotide-"))
    try:
        yield prepare_state_directory(root, choose_account(lend(root)))
    finally:
        shutil.rmtree(root)


@pytest.fixture
def state() -> Iterator[StateDirectory]:
    """Return a state directory for this test only."""
    with temporary_state() as directory:
        yield directory


@contextmanager
def running(part: Part, state: StateDirectory) -> Iterator[subprocess.Popen[bytes]]:
    """Run the part in the block; without the supervisor, so that a test may kill it."""
    log_path = state.directory("log") / f"{part.name}.log"
    with log_path.open("ab") as log:
        process = subprocess.Popen(
            part.launch(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **part.environment},
            start_new_session=True,
        )
    try:
        _wait_until_ready(part, process, log_path)
        yield process
    finally:
        process.send_signal(part.stop_signal)
        process.wait(part.stop_deadline_seconds)


def _wait_until_ready(part: Part, process: subprocess.Popen[bytes], log_path: Path) -> None:
    deadline = time.monotonic() + part.start_deadline_seconds
    while not part.is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{part.name} did not become ready:\n{log_path.read_text(errors='replace')}")
        time.sleep(_POLL_SECONDS)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PrivatePostgres]:
    """A PostgreSQL of this test process, with the owner's empty database; make more with `create_database`."""
    with temporary_state() as state:
        postgres = prepare_postgres(state, parameters=FORGETFUL)
        with running(postgres.part(), state):
            postgres.create_owner()
            yield postgres


@pytest.fixture(scope="session")
def redis_server() -> Iterator[PrivateRedis]:
    """A Redis of this test process with iotide's users; a test that writes to it empties it with the admin's
    FLUSHALL.
    """
    with temporary_state() as state:
        redis = prepare_redis(state, port=free_port())
        with running(redis.part(), state):
            yield redis
