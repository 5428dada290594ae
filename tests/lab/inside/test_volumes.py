"""Volumes of several disks and file systems that no container has: facts, small runs, and the guard after
unmounting.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pytest
from lab.agents import Job
from lab.inside.volumes import DISKS, MOUNT_POINT, Volume, disk, lvm_stripe, mounted, raid
from lab.nodes import JOBS, Node, assert_declined, assert_measured, highest, system

from iotide_wire.facts import FactValue
from iotide_wire.measured import FlagCode
from iotide_wire.units import KIB, MIB

XFS: Final = ("mkfs.xfs", "-q", "-f")

SCENARIOS: Final[Mapping[str, tuple[Volume, Sequence[str], str, Mapping[str, FactValue]]]] = {
    "lvm-stripe": (
        lvm_stripe,
        XFS,
        "noatime",
        {
            "mount.fstype": "xfs",
            "device.kind": "dm lvm",
            "device.stack": "dm lvm / 3 x disk",
            "lvm.name": "lab-stripe",
            "lvm.target": "striped",
            "lvm.stripe_count": 3,
            "lvm.chunk_bytes": 256 * KIB,
            "lvm.stripe_width_bytes": 768 * KIB,
            "xfs.stripe_unit_bytes": 256 * KIB,
            "xfs.stripe_width_bytes": 768 * KIB,
            "fs.stripe_fits_device": True,
        },
    ),
    "md-raid0": (
        raid(0, 128),
        XFS,
        "noatime",
        {
            "device.stack": "md raid0 / 3 x disk",
            "md.level": "raid0",
            "md.chunk_bytes": 128 * KIB,
            "md.disk_count": 3,
            "md.stripe_width_bytes": 384 * KIB,
            "xfs.stripe_unit_bytes": 128 * KIB,
            "xfs.stripe_width_bytes": 384 * KIB,
            "fs.stripe_fits_device": True,
        },
    ),
    "md-raid5": (
        raid(5, 64),
        ("mkfs.ext4", "-q", "-F"),
        "noatime",
        {
            "device.stack": "md raid5 / 3 x disk",
            "md.level": "raid5",
            "md.chunk_bytes": 64 * KIB,
            "md.degraded_count": 0,
            "md.stripe_width_bytes": 128 * KIB,
            "ext.stripe_unit_bytes": 64 * KIB,
            "ext.stripe_width_bytes": 128 * KIB,
            "fs.stripe_fits_device": True,
        },
    ),
    "ext3-data-journal": (
        disk,
        ("mkfs.ext3", "-q", "-F"),
        "noatime,data=journal",
        {"mount.fstype": "ext3", "device.kind": "disk", "ext.stripe_unit_bytes": 0},
    ),
    "jfs": (
        disk,
        ("mkfs.jfs", "-q"),
        "noatime",
        {"mount.fstype": "jfs", "jfs.block_bytes": 4096, "jfs.sector_bytes": 512, "jfs.log": "internal"},
    ),
    "reiserfs": (
        disk,
        ("mkfs.reiserfs", "-q", "-ff"),
        "noatime",
        {
            "mount.fstype": "reiserfs",
            "reiserfs.block_bytes": 4096,
            "reiserfs.format": "3.6",
            "reiserfs.journal": "standard",
            "reiserfs.hash": "r5",
        },
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_facts_run_and_guard(name: str, make_node: Callable[..., Node]) -> None:
    volume, mkfs, options, expected = SCENARIOS[name]
    node = make_node(MOUNT_POINT)
    with mounted(volume, mkfs, options) as device:
        before = node.files()
        answer = node.run()
        facts = answer.mount.facts
        assert {fact: facts.get(fact) for fact in expected} == expected
        assert set(options.split(",")) <= set(answer.mount.mount_options.split(","))
        assert facts["fs.identity_scope"] == "node"
        assert str(facts["fs.identity"]).startswith(f"{answer.mount.fstype}:")
        if answer.mount.fstype == "ext3":
            assert "data=journal" in str(facts["ext.options"]).split(",")
        assert_measured(answer)
        assert node.files() == before
        node.unmount()
        assert_declined(node.run(JOBS[:1], target=answer.target), "wrong_mount")
        assert node.files() == []
        system(*mkfs, device)
        system("mount", device, str(MOUNT_POINT))
        assert_declined(node.run(JOBS[:1], target=answer.target), "wrong_mount")
        assert node.files() == before


def test_the_cost_of_parity_is_counted_and_a_lost_disk_is_reported(make_node: Callable[..., Node]) -> None:
    node = make_node(MOUNT_POINT)
    job = Job("dd", {"file_size_bytes": 128 * MIB, "block_size_bytes": MIB, "operations": ["write"]})
    with mounted(raid(5, 64), XFS, "noatime") as device:
        whole = node.run([job])
        assert_measured(whole)
        assert highest(whole.results[0], "raid_cpu_ratio") > 0
        assert FlagCode.DEGRADED not in {flag.code for flag in whole.results[0].flags}
        system("mdadm", device, "--fail", DISKS[1])
        degraded = node.run([job], target=whole.target)
        assert_measured(degraded)
        reported = [flag.measured for flag in degraded.results[0].flags if flag.code is FlagCode.DEGRADED]
        assert reported == [f"at the {when} of the run: md0: 1 of its disks missing" for when in ("start", "end")]
