"""Fixtures of gangs: a compiled MPI program and two nodes."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent.mpi.gang_rig import SCRIPTS, Gang
from agent.mpi.gang_run import GangRun

SOURCE = Path(__file__).with_name("writes_by_rank.c")


@pytest.fixture(scope="session")
def writes_by_rank(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of the MPI program, compiled by the MPICH of the tests."""
    program = tmp_path_factory.mktemp("mpi") / "writes_by_rank"
    subprocess.run([SCRIPTS / "mpicc", "-O2", "-o", program, SOURCE], check=True)
    return str(program)


@pytest.fixture
def gang(tmp_path: Path) -> Iterator[Gang]:
    made = Gang(tmp_path)
    yield made
    made.close()


@pytest.fixture
def make_gang_run(tmp_path: Path) -> Iterator[Callable[..., GangRun]]:
    """Yield a maker of gangs of two real runners. All end with the test."""
    made: list[GangRun] = []

    def make(**changes: dict[str, object]) -> GangRun:
        run = GangRun(tmp_path / f"gang-{len(made)}", **changes)
        made.append(run)
        return run

    yield make
    for run in made:
        run.close()
