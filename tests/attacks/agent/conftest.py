"""Attacks have the fixtures of the agent's tests, and something outside of what is approved that none may change."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.fixtures import *
from attacks.agent.canary import Canary


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    """Return a tree that is the same, byte by byte, when the test ends."""
    found = Canary(tmp_path / "outside")
    yield found
    found.require_untouched()


@pytest.fixture
def base() -> Iterator[Path]:
    """Return a directory of root's that everybody may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        yield directory
