"""Address on which a node receives: loopback by default, and never one that the node does not have."""

import socket
from pathlib import Path

import pytest

from iotide_agent.node.config import ConfigError, parse_config
from iotide_agent.node.identity import Identity, save_identity
from iotide_agent.node.receiving import data_address, why_not_here
from iotide_wire.nodes import BrokerAccess

NOT_HERE = "192.0.2.7"
"""Documentation address, which no machine has."""


def identity(server_url: str) -> Identity:
    broker = BrokerAccess(url="redis://127.0.0.1/0", queue="node.1", ca_pem=None)
    return Identity(server_url=server_url, node_id=1, node_name="n1", node_token="secret", broker=broker, ca_pem=None)


def test_no_other_machine_reaches_a_node_without_configuration() -> None:
    assert data_address(parse_config({})) == "127.0.0.1"


def test_a_node_receives_at_the_address_that_it_has() -> None:
    assert data_address(parse_config({"data_address": "127.0.0.2"})) == "127.0.0.2"
    assert why_not_here("127.0.0.2") is None


def test_an_address_of_another_machine_is_none() -> None:
    assert data_address(parse_config({"data_address": NOT_HERE})) is None
    assert why_not_here(NOT_HERE) == "Cannot assign requested address"


@pytest.mark.parametrize("address", ["0.0.0.0", "::1", "eth0", "10.1.0.0/16", "239.1.1.1"])  # noqa: S104
def test_an_address_of_no_interface_is_rejected(address: str) -> None:
    with pytest.raises(ConfigError) as mistake:
        parse_config({"data_address": address})
    assert mistake.value.field == "data_address"
    assert "for instance 10.1.0.7, or auto" in mistake.value.remedy


def test_auto_is_the_address_towards_the_server(tmp_path: Path) -> None:
    config = parse_config({"data_address": "auto", "state_directory": str(tmp_path)})
    assert data_address(config) is None, "no node is enrolled"
    save_identity(tmp_path, identity("http://127.0.0.1:8470"))
    assert data_address(config) == "127.0.0.1"


def test_auto_knows_no_address_towards_a_name_that_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Deaf(socket.socket):
        def connect(self, address: object) -> None:
            raise socket.gaierror(-2, f"nobody knows {address}")

    save_identity(tmp_path, identity("https://iotide.example"))
    monkeypatch.setattr(socket, "socket", Deaf)
    assert data_address(parse_config({"data_address": "auto", "state_directory": str(tmp_path)})) is None
