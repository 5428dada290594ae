"""Identity of a node for the server, and in its marks on shared targets."""

import pytest

from iotide_agent.node.identity import Identity
from iotide_wire.nodes import BrokerAccess


def identity(**changes: object) -> Identity:
    values: dict[str, object] = {
        "server_url": "https://server:8470",
        "node_id": 7,
        "node_name": "n1",
        "node_token": "secret",
        "broker": BrokerAccess(url="redis://server", queue="node.7", ca_pem=None),
        "ca_pem": None,
        "cluster": "blade",
    }
    return Identity.model_validate(values | changes)


def test_node_that_is_enrolled_again_knows_its_marks() -> None:
    assert identity(node_id=8, node_token="another").agent == identity().agent


@pytest.mark.parametrize(
    "changes",
    [{"server_url": "https://other:8470"}, {"cluster": "greentail"}, {"node_name": "n2"}, {"cluster": None}],
)
def test_agents_that_may_share_a_target_have_marks_of_their_own(changes: dict[str, object]) -> None:
    assert identity(**changes).agent != identity().agent


def test_nodes_of_one_name_on_two_hosts_have_marks_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    here = identity().agent
    monkeypatch.setattr("os.uname", lambda: type("Host", (), {"nodename": "another"}))
    assert identity().agent != here


def test_identity_without_a_cluster_is_that_of_its_enrolment_alone() -> None:
    assert identity(cluster=None).agent != identity(cluster=None, node_id=8).agent
    assert "secret" not in identity().agent
