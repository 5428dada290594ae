"""Two agents with one identity: one of them works, the other one says why it does not."""

import shutil
import subprocess

import pytest
from local_stack import BIN, Agent, wait_for
from rig import Rig, add_rig


@pytest.fixture
def twin(rig: Rig) -> tuple[Rig, list[str]]:
    """A rig of its own, and the command that starts a copy of its agent from a copied state directory."""
    own = add_rig(rig.stack, "twin")
    home = rig.stack.directory / "agents/twin-copy"
    home.mkdir()
    original = own.agent.directory
    names = shutil.ignore_patterns("*.sock", "*bell*", "*wake*")
    shutil.copytree(original / "state", home / "state", ignore=names)
    config = (original / "agent.toml").read_text().replace(str(original), str(home))
    (home / "agent.toml").write_text(config)
    # The copy is older than its original by one start, as a restored backup is.
    own.agent.process.terminate()
    own.agent.process.wait(timeout=30)
    last_seen_at = seen_at(own.agent, rig)
    rig.stack.restart_agent(own.agent)
    # "Online" may still be of the process that ended; only a later word is of the one that the copy must not displace.
    wait_for("the original", lambda: True if seen_at(own.agent, rig) != last_seen_at else None, seconds=30)
    return own, [str(BIN / "iotide-agent"), "run", "--config", str(home / "agent.toml")]


def seen_at(agent: Agent, rig: Rig) -> str:
    return str(rig.stack.get(f"/nodes/{agent.node_id}")["last_seen_at"])


def test_a_second_agent_with_a_copied_state_is_refused_and_the_first_goes_on(twin: tuple[Rig, list[str]]) -> None:
    own, command = twin
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as copy:
        assert copy.stderr
        refusal = next(line for line in copy.stderr if "refused" in line)
        run = own.wait_ended(own.submit_one("dd", {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}))
        copy.terminate()
    assert "agent_already_running" in refusal
    assert (run["state"], run["attempts_made"]) == ("finished", 1)
    assert own.agent.process.poll() is None


def test_a_second_agent_on_the_same_state_directory_is_refused(rig: Rig) -> None:
    command = [str(BIN / "iotide-agent"), "run", "--config", str(rig.agent.directory / "agent.toml")]
    second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert second.returncode != 0
    assert f"another agent (pid {rig.agent.process.pid})" in second.stderr
    assert rig.agent.process.poll() is None
