"""The page cache under a real systemd: root empties it for the agent's user, and for no other user."""

from collections.abc import Iterator

import pytest
from bare_node import PYTHON, SOURCE, BareNode
from installed.machine import Machine

from iotide_agent.setup.texts import DROP_SERVICE_UNIT, DROP_SOCKET_UNIT, USER, shipped_unit

ASK = "from iotide_agent.runner import caches; print(caches._ask_service())"

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    node = BareNode(tmp_path_factory.mktemp("machine") / "root", has_agent=False)
    running = Machine(node)
    for unit in (DROP_SERVICE_UNIT, DROP_SOCKET_UNIT):
        (node.root / "etc/systemd/system").mkdir(exist_ok=True)
        (node.root / "etc/systemd/system" / unit).write_text(shipped_unit(unit))
    passwd = node.root / "etc/passwd"
    passwd.write_text(f"{passwd.read_text()}{USER}:x:970:970::/nonexistent:/bin/false\n")
    try:
        running.boot()
        started = running.run("systemctl", "start", DROP_SOCKET_UNIT)
        assert started.returncode == 0, started.stderr
        yield running
    finally:
        running.cut_power()


def ask_as(machine: Machine, user_id: int) -> str:
    path = f"PYTHONPATH={SOURCE}/agent/node/src:{SOURCE}/agent/wire/src"
    identity = ("setpriv", f"--reuid={user_id}", f"--regid={user_id}", "--clear-groups", "--no-new-privs")
    asked = machine.run("env", path, *identity, PYTHON, "-S", "-c", ASK)
    return asked.stdout.strip() or asked.stderr


def test_the_agents_user_gets_an_empty_page_cache(machine: Machine) -> None:
    assert ask_as(machine, 970) == "True", machine.run("journalctl", "--no-pager").stdout


def test_another_user_cannot_ask(machine: Machine) -> None:
    assert ask_as(machine, 65534) == "False"


def test_a_failure_to_empty_it_is_not_reported_as_done(machine: Machine) -> None:
    drop_in = machine.node.root / f"etc/systemd/system/{DROP_SERVICE_UNIT}.d"
    drop_in.mkdir()
    (drop_in / "closed.conf").write_text("[Service]\nReadOnlyPaths=/proc/sys/vm/drop_caches\n")
    machine.run("systemctl", "daemon-reload")
    assert ask_as(machine, 970) == "False"
