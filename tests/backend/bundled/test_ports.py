import os
import socket
from pathlib import Path

import pytest
from bring_up import free_port

from iotide_server.bundled import StartError, ports
from iotide_server.bundled.ports import check_port, port_users, unit_of


def test_a_taken_port_is_named_with_the_option_that_changes_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        named = rf"Port {port} on 127.0.0.1 is already in use by \S+ \(process {os.getpid()}\)\."
        with pytest.raises(StartError, match=named) as refused:
            check_port("127.0.0.1", port, option="--redis-port")
    assert "--redis-port" in refused.value.remedy


def test_a_port_with_a_lingering_connection_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            server.accept()[0].close()  # the side that closes first lingers in TIME_WAIT
            client.recv(1)
    check_port("127.0.0.1", port, option="--port")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_port_has_the_processes_that_listen_on_it(address: str) -> None:
    port = free_port()
    assert list(port_users(port)) == []
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, port), family=family):
        assert [user.pid for user in port_users(port)] == [os.getpid()]


def test_a_process_has_the_service_of_its_cgroup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cgroups = {
        "1": "0::/system.slice/iotide.service\n",
        "2": "1:name=systemd:/\n0::/user.slice/user-0.slice/user@0.service/app.slice/shell.scope\n",
        "3": "0::/system.slice/system-nginx.slice/nginx@a.service/worker\n",
    }
    for pid, text in cgroups.items():
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cgroup").write_text(text)
    monkeypatch.setattr(ports, "PROC", tmp_path)
    assert [unit_of(pid) for pid in (1, 2, 3, 4)] == ["iotide.service", None, "nginx@a.service", None]


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(StartError, match=r"192\.0\.2\.1 is not an address of this machine") as refused:
        check_port("192.0.2.1", free_port(), option="--port")
    assert "--listen" in refused.value.remedy


def test_an_unknown_name_is_rejected() -> None:
    with pytest.raises(StartError, match=r"no-such-host\.invalid is not an address of this machine"):
        check_port("no-such-host.invalid", free_port(), option="--port")


def test_a_port_for_root_is_refused_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(StartError, match="Only root can open port 443"):
        check_port("127.0.0.1", 443, option="--port")
