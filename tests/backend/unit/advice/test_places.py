"""Rules about Lustre's stripes, linear volumes and network links."""

from dataclasses import replace

import pytest
from factories.advised import advice_of, cell, measured, numbers, places, rate, site
from factories.recorded import Recorded, mount_at

from iotide_agent.probes.registry import mount_facts
from iotide_server.advice.findings import Advice, Fine, Severity, Unknown
from iotide_server.advice.rules.linear import linear_volumes
from iotide_server.advice.rules.lustre import unstriped_files
from iotide_server.advice.rules.network import faster_than_links
from iotide_server.advice.scene import MountedTarget
from iotide_wire.facts import Facts
from iotide_wire.scratch_vocabulary import LAYOUT_FACT
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


def test_a_linear_volume_that_a_plan_measures_is_information() -> None:
    chosen = LINEAR | {LAYOUT_FACT: "lvm linear 3"}
    assert advice_of(list(linear_volumes(places(site("xfs", chosen))))).severity is Severity.LOW
    other = LINEAR | {LAYOUT_FACT: "lvm stripe 3x256K"}
    assert advice_of(list(linear_volumes(places(site("xfs", other))))).severity is Severity.MEDIUM


@pytest.mark.parametrize(
    ("layout", "devices"),
    [
        ("lvm linear 3", 3),
        ("lvm linear on 2 raid5 3x64K", 2),
        ("lvm linear on 2 raid5 3x64K bitmap", 2),
        ("lvm linear on raid5 3x64K", 1),
        ("lvm stripe 3x256K", 1),
    ],
)
def test_a_volume_that_a_plan_made_is_judged_by_its_layout_where_only_root_reads_the_table(
    layout: str, devices: int
) -> None:
    [found] = linear_volumes(places(site("xfs", {"lvm.name": "iotide-scratch", LAYOUT_FACT: layout})))
    assert isinstance(found, Fine if devices == 1 else Advice)
    if isinstance(found, Advice):
        assert f"linear over {devices} devices" in found.title
        assert found.severity is Severity.LOW


@pytest.mark.parametrize(
    ("rows", "fires"),
    [
        (["linear 8:16 2048"], False),
        (["linear 8:16 2048", "linear 8:16 9000"], False),
        (["linear 8:16 2048", "linear 8:32 2048"], True),
        (["linear 8:16 2048", "linear 8:32 2048", "linear 8:48 2048", "linear 8:64 2048"], True),
        (["striped 4 512 8:16 2048 8:32 2048 8:48 2048 8:64 2048"], False),
    ],
)
def test_a_volume_made_without_stripes_is_found_in_its_table(rows: list[str], *, fires: bool) -> None:
    """`lvcreate` without `-i` on several PVs makes a row for each of them and warns of nothing."""
    top = "/sys/dev/block/253:0"
    table = "".join(f"{1000 * number} 1000 {row}\n" for number, row in enumerate(rows))
    texts = {f"{top}/uevent": "DEVNAME=dm-0\nDEVTYPE=disk\n", f"{top}/dm/name": "vg0-lvs\n", f"{top}/slaves": ""}
    texts |= {f"{top}/dm/uuid": "LVM-abc\n", "dmsetup table vg0-lvs": table}
    facts = mount_facts(mount_at("/mnt/lvs", "mountinfo.lvm.txt"), Recorded(texts))
    [found] = linear_volumes(places(MountedTarget("scratch", "node07", "/mnt/lvs", "/dev/dm-0", facts)))
    assert isinstance(found, Advice) is fires
    if isinstance(found, Advice):
        assert numbers(found)["lvm.segment_bytes"] == ", ".join(["512000"] * len(rows))
        assert numbers(found)["lvm.device_count"] == len(rows)


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


def test_the_rate_of_one_program_is_that_of_all_its_nodes() -> None:
    program = replace(cell(facts=LINK, nodes=("n1", "n2")), is_one_program=True)
    [found] = faster_than_links(measured(rate(program, 2.4e9)))
    assert isinstance(found, Fine)
    assert list(faster_than_links(measured(rate(replace(program, is_one_program=False), 2.4e9)))) == []


def test_a_local_disk_has_no_link_and_an_unknown_speed_is_not_judged() -> None:
    assert list(faster_than_links(measured(rate(cell(facts={}), 9e9)))) == []
    unknown: Facts = {"network.interface": "eth0", "memory.total_bytes": 64 * MIB}
    [found] = faster_than_links(measured(rate(cell(facts=unknown), 9e9)))
    assert isinstance(found, Unknown)
