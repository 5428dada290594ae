"""Upgrade order "server first": an agent of the previous release works with this server as with its own."""

from collections.abc import Iterator
from pathlib import Path

import local_stack
import pytest
from local_stack import LocalStack
from previous import PREVIOUS, install_agent
from rig import FIO_SMALL, Rig, add_rig


@pytest.fixture(scope="module")
def old_rig(stack: LocalStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Return a node with the previous release's agent."""
    programs = install_agent(PREVIOUS, tmp_path_factory.mktemp("previous") / "venv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_stack, "BIN", programs)
        rig = add_rig(stack, "previous-release")
    yield rig
    stack.stop_agent(rig.agent)


def test_it_enrols_and_reports_its_release(old_rig: Rig) -> None:
    node = old_rig.stack.get(f"/nodes/{old_rig.agent.node_id}")
    assert (node["state"], node["agent_version"]) == ("online", PREVIOUS)


def test_it_claims_runs_and_hands_in_numbers_and_raw_output(old_rig: Rig) -> None:
    options = {"file_size_bytes": 1024**2, "block_size_bytes": 64 * 1024}
    run = old_rig.wait_ended(old_rig.submit_one("dd", options))
    assert (run["state"], run["validity"]) == ("finished", "valid"), run["reason"]
    assert run["samples"]
    assert old_rig.stack.get(f"/runs/{run['id']}/artefacts")["items"]
    old_rig.wait_clean()


def test_it_ends_a_run_that_a_person_cancels(old_rig: Rig) -> None:
    run_id = old_rig.submit_one("fio", {**FIO_SMALL, "rw": "write", "runtime_seconds": 60})
    old_rig.wait_running(run_id)
    old_rig.stack.post(f"/runs/{run_id}/cancel", {})
    assert old_rig.wait_ended(run_id)["state"] == "cancelled"
    old_rig.wait_clean()


def test_its_files_are_those_of_the_release(tmp_path: Path) -> None:
    programs = install_agent(PREVIOUS, tmp_path / "venv")
    found = list((programs.parent / "lib").glob("python*/site-packages/iotide_agent/session.py"))
    assert len(found) == 1
