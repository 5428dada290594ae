"""Whole iotide and a real Slurm of two nodes, started once for all scenarios."""

from collections.abc import Iterator

import pytest
from batch_rig import BatchRig
from local_stack import LocalStack
from rig import running_stack
from slurm.one_program import mpi_of_nodes
from slurm.real_slurm import NODES, RealSlurm


@pytest.fixture(scope="session")
def stack() -> Iterator[LocalStack]:
    with running_stack() as stack:
        yield stack


@pytest.fixture(scope="session")
def slurm(stack: LocalStack) -> Iterator[RealSlurm]:
    base = stack.directory / "slurm"
    base.mkdir(mode=0o755)
    with RealSlurm(base) as slurm:
        yield slurm


@pytest.fixture(scope="session")
def cluster(stack: LocalStack, slurm: RealSlurm) -> Iterator[BatchRig]:
    base = stack.directory / "mpi"
    base.mkdir()
    with BatchRig(stack, "slurm", NODES, slurm.environment, of_nodes=mpi_of_nodes(base)) as rig:
        yield rig
