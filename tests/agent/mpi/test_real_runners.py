"""One MPI program by two real runners with a shared directory: from the endpoint to the removal of the files."""

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from agent.mpi.gang_run import FENCE, GangRun
from agent.mpi.test_real_mpich import BLOCK_BYTES, RANKS, expected
from agent.order_rig import Rig, eventually, step

from iotide_agent.runner import processes
from iotide_agent.runner.card import StepCard
from iotide_agent.runner.workspace import mark

MakeRun = Callable[..., GangRun]
LIMIT_SECONDS = 5.0


def writing(program: str, run: GangRun, *, name: str = "write", blocks: int = 16) -> StepCard:
    return step(program, str(run.place / "file"), str(blocks), name=name, before="drop")


def test_two_steps_on_two_nodes_run_and_leave_nothing(make_gang_run: MakeRun, writes_by_rank: str) -> None:
    run = make_gang_run()
    head, member = run.run(
        [writing(writes_by_rank, run)],
        [step("sh", "-c", f"cp {run.place}/file {run.base}/copy.$PMI_RANK", name="copy")],
        [writing(writes_by_rank, run, name="again")],
    )
    assert (head["code"], member["code"]) == (None, None)
    assert [one["exit_status"] for one in head["steps"]] == [0, 0, 0]
    assert [(one["name"], one["exit_status"]) for one in member["steps"]] == [("write", 0), ("copy", 0), ("again", 0)]
    assert head["steps"][0]["argv"][0].endswith("mpiexec.hydra")
    assert head["steps"][0]["argv"][-3:] == [writes_by_rank, str(run.place / "file"), "16"]
    assert member["steps"][0]["argv"][0].endswith("hydra_pmi_proxy")
    assert run.head.output("000-write.stdout") == f"ranks=4 bytes={16 * RANKS * BLOCK_BYTES}\n"
    assert [(run.base / f"copy.{rank}").read_bytes() == expected(16) for rank in range(RANKS)] == [True] * RANKS
    assert list(run.shared.iterdir()) == []
    assert run.alive() == []
    assert head["gang"]["left_over"] == {"n2": 0}
    assert (member["gang"]["refused"], member["gang"]["strangers"]) == ({}, {})
    assert head["removed"] == [str(run.place)]
    assert member["removed"] == member["leftovers"] == []
