"""Fixtures of the agent's tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent.order_rig import Rig


@pytest.fixture
def make_rig(tmp_path: Path) -> Iterator[Callable[..., Rig]]:
    """Makes a rig; ends whatever it left running."""
    made: list[Rig] = []

    def make(**card: object) -> Rig:
        made.append(Rig(tmp_path, **card))
        return made[-1]

    yield make
    for rig in made:
        rig.close()


@pytest.fixture
def rig(make_rig: Callable[..., Rig]) -> Rig:
    """A rig with ordinary settings."""
    return make_rig()
