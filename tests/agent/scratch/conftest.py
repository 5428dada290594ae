import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.scratch.loops import Loops, made_loops


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[Loops]:
    assert os.geteuid() == 0, "the program is root's: run these tests with sudo ./dev test tests/agent/scratch"
    usual = os.umask(0o077)  # the program's
    with made_loops(tmp_path) as made:
        yield made
    os.umask(usual)
