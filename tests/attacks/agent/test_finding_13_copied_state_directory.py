"""Copy of a state directory, started next to its agent on the same host and boot."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from agent.agent_rig import COMMAND, AgentRig

from iotide_agent.cli.explaining import OTHER_AGENT_STATUS
from iotide_agent.core.spool import AgentRunsError, Spool


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    """Return the state directory of an agent that the server accepted."""
    made = Spool(tmp_path / "state")
    made.prepare()
    made.keep_instance("instance-1")
    return made


def copied(spool: Spool) -> Spool:
    copy = spool.state_directory.with_name("copy")
    shutil.copytree(spool.state_directory, copy, symlinks=True)
    return Spool(copy)


def test_a_copy_does_not_start_next_to_the_running_agent(own_agent: AgentRig) -> None:
    own_agent.gateway.until((own_agent.state / "origin.json").exists)
    copy = own_agent.base / "copy"
    shutil.copytree(
        own_agent.state, copy, symlinks=True, ignore=shutil.ignore_patterns("wake", "*.new")
    )  # being written
    greeted = len(own_agent.gateway.hellos)
    own_agent.write_config(state_directory=f'"{copy}"')
    argv = [str(COMMAND), "run", "--config", str(own_agent.config)]
    started = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert started.returncode == OTHER_AGENT_STATUS, started.stderr
    assert f"{copy} is a copy of {own_agent.state}, which is in use (pid " in started.stderr
    assert own_agent.process is not None
    assert own_agent.process.poll() is None, "the agent continues"
    assert len(own_agent.gateway.hellos) == greeted, "the server receives nothing from the copy"


def test_a_copy_does_not_start_next_to_a_load_that_outlived_its_agent(spool: Spool) -> None:
    read, write = os.pipe()
    lock = spool.lock_node("exclusive")
    with subprocess.Popen(["cat"], stdin=read, pass_fds=(lock,)) as load:
        os.close(lock)
        with pytest.raises(AgentRunsError, match=rf"in use \(pid {load.pid}\)"):
            copied(spool).lock_agent()
        os.close(write)
        os.close(read)


def test_a_copy_that_is_started_all_the_same_does_not_succeed_the_agent(spool: Spool) -> None:
    """An original in another container is not visible; the server rejects the copy while its agent is online."""
    copy = copied(spool)
    assert (spool.last_instance(), copy.last_instance()) == ("instance-1", None)
    # Once the server has accepted it, it is the node's agent and no longer a copy.
    copy.keep_instance("instance-2")
    assert copy.last_instance() == "instance-2"
    assert Spool(copy.state_directory).last_instance() == "instance-2"


def test_a_moved_state_directory_still_works(spool: Spool) -> None:
    moved = Spool(spool.state_directory.rename(spool.state_directory.with_name("moved")))
    os.close(moved.lock_agent())
    assert moved.last_instance() == "instance-1"


def test_a_copy_without_its_original_starts(spool: Spool) -> None:
    copy = copied(spool)
    shutil.rmtree(spool.state_directory)
    os.close(copy.lock_agent())


def test_the_state_directory_of_an_agent_of_0_2_still_works(spool: Spool) -> None:
    (spool.state_directory / "origin.json").unlink()
    os.close(spool.lock_agent())
    assert spool.last_instance() == "instance-1"


@pytest.mark.parametrize("damaged", ["", "[]", "{}", '{"path": "/state", "device": 1}', '{"path": "/", "inode": null}'])
def test_a_damaged_record_of_the_origin_ends_no_agent(spool: Spool, damaged: str) -> None:
    origin = spool.state_directory / "origin.json"
    origin.write_text(damaged)
    os.close(spool.lock_agent())
    assert spool.last_instance() == "instance-1"
    assert spool.keep_instance("instance-2")
    assert json.loads(origin.read_text())["path"] == str(spool.state_directory)


def test_a_remount_that_changes_the_number_of_the_device_makes_no_copy(spool: Spool) -> None:
    origin = spool.state_directory / "origin.json"
    origin.write_text(json.dumps(json.loads(origin.read_text()) | {"device": 1}))
    assert spool.last_instance() == "instance-1"
    lock = spool.lock_agent()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(lock,)) as holder:
        os.close(lock)
        with pytest.raises(AgentRunsError, match=rf"in use \(pid {holder.pid}\)"):
            copied(spool).lock_agent()
        holder.kill()
