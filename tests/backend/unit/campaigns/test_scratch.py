"""Block `scratch` of a plan: stages in order, canonical variants, and every combination that cannot be made."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from factories.raised import raised
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.campaigns.errors import (
    CAMPAIGN_TOO_LARGE,
    NO_WORKLOAD_NAMES_IT,
    REPEATED_ENTRY,
    SCRATCH_AND_ADAPTIVE,
    SCRATCH_AND_STAGES,
    SCRATCH_EMPTY,
    SCRATCH_IMPOSSIBLE,
    SCRATCH_ROUNDS,
    SCRATCH_TARGET,
    SCRATCH_TOO_LARGE,
    STAGE_NOT_IN_PLAN,
)
from iotide_server.campaigns.resolved import ResolvedPlan, resolve
from iotide_server.campaigns.scratch.estimate import DiskRates, all_make_seconds, make_seconds
from iotide_server.campaigns.scratch.expansion import AnnouncedSet, Expansion, combination_count, expand
from iotide_wire.geometry import Blocks
from iotide_wire.plan import MOST_VARIANT_CHARACTERS, CampaignPlan
from iotide_wire.scratch_plan import ScratchPlan
from iotide_wire.scratch_vocabulary import Filesystem, LayoutKind
from iotide_wire.striping import parse_layout
from iotide_wire.units import GIB, MIB

RAID5 = {"raid": 5, "disks": 4, "chunk": "64 KiB"}


def block(**changes: object) -> dict[str, object]:
    return {"node": "storage01", "set": "bays", "layouts": [RAID5], "filesystems": ["ext4"], "rounds": 1, **changes}


def plan(scratch: dict[str, object], **changes: object) -> CampaignPlan:
    values: dict[str, Any] = {
        "name": "local",
        "cluster": "blade",
        "nodes": ["storage01"],
        "targets": ["storage01/bays"],
        "workloads": [{"workload": "dd"}],
        "scratch": scratch,
    }
    return CampaignPlan.model_validate({**values, **changes})


def expanded(known: AnnouncedSet | None = None, **changes: object) -> Expansion:
    return expand(ScratchPlan.model_validate(block(**changes)), known or AnnouncedSet())


def variants(resolved: ResolvedPlan) -> list[str]:
    return [stage.variant for stage in resolved.stages]


def test_combinations_are_stages_with_layouts_outermost() -> None:
    resolved = resolve(
        plan(
            block(
                layouts=["single", RAID5],
                filesystems=[{"ext3": {"data": ["ordered", "journal"]}}, "xfs"],
                options=["default", "unaligned"],
                mount=["noatime"],
            )
        )
    )
    assert variants(resolved) == [
        "single / ext3 data=ordered / default / noatime",
        "single / ext3 data=ordered / unaligned / noatime",
        "single / ext3 data=journal / default / noatime",
        "single / ext3 data=journal / unaligned / noatime",
        "single / xfs / default / noatime",
        "single / xfs / unaligned / noatime",
        "raid5 4x64K / ext3 data=ordered / default / noatime",
        "raid5 4x64K / ext3 data=ordered / unaligned / noatime",
        "raid5 4x64K / ext3 data=journal / default / noatime",
        "raid5 4x64K / ext3 data=journal / unaligned / noatime",
        "raid5 4x64K / xfs / default / noatime",
        "raid5 4x64K / xfs / unaligned / noatime",
    ]
    assert [block.variant for block in resolved.blocks()] == variants(resolved)
    assert resolved.run_count == 12 * 4


def test_a_stage_describes_its_make_completely() -> None:
    [stage] = expanded(
        layouts=[RAID5 | {"bitmap": "internal"}],
        filesystems=[{"ext3": {"data": "journal"}}],
        options=["aligned"],
        mount=["noatime,commit=30"],
        precondition="discard",
        sync="assume_clean",
        size_percent=50,
        fill="80 %",
    ).stages
    assert stage.variant == (
        "raid5 4x64K bitmap / ext3 data=journal / aligned / commit=30,noatime / size 50 % / fill 80 %"
    )
    assert stage.make.model_dump(mode="json", exclude_defaults=True) == {
        "layout": {
            "kind": "md",
            "disks": 4,
            "level": "raid5",
            "chunk_bytes": 65536,
            "bitmap": "internal",
            "sync": "assume_clean",
        },
        "fs": {"type": "ext3", "align": "aligned", "data": "journal", "discard": True, "size_percent": 50},
        "mount": {"commit": 30, "noatime": True},
    }
    assert stage.blocks == Blocks(16, 48)


def test_each_second_round_runs_in_reverse_and_makes_its_layouts_again() -> None:
    stages = expanded(layouts=["single", "raid0 2x64K"], filesystems=["ext4", "xfs"], rounds=3).stages
    forwards = [stage.variant for stage in stages[:4]]
    assert [stage.variant for stage in stages] == [*forwards, *reversed(forwards), *forwards]
    assert [stage.round for stage in stages] == [1] * 4 + [2] * 4 + [3] * 4


def test_rounds_share_the_repeats() -> None:
    resolved = resolve(plan(block(rounds=2, layouts=["single", RAID5]), repeats=4))
    assert len(resolved.stages) == 4
    assert resolved.repeats == 2
    assert resolved.run_count == 2 * 4
    with raised(SCRATCH_ROUNDS, match="2 rounds cannot share 5 repeats"):
        resolve(plan(block(rounds=2), repeats=5))
    with raised(SCRATCH_AND_ADAPTIVE, match="2 rounds"):
        resolve(plan(block(rounds=2), repeats={"until": "3 %"}))
    assert resolve(plan(block(), repeats={"until": "3 %"})).repeats == 40


orders = st.permutations(list(RAID5.items()))


@given(orders, st.from_regex(r"[a-z][a-z0-9]{0,9}", fullmatch=True))
def test_order_of_keys_and_name_of_the_set_change_no_variant(keys: list[tuple[str, object]], name: str) -> None:
    usual = expanded(mount=["noatime,commit=30"]).stages
    renamed = expanded(layouts=[dict(keys)], set=name, mount=["commit=30, noatime"]).stages
    assert [stage.variant for stage in renamed] == [stage.variant for stage in usual]
    assert [stage.make for stage in renamed] == [stage.make for stage in usual]


def test_texts_and_parts_of_one_layout_are_one_variant() -> None:
    [parts] = expanded(layouts=[{"lvm": "linear", "on": RAID5}]).stages
    [text] = expanded(layouts=["lvm-linear/raid5:4x64K"]).stages
    assert parts == text
    assert parse_layout(parts.variant.split(" / ")[0]) == parts.make.layout.layout


def test_a_profile_of_btrfs_gets_the_disks_themselves() -> None:
    found = expanded(layouts=[{"disks": 4}], filesystems=[{"btrfs": "raid10"}, {"btrfs": "raid1"}, "ext4"])
    assert [stage.variant for stage in found.stages] == [
        "btrfs raid10 4 / btrfs / default / defaults",
        "btrfs raid1 4 / btrfs / default / defaults",
    ]
    assert found.stages[0].make.layout.kind is LayoutKind.BTRFS
    assert [cell.variant for cell in found.impossible] == ["disks 4 / ext4 / default / defaults"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"layouts": ["single"], "options": ["aligned"]}, "single has no stripe; use default"),
        ({"layouts": ["raid1 2"], "options": ["aligned"]}, "raid1 2 has no stripe"),
        ({"filesystems": ["jfs"], "options": ["aligned"]}, "mkfs.jfs has no option for stripes"),
        ({"filesystems": ["btrfs"], "options": ["unaligned"]}, "mkfs.btrfs has no option for stripes"),
        ({"filesystems": [{"xfs": {"data": "journal"}}]}, "xfs has no mount option data"),
        ({"filesystems": ["xfs"], "mount": ["nobarrier"]}, "xfs has no mount option 'nobarrier'"),
        ({"mount": ["commit=9000"]}, "a whole number of 1 to 900"),
        ({"filesystems": [{"btrfs": "raid1"}]}, "btrfs raid1 needs the disks themselves, not raid5 4x64K"),
        ({"layouts": [{"disks": 2}]}, "ext4 takes one device, not disks 2"),
        ({"layouts": [{"disks": 2}], "filesystems": [{"btrfs": "raid6"}]}, "use at least 4"),
        (
            {"layouts": ["lvm-stripe:3x256K/raid5:4x64K"], "options": ["aligned"]},
            "use 1, 2, 4 or 8 data disks instead of 3",
        ),
    ],
)
def test_what_cannot_be_made_is_rejected_by_name(changes: dict[str, Any], reason: str) -> None:
    found = expanded(**changes)
    assert not found.stages
    [cell] = found.impossible
    assert reason in cell.reason
    with raised(SCRATCH_EMPTY) as caught:
        resolve(plan(block(**changes)))
    assert reason in caught.value.message


@pytest.mark.parametrize(
    ("known", "changes", "reason"),
    [
        (AnnouncedSet(disk_bytes=[GIB] * 3), {}, "raid5 4x64K needs 4 disks, but the set has 3"),
        (
            AnnouncedSet(disk_bytes=[256 * MIB]),
            {"layouts": ["single"], "filesystems": ["xfs"]},
            "xfs default needs 300 MiB",
        ),
        (AnnouncedSet(disk_bytes=[150 * MIB] * 4), {"filesystems": ["xfs"], "options": ["aligned"]}, "needs 600 MiB"),
        (AnnouncedSet(filesystems=frozenset({Filesystem.XFS})), {}, "the node cannot make or mount ext4"),
    ],
)
def test_what_the_node_announced_is_checked(known: AnnouncedSet, changes: dict[str, Any], reason: str) -> None:
    [cell] = expanded(known, **changes).impossible
    assert reason in cell.reason
    assert not expanded(AnnouncedSet([GIB] * 4, frozenset(Filesystem)), **changes).impossible


def test_all_impossible_combinations_are_listed_or_left_out() -> None:
    given_block = block(layouts=["single", RAID5], filesystems=["ext4", "jfs"], options=["default", "aligned"])
    with raised(SCRATCH_IMPOSSIBLE, match="3 of 8 combinations") as caught:
        resolve(plan(given_block))
    for variant in ("single / ext4 / aligned", "single / jfs / aligned", "raid5 4x64K / jfs / aligned"):
        assert variant in caught.value.message
    resolved = resolve(plan(given_block | {"except_impossible": True}))
    assert len(resolved.stages) == 5
    assert resolved.expansion is not None
    assert resolved.expansion.impossible_by_reason() == {
        "single has no stripe; use default": ["single / ext4 / aligned / defaults"],
        "mkfs.jfs has no option for stripes; use default": [
            "single / jfs / aligned / defaults",
            "raid5 4x64K / jfs / aligned / defaults",
        ],
    }


def test_equal_geometry_is_named() -> None:
    found = expanded(
        layouts=[RAID5, "raid1 2"], filesystems=["ext4", "jfs"], options=["default", "aligned", "unaligned"]
    )
    assert list(found.same_geometry()) == [
        "default and aligned make the same ext4 on raid5 4x64K (stripe unit 16, width 48 blocks)",
        "default and unaligned make the same ext4 on raid1 2 (no stripes)",
    ]


def test_a_small_xfs_is_not_the_same_with_and_without_the_option() -> None:
    small = AnnouncedSet(disk_bytes=[300 * MIB] * 4)
    assert not list(expanded(small, filesystems=["xfs"], options=["default", "aligned"]).same_geometry())
    assert list(expanded(filesystems=["xfs"], options=["default", "aligned"]).same_geometry())


def test_workloads_choose_generated_variants() -> None:
    chosen = "raid5 4x64K / ext4 / default / defaults"
    both = block(layouts=["single", RAID5])
    workloads = [{"workload": "dd"}, {"workload": "fio", "variants": [chosen]}]
    resolved = resolve(plan(both, workloads=workloads))
    assert [workload.stages for workload in resolved.workloads] == [[1, 2], [2]]
    with raised(STAGE_NOT_IN_PLAN):
        resolve(plan(both, workloads=[{"workload": "dd", "variants": ["raid5"]}]))
    with raised(NO_WORKLOAD_NAMES_IT, match="no workload of the plan uses single / ext4 / default / defaults"):
        resolve(plan(both, workloads=[{"workload": "dd", "variants": [chosen]}]))


def test_targets_may_be_missing_before_the_first_make() -> None:
    resolved = resolve(plan(block()))
    assert resolved.confirmed_from == {("storage01", "storage01/bays"): 1}


def test_only_the_set_of_the_block_is_a_target() -> None:
    with raised(SCRATCH_TARGET, match="storage01/other"):
        resolve(plan(block(), targets=["storage01/other"]))
    with raised(SCRATCH_TARGET, match="storage01/bays"):
        resolve(CampaignPlan.model_validate(plan(block()).model_dump() | {"scratch": None}))


def test_stages_and_scratch_exclude_each_other() -> None:
    with raised(SCRATCH_AND_STAGES):
        resolve(plan(block(), stages=[{"variant": "ext3"}]))


def test_a_combination_is_named_once() -> None:
    with raised(REPEATED_ENTRY, match="single / ext4 / default / defaults is listed twice"):
        resolve(plan(block(layouts=["single", {"disks": 1}])))


def test_limits_hold_before_anything_is_expanded() -> None:
    many = [f"raid0 {disks}x{size}K" for disks in range(2, 22) for size in (64, 128)]
    names = ["ext2", "ext3", "ext4", "xfs", "f2fs"]
    scratch = block(layouts=many, filesystems=names, options=["default", "aligned", "unaligned"], rounds=4)
    assert combination_count(ScratchPlan.model_validate(scratch)) == 40 * 5 * 3
    with raised(SCRATCH_TOO_LARGE, match="2400 stages"):
        resolve(plan(scratch))
    usual = scratch | {"rounds": 2, "except_impossible": True}
    assert len(resolve(plan(usual)).stages) == 2 * 40 * (4 * 3 + 1)
    with raised(CAMPAIGN_TOO_LARGE):
        resolve(plan(usual, repeats=1000))


def test_the_longest_variant_can_be_named_in_a_plan() -> None:
    lvm = {"lvm": "stripe", "chunk": "256 KiB", "arrays": 16, "on": RAID5 | {"bitmap": "internal"}}
    mount = "noatime,nodiratime,lazytime,nobarrier,commit=900,nodelalloc,noauto_da_alloc,dioread_nolock"
    names = [{"ext4": {"data": "writeback"}}]
    [stage] = expanded(layouts=[lvm], filesystems=names, mount=[mount], size_percent=50, fill="80.125 %").stages
    workloads = [{"workload": "dd", "variants": [stage.variant]}]
    assert len(stage.variant) > 180
    assert len(stage.variant) + 100 - len(mount) < MOST_VARIANT_CHARACTERS
    scratch = block(layouts=[lvm], filesystems=names, mount=[mount], size_percent=50, fill="80.125 %")
    assert variants(resolve(plan(scratch, workloads=workloads))) == [stage.variant]


RATES = DiskRates(disk_bytes=3 * 10**12, bytes_per_second=150e6)


def seconds(rates: DiskRates = RATES, **changes: object) -> list[Any]:
    scratch = ScratchPlan.model_validate(block(**changes))
    return [make_seconds(scratch, stage, rates) for stage in expand(scratch).stages]


def test_a_resync_takes_the_bytes_of_one_member_at_the_rate_of_a_disk() -> None:
    [raid5] = seconds()
    assert raid5.sync / 3600 == pytest.approx(5.6, abs=0.05)
    fast = DiskRates(3 * 10**12, 2e9)
    assert seconds(fast)[0].sync == pytest.approx(3e12 / (200_000 * 1024))  # speed_limit_max
    assert seconds(layouts=["raid0 4x64K"])[0].sync == 0
    assert seconds(sync="assume_clean")[0].sync == 0
    assert seconds(fast, sync="zeroed")[0].sync == 1500


def test_inode_tables_are_written_by_ext_only() -> None:
    rates = DiskRates(18 * 10**12, 640e6)
    ext, xfs = seconds(rates, layouts=["single"], filesystems=["ext4", "xfs"])
    assert ext.mkfs == pytest.approx(7 * 60 + 20, rel=0.05)  # IceWhaleTech/CasaOS#1102
    assert xfs.mkfs < 10


def test_each_stage_pays_for_its_layout() -> None:
    first, second = seconds(filesystems=["xfs", "jfs"])
    assert first.assemble
    assert (first.assemble, first.sync, first.wipe) == (second.assemble, second.sync, second.wipe)
    scratch = ScratchPlan.model_validate(block(filesystems=["xfs", "jfs"], rounds=2))
    assert all_make_seconds(scratch, expand(scratch).stages, RATES) == pytest.approx(2 * (first.total + second.total))


def test_filling_takes_the_bytes_at_the_rate_of_the_data_disks() -> None:
    [fill] = seconds(layouts=["raid5 4x64K"], fill="50 %", precondition="fill")
    assert fill.fill == pytest.approx((0.5 + 0.85) * 3 * 3e12 / (3 * 150e6))


EXAMPLES = Path(__file__).parents[4] / "examples" / "unattended"


@pytest.mark.parametrize(
    ("name", "stages", "left_out", "chosen"),
    [
        ("experiment-2", 7, 0, "single / ext3 data=writeback / default / defaults"),
        ("experiment-3", 6, 0, "raid10 4x64K / xfs / default / noatime"),
        ("experiment-4", 8, 0, "lvm linear on raid5 5x64K / xfs / aligned / defaults"),
        ("experiment-7", 3, 0, "lvm stripe 3x256K on raid5 5x64K / xfs / default / defaults"),
        ("inaf-disks", 8, 0, "lvm linear 12 / xfs / default / defaults"),
    ],
)
def test_unattended_experiments_make_their_stages_twice(name: str, stages: int, left_out: int, chosen: str) -> None:
    given_plan = CampaignPlan.model_validate(yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text()))
    resolved = resolve(given_plan)
    assert resolved.expansion is not None
    assert (len(resolved.expansion.cells), len(resolved.expansion.impossible)) == (stages, left_out)
    assert len(resolved.stages) == 2 * stages
    assert variants(resolved).count(chosen) == 2
    assert not list(resolved.expansion.same_geometry())
