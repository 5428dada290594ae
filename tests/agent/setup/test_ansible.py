"""The role of deploy/ansible, played on a bare host by a real Ansible."""

import json
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
from agent.gateway_double import GatewayDouble
from bare_node import PYTHON, SOURCE, TOP, BareNode
from handing_out import RECORDS, write_bundle

TOKEN = "0123456789abcdef.-"
RECAP = re.compile(r"ok=(\d+) +changed=(\d+) +unreachable=0 +failed=(\d+)")

pytestmark = pytest.mark.timeout(300)  # Ansible loads slowly


@pytest.fixture
def node(tmp_path: Path) -> BareNode:
    node = BareNode(tmp_path / "node", has_agent=False)
    node.pretend_systemd()
    record = node.root / RECORDS[1:]
    record.parent.mkdir(exist_ok=True)
    record.touch()
    record.chmod(0o666)
    write_bundle(node.root / "root/iotide-agent.tar")
    return node


def play(node: BareNode, gateway: GatewayDouble, **more: object) -> subprocess.CompletedProcess[str]:
    variables = {
        "ansible_connection": "local",
        "ansible_python_interpreter": PYTHON,
        "iotide_server": gateway.url,
        "iotide_join_token": TOKEN,
        "iotide_bundle": "/root/iotide-agent.tar",
        **more,
    }
    given = ("--inventory", "node,", "--extra-vars", json.dumps(variables), f"{SOURCE}/deploy/ansible/nodes.yml")
    installed = Path(sysconfig.get_path("purelib")).relative_to(TOP)
    environment = {"PYTHONPATH": f"{SOURCE}/{installed}", "ANSIBLE_NOCOLOR": "1"}
    return node.run(PYTHON, "-m", "ansible", "playbook", *given, environment=environment)


def recap(done: subprocess.CompletedProcess[str]) -> tuple[int, int]:
    """Return the number of changed and of failed tasks."""
    found = RECAP.search(done.stdout)
    assert found is not None, done.stdout + done.stderr
    return int(found[2]), int(found[3])


def test_a_play_makes_a_host_a_node_and_a_second_one_changes_nothing(node: BareNode, gateway: GatewayDouble) -> None:
    done = play(node, gateway)
    assert recap(done) == (4, 0), done.stdout
    assert TOKEN not in done.stdout
    assert 'approved_directories = ["/scratch/iotide"]' in node.read("/etc/iotide/agent.toml")
    assert node.systemctl_calls()[-1] == "restart iotide-agent.service"
    assert (node.root / "local/bin/iotide-agent").is_symlink()
    before = node.files()
    again = play(node, gateway, iotide_join_token="")
    assert recap(again) == (0, 0), again.stdout
    assert node.files() == before


def test_the_reason_of_a_failure_is_shown_without_the_token(node: BareNode, gateway: GatewayDouble) -> None:
    done = play(node, gateway, iotide_directories=["/missing/iotide"])
    assert recap(done)[1] == 1
    assert "/missing does not exist; mount the file system that is to be measured" in done.stdout
    assert TOKEN not in done.stdout


def test_variables_are_checked_by_name(node: BareNode, gateway: GatewayDouble) -> None:
    done = play(node, gateway, iotide_directories={"scratch": 1})
    assert recap(done)[1] == 1
    assert "iotide_directories" in done.stdout
