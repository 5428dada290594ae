"""Fixtures of attacks on the agent: those of the agent's tests, and files outside approved directories."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.fixtures import *
from attacks.agent.canary import Canary


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    """Return a tree that must be the same, byte by byte, when the test ends."""
    found = Canary(tmp_path / "outside")
    yield found
    found.require_untouched()


@pytest.fixture
def base() -> Iterator[Path]:
    """Return a directory of root's that every user may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        yield directory
