"""`iotide-agent` on the command line: output and exit status."""

import json
import os
import pty
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from agent.agent_rig import JOIN_TOKEN, AgentRig
from typer.testing import CliRunner, Result

from iotide_agent.cli.agent import app
from iotide_agent.node.identity import load_identity
from iotide_agent.node.pinning import PinError, pinned_authority
from iotide_server.bundled.privileges import account_of
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.bundled.state import prepare_state_directory
from iotide_server.bundled.tls import fingerprint, prepare_certificates


@pytest.fixture
def stopped_agent(tmp_path: Path, redis_server: PrivateRedis) -> Iterator[AgentRig]:
    """Return an enrolled agent that is not running."""
    with AgentRig(tmp_path, redis_server) as rig:
        yield rig


def run(rig: AgentRig, *arguments: str, typed: str = "") -> Result:
    return CliRunner().invoke(app, [*arguments, "--config", str(rig.config)], input=typed)


def test_enroll_keeps_an_identity_that_only_its_user_can_read(stopped_agent: AgentRig) -> None:
    assert (stopped_agent.state / "identity.json").stat().st_mode & 0o777 == 0o600
    again = run(stopped_agent, "enroll", "--replace", "--json", typed=f"{JOIN_TOKEN}\n")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["node_name"] == "node-1"


def test_an_identity_of_a_newer_agent_is_refused_with_the_remedy_and_kept(stopped_agent: AgentRig) -> None:
    file = stopped_agent.state / "identity.json"
    newer = json.dumps(json.loads(file.read_text()) | {"added_later": True})
    file.write_text(newer)
    refused = run(stopped_agent, "run")
    assert refused.exit_code == 2
    assert "added_later" in refused.stderr
    assert "install the newer agent again if one wrote it, or enrol this node again" in refused.stderr
    assert file.read_text() == newer


def test_a_setting_of_a_newer_agent_is_named_and_kept(stopped_agent: AgentRig) -> None:
    newer = f"added_later = true\n{stopped_agent.config.read_text()}"
    stopped_agent.config.write_text(newer)
    refused = run(stopped_agent, "run")
    assert refused.exit_code == 2
    assert "added_later" in refused.stderr
    assert stopped_agent.config.read_text() == newer


def test_a_join_token_may_stand_in_the_command_as_in_that_of_an_older_server(stopped_agent: AgentRig) -> None:
    assert run(stopped_agent, "enroll", "--join-token", JOIN_TOKEN, "--replace").exit_code == 0


def test_a_join_token_is_asked_for_at_a_terminal_and_not_shown(stopped_agent: AgentRig) -> None:
    (stopped_agent.state / "identity.json").unlink()
    ours, its = pty.openpty()
    command = [sys.executable, "-c", "from iotide_agent.cli.agent import main; main()", "enroll"]
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *command, "--config", str(stopped_agent.config)],
        stdin=its, stdout=its, stderr=its,
    )  # fmt: skip
    os.close(its)
    shown = b""
    with suppress(OSError):  # the terminal's end
        while part := os.read(ours, 4096):
            if b"Join token: " in shown + part and b"Join token: " not in shown:
                os.write(ours, f"{JOIN_TOKEN}\n".encode())
            shown += part
    os.close(ours)
    assert process.wait(20) == 0, shown
    assert JOIN_TOKEN.encode() not in shown
    assert load_identity(stopped_agent.state).node_name == "node-1"


@pytest.mark.parametrize(
    ("token", "arguments", "sentence"),
    [
        (JOIN_TOKEN, (), "this host is already enrolled"),
        ("", ("--replace",), "pass it on standard input: echo TOKEN | iotide-agent enroll"),
        ("0123456789abcdef", ("--replace",), "the join token is incomplete"),
        ("short.-", ("--replace",), "should have at least 16 characters"),
        ("0123456789abcdef.abcd", ("--replace",), "use https://"),
    ],
)
def test_a_bad_enrolment_is_explained(
    stopped_agent: AgentRig, token: str, arguments: tuple[str, ...], sentence: str
) -> None:
    refused = run(stopped_agent, "enroll", *arguments, typed=token)
    assert refused.exit_code == 2
    assert sentence in refused.stderr


def test_an_agent_that_is_not_enrolled_says_how_to(stopped_agent: AgentRig) -> None:
    (stopped_agent.state / "identity.json").unlink()
    refused = run(stopped_agent, "run")
    assert refused.exit_code == 2
    assert "echo TOKEN | iotide-agent enroll --server URL" in refused.stderr


def test_a_bad_configuration_is_named(stopped_agent: AgentRig) -> None:
    stopped_agent.write_config(approved_directories='["/"]')
    for command in ("run", "check"):
        refused = run(stopped_agent, command)
        assert refused.exit_code == 2
        assert "approved_directories.0 = '/'" in refused.stderr


def test_check_finds_a_ready_node_ready(stopped_agent: AgentRig) -> None:
    checked = run(stopped_agent, "check", "--json")
    findings = {finding["name"]: finding for finding in json.loads(checked.stdout)}
    assert {finding["state"] for finding in findings.values()} <= {"ready", "limited"}, checked.stdout
    assert checked.exit_code == 0
    assert {"identity", "server", "clock", "memory", str(stopped_agent.target), "dd", "fio"} <= set(findings)


def test_check_reports_missing_parts_with_remedies(stopped_agent: AgentRig) -> None:
    stopped_agent.gateway.close()
    stopped_agent.target.rmdir()
    checked = run(stopped_agent, "check")
    assert checked.exit_code == 1
    assert "missing server:" in checked.stdout
    assert (
        f"remedy: create it and give this user write access: install -d -m 0700 {stopped_agent.target}"
        in checked.stdout
    )


def test_check_reports_a_pending_node_and_its_fingerprint(stopped_agent: AgentRig) -> None:
    stopped_agent.gateway.pending_until = datetime(2026, 11, 28, 10, tzinfo=UTC)
    checked = run(stopped_agent, "check")
    assert checked.exit_code == 1
    fingerprint = load_identity(stopped_agent.state).fingerprint
    assert f"token fingerprint {fingerprint}: pending approval until 2026-11-28 10:00 UTC" in checked.stdout


def test_check_says_how_to_close_a_directory_that_is_open_to_others(stopped_agent: AgentRig) -> None:
    stopped_agent.target.chmod(0o777)
    checked = run(stopped_agent, "check")
    assert checked.exit_code == 1
    assert f"missing {stopped_agent.target}: " in checked.stdout
    assert f"remedy: chmod go-w {stopped_agent.target}" in checked.stdout


def test_check_warns_of_a_run_that_could_fill_the_agents_own_disk(stopped_agent: AgentRig) -> None:
    checked = run(stopped_agent, "check")
    assert f"limited state directory: {stopped_agent.state} shares its file system with {stopped_agent.target}" in (
        checked.stdout
    )


class _Silent(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def _tls_server(base: Path) -> Iterator[tuple[str, str]]:
    """Start a server with certificates as `iotide-server up --listen` makes them; return its URL and CA."""
    state = prepare_state_directory(base, account_of(os.geteuid()))
    files = prepare_certificates(state, names=(), now=datetime.now(UTC))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.chain, files.key)
    server = HTTPServer(("127.0.0.1", 0), _Silent)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}", files.ca.read_text()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_server_is_believed_by_the_fingerprint_of_its_authority(tmp_path: Path) -> None:
    with _tls_server(tmp_path) as (url, ca_pem):
        pinned = pinned_authority(url, f"0123456789abcdef.{fingerprint(ca_pem)}")
        assert pinned is not None
        assert fingerprint(pinned) == fingerprint(ca_pem)


def test_a_server_with_another_authority_is_refused(tmp_path: Path) -> None:
    with _tls_server(tmp_path) as (url, _), pytest.raises(PinError, match="this is another server"):
        pinned_authority(url, f"0123456789abcdef.{'0' * 64}")


def test_a_server_that_does_not_answer_is_named() -> None:
    with pytest.raises(PinError, match="does not answer"):
        pinned_authority("https://127.0.0.1:1", f"0123456789abcdef.{'0' * 64}")
