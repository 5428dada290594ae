"""Fixtures of the agent's tests and of attacks on it."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent.agent_rig import AgentRig
from agent.order_rig import Rig

from iotide_server.bundled.redis import PrivateRedis


@pytest.fixture
def approved(tmp_path: Path) -> Path:
    """Return the only directory below which runs may write."""
    directory = tmp_path / "approved"
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture
def parent(approved: Path) -> Iterator[int]:
    """Return the approved directory, open."""
    descriptor = os.open(approved, os.O_RDONLY)
    yield descriptor
    assert stat.S_ISDIR(os.fstat(descriptor).st_mode)
    os.close(descriptor)


@pytest.fixture
def make_rig(tmp_path: Path) -> Iterator[Callable[..., Rig]]:
    """Return a function that makes a rig; end the processes of all rigs afterwards."""
    made: list[Rig] = []

    def make(**card: object) -> Rig:
        made.append(Rig(tmp_path, **card))
        return made[-1]

    yield make
    for rig in made:
        rig.close()


@pytest.fixture
def rig(make_rig: Callable[..., Rig]) -> Rig:
    """Return a rig with ordinary settings."""
    return make_rig()


@pytest.fixture
def own_agent(tmp_path: Path, redis_server: PrivateRedis) -> Iterator[AgentRig]:
    """Return a running agent for a test that kills it."""
    with AgentRig(tmp_path, redis_server) as rig:
        rig.start()
        yield rig


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory, redis_server: PrivateRedis) -> Iterator[AgentRig]:
    """Return a running agent for all tests that leave it running."""
    with AgentRig(tmp_path_factory.mktemp("agent"), redis_server) as rig:
        rig.start()
        yield rig
