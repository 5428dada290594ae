"""Fresh working directory for every workload test."""

from pathlib import Path

import pytest
from factories.outcomes import make_place

from iotide_agent.workloads.base import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)
