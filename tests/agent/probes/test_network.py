from functools import partial

import pytest
from factories.recorded import Recorded
from factories.recordings import ethernet

from iotide_agent.probes import network
from iotide_agent.probes.base import gather
from iotide_wire.facts import Facts

ADAPTER = "/sys/class/net/ib0/device/infiniband"
IPOIB = {
    "ip route get 10.9.0.1": "10.9.0.1 dev ib0 src 10.9.0.9 uid 0\n    cache\n",
    "/sys/class/net/ib0/type": "32\n",
    "/sys/class/net/ib0/mtu": "65520\n",
    "/sys/class/net/ib0/mode": "connected\n",
    "/sys/class/net/ib0/dev_port": "1\n",
    ADAPTER: "mlx4_0",
    f"{ADAPTER}/mlx4_0/ports/2/rate": "40 Gb/sec (4X QDR)\n",
}


def way_to(server: str, texts: dict[str, str]) -> Facts:
    return network.facts(server, gather(Recorded(texts), partial(network.wants, server)))


def test_ethernet_reports_its_speed() -> None:
    assert way_to("10.0.0.1", ethernet("10.0.0.1")) == {
        "network.server": "10.0.0.1",
        "network.interface": "eth0",
        "network.link": "ethernet",
        "network.link_bits_per_second": 10 * 10**9,
        "network.mtu_bytes": 9000,
    }


def test_ipoib_takes_its_speed_from_the_port_of_the_adapter() -> None:
    facts = way_to("10.9.0.1", IPOIB)
    assert (facts["network.link"], facts["network.ipoib_mode"]) == ("infiniband", "connected")
    assert facts["network.link_bits_per_second"] == 40 * 10**9


@pytest.mark.parametrize("rate", ["", "fast", "2.5.5 Gb/sec", "999999999999999 Gb/sec"])
def test_rate_that_is_none_is_left_out(rate: str) -> None:
    assert "network.link_bits_per_second" not in way_to("10.9.0.1", IPOIB | {f"{ADAPTER}/mlx4_0/ports/2/rate": rate})


@pytest.mark.parametrize("speed", ["-1\n", "0\n", ""])
def test_link_without_a_speed_has_none(speed: str) -> None:
    facts = way_to("10.0.0.1", ethernet("10.0.0.1") | {"/sys/class/net/eth0/speed": speed})
    assert "network.link_bits_per_second" not in facts


def test_bond_reports_its_mode_and_links() -> None:
    bond = {
        "/sys/class/net/bond0/bonding/mode": "802.3ad 4\n",
        "/sys/class/net/bond0/bonding/slaves": "eth0 eth1\n",
    }
    facts = way_to("10.0.0.1", ethernet("10.0.0.1", "bond0") | bond)
    assert (facts["network.bond_mode"], facts["network.bond_link_count"]) == ("802.3ad", 2)


def test_name_with_several_addresses_leads_the_same_way_each_time() -> None:
    one, other = "10.0.0.2 STREAM nas\n", "10.0.0.1 STREAM\n"
    way = ethernet("10.0.0.1") | {"ip route get 10.0.0.2": "10.0.0.2 dev eth1 src 10.0.0.9\n"}
    assert way_to("nas", way | {"getent ahosts nas": one + other}) == way_to(
        "nas", way | {"getent ahosts nas": other + one}
    )


def test_unknown_server_is_reported() -> None:
    assert way_to("nas", {})["network.interface"] == "unavailable, because nas has no known address"
    assert "ip is not installed" in str(way_to("10.0.0.1", {})["network.interface"])


def test_mount_without_a_server_has_no_network() -> None:
    assert way_to("", {}) == {}
