"""An agent's identity from its join token to its revocation; of two agents with one identity only one works."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from bring_up import wait_for
from local_stack import BIN, Agent, LocalStack
from redis import Redis
from redis.exceptions import AuthenticationError
from rig import FIO_SMALL, NODE, Rig, add_rig
from submitting import TARGET
from watched_loads import WatchedLoads

from iotide_agent.cli.explaining import OTHER_AGENT_STATUS
from iotide_agent.node.identity import Identity, load_identity


@pytest.fixture
def twin(rig: Rig) -> tuple[Rig, Path]:
    """Return a rig, and a copy of its agent's directory: configuration and state."""
    own = add_rig(rig.stack, "twin")
    home = rig.stack.directory / "agents/twin-copy"
    home.mkdir()
    original = own.agent.directory
    wait_for("its first hello", lambda: (original / "state/origin.json").exists() or None)
    names = shutil.ignore_patterns("*.sock", "*bell*", "*wake*")
    shutil.copytree(original / "state", home / "state", ignore=names)
    config = (original / "agent.toml").read_text().replace(str(original), str(home))
    (home / "agent.toml").write_text(config)
    return own, home


def test_a_second_agent_with_a_copied_state_is_rejected_and_the_first_continues(twin: tuple[Rig, Path]) -> None:
    own, home = twin
    command = [str(BIN / "iotide-agent"), "run", "--config", str(home / "agent.toml")]
    from_copy = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (from_copy.returncode, "is a copy of" in from_copy.stderr) == (OTHER_AGENT_STATUS, True), from_copy.stderr
    # As in another container, where the copy cannot detect its original; the server can.
    origin = json.loads((home / "state/origin.json").read_text())
    (home / "state/origin.json").write_text(json.dumps(origin | {"path": "/out/of/sight"}))
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


@pytest.fixture
def waiting(stack: LocalStack) -> Iterator[Rig]:
    """Return a rig whose agent enrolled with a token for several nodes, was started, and waits for approval."""
    cluster_id = stack.add_cluster("newcomers")
    target = stack.directory / "targets/newcomers"
    home = stack.enrol(cluster_id, NODE, [target], uses=3)
    loads = WatchedLoads(stack.directory / "watched/newcomers")
    process = stack.run_agent(home, loads.environment)
    agent = Agent(NODE, 0, home, process, loads.environment)
    yield Rig(stack, "newcomers", cluster_id, agent, target, 0, loads)
    process.kill()
    process.wait()


def own_identity(agent: Agent) -> Identity:
    return load_identity(agent.directory / "state")


def status_of(stack: LocalStack, token: str) -> int:
    """Return the server's answer to the holder of a node's token."""
    return httpx2.get(f"{stack.url}/api/v1/agent/standing", headers={"Authorization": f"Bearer {token}"}).status_code


def opens_redis(identity: Identity) -> bool:
    with Redis.from_url(identity.broker.url) as redis:
        try:
            return bool(redis.ping())
        except AuthenticationError:
            return False


def approved_rig(rig: Rig) -> Rig:
    """Return the same rig with its target, after an admin approved its agent by the fingerprint shown on its host."""
    path = f"/clusters/{rig.cluster_id}/pending-nodes"
    (host,) = rig.stack.get(path)["items"]
    assert host["fingerprint"] == own_identity(rig.agent).fingerprint
    answer = rig.stack.api.post(f"{path}/approve", json={"pending_ids": [host["id"]]})
    assert answer.status_code == 204
    agent = rig.stack.meet(rig.cluster_id, rig.agent)
    target_id = rig.stack.add_target(rig.cluster_id, TARGET, rig.target, [agent.node_id])
    return Rig(rig.stack, rig.cluster, rig.cluster_id, agent, rig.target, target_id, rig.loads)


def test_a_node_is_approved_rotates_its_secrets_while_it_works_and_is_revoked(waiting: Rig) -> None:
    stack = waiting.stack
    wait_for("its report that it waits", lambda: "node_pending" in waiting.agent.log or None, seconds=60)
    assert stack.get("/nodes", cluster_id=waiting.cluster_id)["items"] == []
    assert not opens_redis(own_identity(waiting.agent))

    rig = approved_rig(waiting)
    former = own_identity(rig.agent)
    run_id = rig.submit_one("fio", {**FIO_SMALL, "runtime_seconds": 6})
    rig.wait_running(run_id)
    stack.post(f"/nodes/{rig.agent.node_id}/rotate", {})
    present = wait_for("other secrets", lambda: changed(rig.agent, former), seconds=60)
    assert rig.run(run_id)["state"] == "active", "they changed while the load ran"
    run = rig.wait_ended(run_id)
    assert (run["state"], run["attempts_made"]) == ("finished", 1)
    assert (status_of(stack, former.node_token), opens_redis(former)) == (401, False)
    woken = rig.wait_ended(rig.submit_one("dd", {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}))
    assert woken["state"] == "finished", "a wake-up reaches it by its new password"
    assert all(start.is_alone for start in rig.loads.starts())

    assert (status_of(stack, present.node_token), opens_redis(present)) == (200, True)
    stack.post(f"/nodes/{rig.agent.node_id}/revoke", {})
    assert (status_of(stack, present.node_token), opens_redis(present)) == (401, False)
    with Redis.from_url(stack.settings["IOTIDE_REDIS_ADMIN_URL"], decode_responses=True) as admin:
        assert f"iotide-node-{rig.agent.node_id}" not in admin.acl_users()
    assert rig.agent.process.wait(timeout=60) == 1
    assert "not_authenticated" in rig.agent.log


def changed(agent: Agent, former: Identity) -> Identity | None:
    found = own_identity(agent)
    return found if found.node_token != former.node_token else None
