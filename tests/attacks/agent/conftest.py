"""Attacks have the fixtures of the agent's tests, and something outside of what is approved that none may change."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.fixtures import *
from attacks.agent.canary import Canary


@pytest.fixture
def approved(tmp_path: Path) -> Path:
    """The one directory below which runs may write."""
    directory = tmp_path / "approved"
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    """A tree that is the same, byte by byte, when the test ends."""
    found = Canary(tmp_path / "outside")
    yield found
    found.require_untouched()


@pytest.fixture
def parent(approved: Path) -> Iterator[int]:
    """The approved directory, open."""
    descriptor = os.open(approved, os.O_RDONLY)
    yield descriptor
    assert stat.S_ISDIR(os.fstat(descriptor).st_mode)
    os.close(descriptor)
