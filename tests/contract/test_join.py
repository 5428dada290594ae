"""The one command of the cluster's page: a bare host becomes a node of a real server, and attacks get nothing."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_node import TOP, BareNode, write_agent
from bring_up import wait_for
from handing_out import RECORDS, HandingServer, Interceptor, handing_server, intercepting, write_bundle

REFUSED = 2


@pytest.fixture(scope="module")
def server() -> Iterator[HandingServer]:
    with handing_server() as running:
        yield running


@pytest.fixture
def node(tmp_path: Path) -> BareNode:
    return bare_node(tmp_path / "node")


def bare_node(root: Path) -> BareNode:
    node = BareNode(root, has_agent=False)
    record = root / RECORDS[1:]
    record.parent.mkdir()
    record.touch()
    record.chmod(0o666)
    return node


@pytest.fixture
def attacker(tmp_path: Path, server: HandingServer) -> Iterator[Interceptor]:
    """Return a host that has every file of the server, and other certificates."""
    with intercepting(tmp_path / "attacker") as interceptor:
        interceptor.answers["/agent/join.sh"] = fetched(server, "join.sh")
        interceptor.answers["/agent/ca.crt"] = interceptor.ca_pem.encode()
        interceptor.answers["/agent/iotide-agent.tar"] = (server.files / "iotide-agent.tar").read_bytes()
        yield interceptor


def fetched(server: HandingServer, name: str) -> bytes:
    curl = ["curl", "--fail", "--silent", "--cacert", str(server.ca_file), f"{server.url}/agent/{name}"]
    return subprocess.run(curl, check=True, capture_output=True).stdout


def join(node: BareNode, line: str) -> subprocess.CompletedProcess[str]:
    return node.run("sh", "-c", line)


def token_in(line: str) -> str:
    return line.partition("echo ")[2].rpartition("echo ")[2].split()[0]


def test_a_bare_host_becomes_a_node_by_one_command(node: BareNode, server: HandingServer) -> None:
    node.pretend_systemd()
    line = server.join_line()
    done = join(node, line)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "join.sh: OK" in done.stdout
    assert "ready   identity: node " in done.stdout
    assert "ready   /scratch/iotide: " in done.stdout
    assert node.systemctl_calls()[-1] == "restart iotide-agent.service"
    assert (node.root / "local/bin/iotide").is_symlink()
    identity = json.loads(node.read("/var/lib/iotide-agent/identity.json"))
    assert (identity["server_url"], identity["ca_pem"]) == (server.url, server.ca_file.read_text())
    # Every user of a host can read arguments in `ps`.
    secret = token_in(line).partition(".")[0]
    assert "setup" in node.read(RECORDS)
    assert secret not in node.read(RECORDS)
    assert list((node.root / "tmp").iterdir()) == []


def test_a_second_command_changes_nothing(node: BareNode, server: HandingServer) -> None:
    node.pretend_systemd()
    assert join(node, server.join_line()).returncode == 0
    before = node.files()
    again = join(node, server.join_line())
    assert again.returncode == 0, again.stderr
    assert "install: /opt/iotide-agent/bin/iotide-agent has this version" in again.stdout
    assert "nothing to change: this node is set up" in again.stdout
    assert node.files() == before


def test_its_agent_starts_by_the_printed_command_where_systemd_does_not_run(
    node: BareNode, server: HandingServer
) -> None:
    done = join(node, server.join_line())
    start = done.stdout.partition("start the agent with: ")[2].split()
    with (node.root / "log").open("wb") as log:
        agent = subprocess.Popen(node.command(*start), stdout=log, stderr=log)
    try:
        wait_for("the agent", lambda: "greeted" in node.read("/log") or None, seconds=60)
    finally:
        agent.terminate()
        agent.wait(30)


def test_a_used_token_ends_before_the_host_is_changed(node: BareNode, server: HandingServer, tmp_path: Path) -> None:
    line = server.join_line()
    assert join(bare_node(tmp_path / "other"), line).returncode == 0
    refused = join(node, line)
    assert refused.returncode == REFUSED
    assert "join token" in refused.stderr
    assert [path for path in node.files() if not path.startswith(("/opt", "/local"))] == []
    assert "iotide-agent:" not in node.read("/etc/passwd")
    assert join(node, server.join_line()).returncode == 0


def test_another_authority_gets_no_token(node: BareNode, server: HandingServer, attacker: Interceptor) -> None:
    line = server.join_line()
    before = node.files()
    refused = join(node, line.replace(server.url, attacker.url))
    assert refused.returncode == REFUSED
    assert "is not the server of the token, or the connection is intercepted; nothing was sent to it" in refused.stderr
    assert_untouched(node, before, line, attacker)
    assert [request.split()[1] for request in attacker.requests] == ["/agent/join.sh", "/agent/ca.crt"]


def test_another_host_with_the_servers_certificate_gets_no_token(
    node: BareNode, server: HandingServer, attacker: Interceptor
) -> None:
    attacker.answers["/agent/ca.crt"] = server.ca_file.read_bytes()
    line = server.join_line()
    before = node.files()
    refused = join(node, line.replace(server.url, attacker.url))
    assert refused.returncode == REFUSED
    assert "certificate" in refused.stderr
    assert_untouched(node, before, line, attacker)
    assert [request.split()[1] for request in attacker.requests] == ["/agent/join.sh", "/agent/ca.crt"]


def test_a_changed_script_is_not_run(node: BareNode, server: HandingServer, attacker: Interceptor) -> None:
    attacker.answers["/agent/join.sh"] = b"touch /scratch/owned\n" + attacker.answers["/agent/join.sh"]
    line = server.join_line()
    before = node.files()
    refused = join(node, line.replace(server.url, attacker.url))
    assert refused.returncode == 1
    assert "join.sh: FAILED" in refused.stdout
    assert_untouched(node, before, line, attacker)
    assert [request.split()[1] for request in attacker.requests] == ["/agent/join.sh"]


def test_a_changed_bundle_is_not_unpacked(node: BareNode, server: HandingServer) -> None:
    bundle = server.files / "iotide-agent.tar"
    whole = bundle.read_bytes()
    line = server.join_line()
    before = node.files()
    try:
        write_bundle(bundle, {"added": "by somebody who can write the server's files\n"})
        assert fetched(server, "iotide-agent.tar") != whole
        refused = join(node, line)
    finally:
        bundle.write_bytes(whole)
    assert refused.returncode == REFUSED
    assert "the agent is not the one of this script" in refused.stderr
    assert node.files() == before
    assert "iotide-agent:" not in node.read("/etc/passwd")


def test_an_expired_token_ends_before_the_host_is_changed(node: BareNode, server: HandingServer) -> None:
    line = server.join_line()
    server.expire_tokens()
    refused = join(node, line)
    assert refused.returncode == REFUSED
    assert "expired" in refused.stderr
    assert [path for path in node.files() if not path.startswith(("/opt", "/local"))] == []
    assert "iotide-agent:" not in node.read("/etc/passwd")
    assert join(node, server.join_line()).returncode == 0


def test_a_host_with_the_package_gets_no_second_agent(node: BareNode, server: HandingServer) -> None:
    script = fetched(server, "join.sh").decode()
    for place in ("package=/usr/lib/iotide-agent/bin/iotide-agent\n", "program=/usr/bin/iotide-agent\n"):
        assert place in script
        script = script.replace(place, place.replace("/usr/", "/opt/packaged/"))
    (node.root / "join.sh").write_text(script)
    write_agent(node.root / "opt/packaged/bin/iotide-agent")
    write_agent(node.root / "opt/packaged/lib/iotide-agent/bin/iotide-agent")
    before = [path for path in node.files() if path.startswith(("/opt", "/local"))]
    node.pretend_systemd()
    done = node.run("sh", "/join.sh", server.url, "/scratch/iotide", typed=f"{token_in(server.join_line())}\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "join: /opt/packaged/bin/iotide-agent of the installed package is used" in done.stdout
    assert "ready   identity: node " in done.stdout
    assert [path for path in node.files() if path.startswith(("/opt", "/local"))] == [*before, "/local/bin/systemctl"]
    unit = node.read("/etc/systemd/system/iotide-agent.service")
    assert "ExecStart=/opt/packaged/bin/iotide-agent run" in unit


def test_the_script_looks_for_the_agent_where_the_package_has_it() -> None:
    packaged = (TOP / "deploy/packages/agent.yaml").read_text()
    assert "dst: /usr/lib/iotide-agent, type: tree" in packaged
    assert "dst: /usr/bin/iotide-agent, type: symlink" in packaged


def test_an_agent_that_was_installed_in_another_way_stays(node: BareNode, server: HandingServer) -> None:
    (node.root / "opt/iotide-agent/bin").mkdir(parents=True)
    before = node.files()
    refused = join(node, server.join_line())
    assert (refused.returncode, node.files()) == (REFUSED, before)
    assert "/opt/iotide-agent was installed in another way" in refused.stderr


def assert_untouched(node: BareNode, before: object, line: str, attacker: Interceptor) -> None:
    assert node.files() == before
    assert "iotide-agent:" not in node.read("/etc/passwd")
    secret = token_in(line).partition(".")[0]
    assert [request for request in attacker.requests if secret in request] == []


@pytest.mark.parametrize(
    ("arguments", "typed", "sentence"),
    [
        ("", "token.-\n", "usage: echo TOKEN | sh join.sh"),
        ("URL scratch", "token.-\n", "scratch: give directories by absolute paths"),
        ("URL /scratch/iotide", "", "there is no token on standard input"),
        ("URL /scratch/iotide", "token", "the token is incomplete"),
        ("https://127.0.0.1:1 /scratch/iotide", f"secret.{'0' * 64}", "does not answer; check its address"),
    ],
)
def test_a_wrong_call_is_explained(
    node: BareNode, server: HandingServer, arguments: str, typed: str, sentence: str
) -> None:
    (node.root / "join.sh").write_bytes(fetched(server, "join.sh"))
    before = node.files()
    refused = node.run("sh", "/join.sh", *arguments.replace("URL", server.url).split(), typed=typed)
    assert (refused.returncode, node.files()) == (REFUSED, before)
    assert sentence in refused.stderr
