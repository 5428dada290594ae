"""Block `scratch` of a plan: its short forms, and the combinations that it rejects at once."""

import pytest
from pydantic import ValidationError

from iotide_wire.scratch_plan import LayoutChoice, ScratchPlan, mount_options_of, mount_text
from iotide_wire.scratch_vocabulary import Alignment, BtrfsProfile, DataMode, Filesystem, LayoutKind
from iotide_wire.units import KIB

WHOLE: dict[str, object] = {
    "node": "storage01",
    "set": "bays",
    "layouts": ["single"],
    "filesystems": ["ext4"],
}


def scratch(**changes: object) -> ScratchPlan:
    return ScratchPlan.model_validate({**WHOLE, **changes})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("single", "single"),
        ("offset", "offset 63s"),
        ("raid5 4x64K", "raid5 4x64K"),
        ("lvm-stripe:3x256K/raid5:5x64K", "lvm stripe 3x256K on raid5 5x64K"),
        ({"raid": 5, "disks": 4, "chunk": "64 KiB"}, "raid5 4x64K"),
        ({"chunk": 65536, "disks": 4, "raid": 5}, "raid5 4x64K"),
        ({"raid": 1, "disks": 2}, "raid1 2"),
        ({"lvm": "stripe", "disks": 3, "chunk": "256 KiB"}, "lvm stripe 3x256K"),
        ({"lvm": "linear", "disks": 4}, "lvm linear 4"),
        ({"lvm": "linear", "on": {"raid": 5, "disks": 4, "chunk": "64 KiB"}}, "lvm linear on raid5 4x64K"),
        ({"lvm": "linear", True: {"raid": 5, "disks": 4, "chunk": "64 KiB"}}, "lvm linear on raid5 4x64K"),  # YAML 1.1
        (
            {"lvm": "stripe", "chunk": "256 KiB", "arrays": 3, "on": {"raid": 5, "disks": 5, "chunk": "64 KiB"}},
            "lvm stripe 3x256K on raid5 5x64K",
        ),
        ({"disks": 4}, "disks 4"),
        ({"disks": 1}, "single"),
    ],
)
def test_short_forms_have_one_canonical_text(given: object, text: str) -> None:
    choice = LayoutChoice.model_validate(given)
    assert choice.text == text
    assert LayoutChoice.model_validate_json(choice.model_dump_json()) == choice


def test_a_stored_plan_is_read_again() -> None:
    plan = scratch(
        layouts=["single", {"raid": 5, "disks": 4, "chunk": "64 KiB", "bitmap": "internal"}, {"disks": 2}],
        filesystems=["ext2", {"ext3": {"data": ["ordered", "journal"]}}, {"btrfs": "raid1"}],
        options=["default", "aligned", "unaligned"],
        mount=["noatime,commit=30", "defaults"],
        fill="80 %",
        serves="nfs",
    )
    assert ScratchPlan.model_validate_json(plan.model_dump_json()) == plan
    assert plan.fill_ratio == pytest.approx(0.8)
    assert plan.options == list(Alignment)
    assert plan.mount == ["commit=30,noatime", "defaults"]


def test_file_systems_have_short_forms() -> None:
    names = ["xfs", {"ext3": {"data": "journal"}}, {"btrfs": "raid1"}, {"btrfs": {"profile": "raid0"}}]
    found = scratch(filesystems=names).filesystems
    assert scratch(filesystems=[{"ext4": {"type": "xfs"}}]).filesystems[0].type is Filesystem.EXT4
    assert [choice.type for choice in found] == [Filesystem.XFS, Filesystem.EXT3, Filesystem.BTRFS, Filesystem.BTRFS]
    assert found[1].data == [DataMode.JOURNAL]
    assert [choice.profile for choice in found[2:]] == [BtrfsProfile.RAID1, BtrfsProfile.RAID0]


def test_disks_themselves_become_a_layout_with_a_profile() -> None:
    choice = LayoutChoice.model_validate({"disks": 4})
    assert choice.layout(BtrfsProfile.RAID10).kind is LayoutKind.BTRFS
    assert choice.layout(BtrfsProfile.RAID10).text == "btrfs raid10 4"
    array = LayoutChoice.model_validate("raid5 4x64K")
    assert array.layout(BtrfsProfile.RAID1).chunk_bytes == 64 * KIB


@pytest.mark.parametrize(
    ("field", "given", "words"),
    [
        ("layouts", [{"raid": 5, "disks": 4, "chunk": "48 KiB"}], "a chunk of 48K"),
        ("layouts", [{"raid": 5, "disks": 4}], "raid5 needs chunk_bytes"),
        ("layouts", [{"raid": 1, "disks": 2, "chunk": "64 KiB"}], "raid1 has no chunk_bytes"),
        ("layouts", [{"raid": 5, "disks": 2, "chunk": "64 KiB"}], "use at least 3"),
        ("layouts", [{"raid": 4, "disks": 4, "chunk": "64 KiB"}], "0, 1, 5, 6 or 10"),
        ("layouts", [{"raid": 0, "disks": 4, "chunk": "64 KiB", "bitmap": "internal"}], "bitmap: raid0 4x64K has none"),
        ("layouts", [{"raid": 5, "on": {"raid": 1, "disks": 2}, "chunk": "4 KiB"}], "1 disks for raid5"),
        ("layouts", [{"lvm": "linear", "disks": 4, "on": {"raid": 1, "disks": 2}}], "without disks"),
        ("layouts", [{"lvm": "linear", "disks": 4, "arrays": 2}], "add on"),
        ("layouts", [{"disks": 4, "chunk": "64 KiB"}], "have no chunk"),
        ("layouts", [{"disks": 65}], "less than or equal to 64"),
        ("layouts", ["/dev/sda"], "is not a layout"),
        ("layouts", [{"device": "/dev/sda"}], "Extra inputs"),
        ("layouts", ["btrfs-raid1:4"], "write {disks: 4} here, and {btrfs: raid1} in filesystems"),
        ("layouts", [], "at least 1"),
        ("filesystems", ["zfs"], "ext2"),
        ("filesystems", [{"ext4": "raid1"}], "ext4 has none; only btrfs has"),
        ("filesystems", [{"ext4": {"options": "-O quota"}}], "Extra inputs"),
        ("filesystems", [{"ext3": {"data": []}}], "at least 1"),
        ("mount", ["bind"], "'bind' is not a mount option"),
        ("mount", ["data=journal"], "data is set in filesystems"),
        ("mount", ["noatime,noatime"], "noatime is given twice"),
        ("mount", ["noatime;rm"], "match pattern"),
        ("options", ["best"], "default"),
        ("rounds", 0, "greater than or equal to 1"),
        ("rounds", "2", "valid integer"),
        ("fill", "99 %", "less than or equal to 0.85"),
        ("set", "/dev/sda", "match pattern"),
        ("serves", "gluster", "nfs"),
        ("except_impossible", "yes", "valid boolean"),
    ],
)
def test_what_no_node_can_make_is_rejected(field: str, given: object, words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        scratch(**{field: given})
    assert words in str(caught.value)


def test_mount_options_have_one_order() -> None:
    assert mount_options_of("defaults") == {}
    assert mount_options_of("noatime, commit=30") == {"noatime": True, "commit": 30}
    assert mount_text(mount_options_of("logbufs=8,noatime,logbsize=256k")) == "logbsize=256k,logbufs=8,noatime"
