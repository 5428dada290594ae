from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.scratch.loops import Loops, made_loops


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[Loops]:
    with made_loops(tmp_path) as made:
        yield made
