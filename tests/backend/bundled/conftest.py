"""Shared fixtures of the tests of the private services."""

import hashlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from bring_up import free_port
from redis import Redis
from services import running

from iotide_server.bundled import postgres
from iotide_server.bundled.acl import NodeAccess, node_username
from iotide_server.bundled.redis import PrivateRedis, prepare_redis
from iotide_server.bundled.state import StateDirectory

PASSWORD = "of-both-nodes"
A, B = (NodeAccess(number, hashlib.sha256(PASSWORD.encode()).hexdigest()) for number in (7, 17))


def url_of(redis: PrivateRedis, node_id: int) -> str:
    return f"redis://{node_username(node_id)}:{PASSWORD}@127.0.0.1:{redis.port}/0"


@dataclass(frozen=True)
class ClosedDirectory:
    """A directory that only root can enter once a command runs in it."""

    path: Path

    def command(self, *words: str) -> list[str]:
        """Return the words that start the command there, with `cwd=path`."""
        self.path.chmod(0o700)
        return ["sh", "-c", 'chmod 0 . && exec "$@"', "sh", *words]

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(self.command(*words), cwd=self.path, capture_output=True, text=True, check=True)


@contextmanager
def closed_directory() -> Iterator[ClosedDirectory]:
    path = Path(tempfile.mkdtemp(prefix="iotide-"))
    try:
        yield ClosedDirectory(path)
    finally:
        path.rmdir()


@pytest.fixture
def closed() -> Iterator[ClosedDirectory]:
    with closed_directory() as directory:
        yield directory


@contextmanager
def connected(url: str) -> Iterator[Redis]:
    with Redis.from_url(url, decode_responses=True) as connection:
        yield connection


@pytest.fixture
def only_wheels(monkeypatch: pytest.MonkeyPatch, state: StateDirectory) -> None:
    """A machine without PostgreSQL and Redis."""
    programs = state.directory("bin")
    (programs / "test").symlink_to(shutil.which("test") or "")
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(postgres, "_DEBIAN_DIRECTORY", programs)


@pytest.fixture(params=["installed", "wheel"])
def redis(request: pytest.FixtureRequest, state: StateDirectory) -> Iterator[PrivateRedis]:
    """A Redis for this test: the newest of this machine, and the wheel's."""
    if request.param == "wheel":
        request.getfixturevalue("only_wheels")
    private = prepare_redis(state, port=free_port())
    with running(private.part(), state):
        yield private


def wait_until(is_true: Callable[[], bool], *, seconds: float = 60.0) -> None:
    """Poll a condition of another process.

    Raises:
        AssertionError: it is not true in time.
    """
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.02)
