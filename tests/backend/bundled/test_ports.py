import os
import socket

import pytest
from bring_up import free_port

from iotide_server.bundled import StartError
from iotide_server.bundled.up import check_port


def test_a_taken_port_is_named_with_the_option_that_changes_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(StartError, match=f"Port {port} on 127.0.0.1 is already in use") as refused:
            check_port("127.0.0.1", port, option="--redis-port")
    assert "--redis-port" in refused.value.remedy


def test_a_port_with_a_lingering_connection_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            server.accept()[0].close()  # the side that closes first lingers in TIME_WAIT
            client.recv(1)
    check_port("127.0.0.1", port, option="--port")


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
