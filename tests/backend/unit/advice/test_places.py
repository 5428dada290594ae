"""Rules about Lustre's stripes, linear volumes and network links."""

import pytest
from factories.advised import advice_of, cell, measured, numbers, places, rate, site

from iotide_server.advice.findings import Fine, Severity, Unknown
from iotide_server.advice.rules.linear import linear_volumes
from iotide_server.advice.rules.lustre import unstriped_files
from iotide_server.advice.rules.network import faster_than_links
from iotide_wire.facts import Facts
from iotide_wire.units import MIB

ONE_TARGET: Facts = {"lustre.component_count": 1, "lustre.stripe_count": 1, "lustre.ost_count": 12}
LINEAR: Facts = {"lvm.name": "vg-data", "lvm.target": "linear", "lvm.segment_count": 2, "lvm.device_count": 3}
LINK: Facts = {"network.interface": "eth0", "network.link_bits_per_second": 10**10}


def test_the_default_stripe_count_of_lustre_is_advice_with_the_command_for_more() -> None:
    advice = advice_of(list(unstriped_files(places(site("lustre", ONE_TARGET, mount_point="/my scratch")))))
    assert (advice.code, advice.severity) == ("lustre_one_target", Severity.LOW)
    assert advice.title == "Each new file is on 1 of 12 storage targets"
    assert advice.commands == ("lfs setstripe --stripe-count -1 '/my scratch'",)


@pytest.mark.parametrize(
    "changed",
    [{"lustre.stripe_count": -1}, {"lustre.stripe_count": 4}, {"lustre.component_count": 2}, {"lustre.ost_count": 1}],
)
def test_striped_files_a_composite_layout_and_a_single_target_are_fine(changed: Facts) -> None:
    [found] = unstriped_files(places(site("lustre", ONE_TARGET | changed)))
    assert isinstance(found, Fine)


@pytest.mark.parametrize("missing", ["lustre.component_count", "lustre.ost_count"])
def test_an_unknown_layout_is_not_judged(missing: str) -> None:
    facts = {name: value for name, value in ONE_TARGET.items() if name != missing}
    [found] = unstriped_files(places(site("lustre", facts)))
    assert isinstance(found, Unknown)
    assert list(unstriped_files(places(site("ext4", ONE_TARGET)))) == []


@pytest.mark.parametrize(("target", "words"), [("linear", "Its logical volume"), ("striped, linear", "A part of its")])
def test_a_linear_volume_over_several_disks_is_named(target: str, words: str) -> None:
    advice = advice_of(list(linear_volumes(places(site("xfs", LINEAR | {"lvm.target": target})))))
    assert advice.title.startswith(words)
    assert numbers(advice)["lvm.device_count"] == 3
    assert "--stripes 3 " in advice.commands[0]


@pytest.mark.parametrize("changed", [{"lvm.target": "striped"}, {"lvm.device_count": None}, {"lvm.target": "raid"}])
def test_striped_volumes_and_those_of_one_disk_are_fine(changed: Facts) -> None:
    [found] = linear_volumes(places(site("xfs", LINEAR | changed)))
    assert isinstance(found, Fine)


def test_a_volume_whose_table_only_root_reads_is_not_judged() -> None:
    [found] = linear_volumes(places(site("xfs", {"lvm.name": "vg-data"})))
    assert isinstance(found, Unknown)
    assert list(linear_volumes(places(site("xfs", {})))) == []


def test_a_rate_above_the_link_was_memory() -> None:
    slow, fast = cell(facts=LINK), cell(facts=LINK)
    advice = advice_of(list(faster_than_links(measured(rate(slow, 900e6), rate(fast, 1300e6, operation="read")))))
    assert (advice.code, advice.severity) == ("faster_than_network", Severity.HIGH)
    assert numbers(advice) == {"rate of the network links": 1.25e9, "read": 1300e6}


def test_the_links_of_a_gang_are_added() -> None:
    gang = cell(facts=LINK, nodes=("n1", "n2"))
    [found] = faster_than_links(measured(rate(gang, 2.4e9, nodes="all")))
    assert isinstance(found, Fine)
    assert advice_of(list(faster_than_links(measured(rate(gang, 2.6e9, nodes="all"))))).title.startswith("Faster")


def test_a_local_disk_has_no_link_and_an_unknown_speed_is_not_judged() -> None:
    assert list(faster_than_links(measured(rate(cell(facts={}), 9e9)))) == []
    unknown: Facts = {"network.interface": "eth0", "memory.total_bytes": 64 * MIB}
    [found] = faster_than_links(measured(rate(cell(facts=unknown), 9e9)))
    assert isinstance(found, Unknown)
