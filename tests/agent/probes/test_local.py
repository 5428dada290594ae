import pytest
from factories.recorded import Recorded, mount_at, mount_of, sample
from factories.recordings import recordings

from iotide_agent.probes.registry import mount_facts
from iotide_wire.facts import Facts

VDB = {"/sys/dev/block/254:16/uevent": "MAJOR=254\nMINOR=16\nDEVNAME=vdb\nDEVTYPE=disk\n"}


def ext_facts(fstype: str) -> Facts:
    mount = mount_of(fstype, "mountinfo.local.txt")
    texts = VDB | {
        "tune2fs -l /dev/vdb": sample(f"tune2fs-l.{fstype}.txt"),
        "/proc/fs/ext4/vdb/options": sample(f"proc-fs-ext4-options.{fstype}.txt"),
    }
    return mount_facts(mount, Recorded(texts))


def test_ext_reports_options_that_the_mount_hides() -> None:
    facts = ext_facts("ext4")
    assert "data=writeback" in str(facts["ext.options"]).split(",")
    assert "barrier" in str(facts["ext.options"]).split(",")
    assert "barrier" not in str(facts["mount.options"])
    assert "data=journal" in str(ext_facts("ext3")["ext.options"]).split(",")


def test_ext_reports_its_layout_without_changing_values() -> None:
    facts = ext_facts("ext4")
    assert facts["ext.block_bytes"] == 4096
    assert facts["ext.inode_bytes"] == 256
    assert facts["ext.reserved_blocks"] == 13107
    assert "extent" in str(facts["ext.features"]).split(",")
    assert "needs_recovery" not in str(facts["ext.features"])
    assert (facts["ext.stripe_unit_bytes"], facts["ext.stripe_width_bytes"]) == (0, 0)


def test_ext_reports_the_stripe_geometry_that_mkfs_was_given() -> None:
    text = sample("tune2fs-l.ext4.txt") + "RAID stride:              16\nRAID stripe width:        48\n"
    facts = mount_facts(mount_of("ext4", "mountinfo.local.txt"), Recorded(VDB | {"tune2fs -l /dev/vdb": text}))
    assert (facts["ext.stripe_unit_bytes"], facts["ext.stripe_width_bytes"]) == (16 * 4096, 48 * 4096)


@pytest.mark.parametrize(
    ("name", "mount_point", "mountinfo", "unit_bytes", "width_bytes"),
    [
        ("plain", "/mnt/xfs", "mountinfo.local.txt", 0, 0),
        ("lvm-stripe3", "/mnt/lvs", "mountinfo.lvm.txt", 128 * 1024, 384 * 1024),
        ("raid0", "/mnt/md0", "mountinfo.md.txt", 256 * 1024, 768 * 1024),
        ("raid5", "/mnt/md5", "mountinfo.md.txt", 64 * 1024, 128 * 1024),
    ],
)
def test_xfs_stripe_geometry_is_in_bytes(
    name: str, mount_point: str, mountinfo: str, unit_bytes: int, width_bytes: int
) -> None:
    reader = Recorded({f"xfs_info {mount_point}": sample(f"xfs_info.{name}.txt")})
    facts = mount_facts(mount_at(mount_point, mountinfo), reader)
    assert (facts["xfs.stripe_unit_bytes"], facts["xfs.stripe_width_bytes"]) == (unit_bytes, width_bytes)
    assert (facts["xfs.block_bytes"], facts["xfs.inode_bytes"], facts["xfs.sector_bytes"]) == (4096, 512, 512)
    assert (facts["xfs.log"], facts["xfs.log_bytes"]) == ("internal", 16384 * 4096)
    assert facts["xfs.features"] == "bigtime,crc,finobt,inobtcount,lazy-count,reflink,sparse"


def test_xfs_external_log_is_reported() -> None:
    text = sample("xfs_info.plain.txt").replace("internal log ", "/dev/sdz     ")
    mount = mount_of("xfs", "mountinfo.local.txt")
    assert mount_facts(mount, Recorded({"xfs_info /mnt/xfs": text}))["xfs.log"] == "external"


def test_btrfs_reports_profiles_and_devices() -> None:
    reader = Recorded({"btrfs filesystem usage /mnt/btrfs": sample("btrfs-usage.txt")})
    facts = mount_facts(mount_of("btrfs", "mountinfo.local.txt"), reader)
    assert (facts["btrfs.data_profile"], facts["btrfs.metadata_profile"]) == ("single", "DUP")
    assert facts["btrfs.device_count"] == 1


@pytest.mark.parametrize(
    ("fstype", "fact", "package"),
    [
        ("ext4", "ext.features", "e2fsprogs"),
        ("xfs", "xfs.geometry", "xfsprogs"),
        ("btrfs", "btrfs.data_profile", "btrfs-progs"),
        ("jfs", "jfs.block_bytes", "jfsutils"),
        ("reiserfs", "reiserfs.block_bytes", "reiserfsprogs"),
    ],
)
def test_absent_tool_is_reported_with_the_remedy(fstype: str, fact: str, package: str) -> None:
    facts = mount_facts(mount_of(fstype, "mountinfo.local.txt"), Recorded(VDB))
    assert str(facts[fact]).startswith("unavailable, because ")
    assert f"install the package {package}" in str(facts[fact])


def recorded_facts(name: str) -> Facts:
    recording = recordings()[name]
    return mount_facts(recording.mount, Recorded(recording.texts))


def test_jfs_reports_blocks_and_journal() -> None:
    facts = recorded_facts("jfs")
    assert (facts["jfs.block_bytes"], facts["jfs.sector_bytes"], facts["jfs.block_count"]) == (4096, 512, 2088488)
    assert (facts["jfs.log"], facts["jfs.allocation_group_blocks"]) == ("internal", 8192)


def test_reiserfs_reports_format_and_journal_but_no_free_blocks() -> None:
    facts = recorded_facts("reiserfs")
    assert (facts["reiserfs.block_bytes"], facts["reiserfs.block_count"]) == (4096, 262144)
    assert (facts["reiserfs.format"], facts["reiserfs.hash"]) == ("3.6", "r5")
    assert (facts["reiserfs.journal"], facts["reiserfs.journal_blocks"]) == ("standard", 8193)
    assert 253925 not in facts.values()


def test_zfs_reports_dataset_and_pool() -> None:
    facts = recorded_facts("zfs")
    assert (facts["zfs.record_bytes"], facts["zfs.compression"], facts["zfs.sync"]) == (131072, "lz4", "standard")
    assert (facts["zfs.ashift"], facts["zfs.groups"]) == (12, "2 x raidz2")
    assert (facts["fs.identity"], facts["fs.identity_scope"]) == ("zfs:1234567890123456789:tank/runs", "node")


@pytest.mark.parametrize(
    ("enabled", "answered", "direct"),
    [("1", "standard", "standard"), ("1", "disabled", "disabled"), ("0", "standard", None), ("", "standard", None)],
)
def test_zfs_reports_its_direct_property_only_where_the_module_has_direct_io(
    enabled: str, answered: str, direct: str | None
) -> None:
    recording = recordings()["zfs"]
    texts = {"zfs get -Hp -o value direct tank/runs": f"{answered}\n"}
    if enabled:
        texts["/sys/module/zfs/parameters/zfs_dio_enabled"] = f"{enabled}\n"
    facts = mount_facts(recording.mount, Recorded(recording.texts | texts))
    assert facts.get("zfs.direct") == direct


def test_local_file_system_is_known_by_its_uuid_on_this_node_alone() -> None:
    # Virtual machines made from one image have the same UUID.
    facts = recorded_facts("ext")
    assert facts["fs.identity"] == "ext4:a07777f1-6d1c-44e4-bb4a-dee6648b534e"
    assert facts["fs.identity_scope"] == "node"


def test_uuid_comes_from_udev_where_the_device_may_not_be_read() -> None:
    texts = {"lsblk --nodeps --noheadings --output UUID /dev/vdb": "abc-def\n"}
    assert mount_facts(mount_of("xfs", "mountinfo.local.txt"), Recorded(texts))["fs.identity"] == "xfs:abc-def"


def test_file_system_that_several_nodes_mount_from_one_disk_is_shared() -> None:
    texts = {"blkid -p -o value -s UUID /dev/vdb": "abc-def\n"}
    facts = mount_facts(mount_of("gfs2", "mountinfo.local.txt"), Recorded(texts))
    assert (facts["fs.identity"], facts["fs.identity_scope"]) == ("gfs2:abc-def", "shared")


def test_xfs_info_cut_short_is_unavailable_and_never_half_right() -> None:
    text, mount = sample("xfs_info.raid5.txt"), mount_at("/mnt/md5", "mountinfo.md.txt")
    whole = mount_facts(mount, Recorded({"xfs_info /mnt/md5": text}))
    for end in range(len(text)):
        facts = mount_facts(mount, Recorded({"xfs_info /mnt/md5": text[:end]}))
        assert str(facts.get("xfs.geometry", "")).startswith("unavailable") or facts == whole
