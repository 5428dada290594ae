import pytest
from factories.advised import advice_of, numbers, places, site
from factories.recorded import Recorded, mount_at, sample

from iotide_agent.probes.registry import mount_facts
from iotide_server.advice.findings import Advice, Fine, Severity, Unknown
from iotide_server.advice.rules.partition import misaligned_offsets
from iotide_server.advice.rules.stripes import misaligned_stripes
from iotide_server.advice.scene import MountedTarget
from iotide_wire.facts import Facts
from iotide_wire.units import KIB

RAID5: Facts = {
    "md.level": "raid5",
    "md.disk_count": 3,
    "md.chunk_bytes": 64 * KIB,
    "md.stripe_width_bytes": 128 * KIB,
    "device.kind": "md raid5",
    "device.stack": "md raid5 / 3 x disk",
}
PLAIN_EXT: Facts = {"ext.block_bytes": 4096, "ext.stripe_unit_bytes": 0, "ext.stripe_width_bytes": 0}


def test_ext_that_was_made_for_no_stripes_gets_stride_and_stripe_width_from_the_chunk_and_the_data_disks() -> None:
    advice = advice_of(list(misaligned_stripes(places(site("ext4", RAID5 | PLAIN_EXT)))))
    assert advice.commands == (
        "tune2fs -E stride=16,stripe_width=32 /dev/md5",
        "mkfs.ext4 -E stride=16,stripe_width=32 /dev/md5",
    )
    assert numbers(advice) | {"md.level": "raid5", "data disks": 2, "md.chunk_bytes": 65536} == numbers(advice)
    assert (advice.code, advice.severity) == ("stripe_misaligned", Severity.MEDIUM)


def test_xfs_without_a_stripe_unit_can_only_be_recreated() -> None:
    facts: Facts = RAID5 | {"xfs.stripe_unit_bytes": 0, "xfs.stripe_width_bytes": 0}
    advice = advice_of(list(misaligned_stripes(places(site("xfs", facts)))))
    assert advice.commands == ("mkfs.xfs -d su=65536,sw=2 /dev/md5",)


def test_xfs_of_another_stripe_is_mounted_with_sunit_and_swidth_in_sectors() -> None:
    facts: Facts = RAID5 | {"xfs.stripe_unit_bytes": 256 * KIB, "xfs.stripe_width_bytes": 768 * KIB}
    advice = advice_of(list(misaligned_stripes(places(site("xfs", facts, mount_point="/my data; x")))))
    assert advice.commands[0] == "mount -o sunit=128,swidth=256 /dev/md5 '/my data; x'"


@pytest.mark.parametrize(("made", "fits"), [(("xfs_info.raid5.txt"), True), (("xfs_info.plain.txt"), False)])
def test_recorded_raid_and_xfs_are_judged_by_what_the_probes_read(made: str, *, fits: bool) -> None:
    top = "/sys/dev/block/9:5"
    raid = dict(line.split("=") for line in sample("sys-block-md5.txt").splitlines())
    texts = {f"{top}/uevent": "DEVNAME=md5\nDEVTYPE=disk\n", f"{top}/slaves": "", "xfs_info /mnt/md5": sample(made)}
    texts |= {f"{top}/md/{name}": value for name, value in raid.items()}
    facts = mount_facts(mount_at("/mnt/md5", "mountinfo.md.txt"), Recorded(texts))
    (found,) = misaligned_stripes(places(MountedTarget("scratch", "node07", "/mnt/md5", "/dev/md5", facts)))
    assert isinstance(found, Fine) is fits


def test_an_lvm_stripe_of_three_sets_as_of_inaf_is_recognised() -> None:
    lvm: Facts = {"lvm.stripe_count": 3, "lvm.chunk_bytes": 256 * KIB, "lvm.stripe_width_bytes": 768 * KIB}
    facts: Facts = lvm | {"device.stack": "dm lvm / 3 x disk", "xfs.stripe_unit_bytes": 0, "xfs.stripe_width_bytes": 0}
    advice = advice_of(list(misaligned_stripes(places(site("xfs", facts, device="/dev/mapper/vg-data")))))
    assert advice.commands == ("mkfs.xfs -d su=262144,sw=3 /dev/mapper/vg-data",)


def test_a_controllers_chunk_counts_where_the_kernel_knows_none() -> None:
    facts: Facts = PLAIN_EXT | {"device.stack": "disk", "device.minimum_io_bytes": 4096, "device.optimal_io_bytes": 0}
    raid: Facts = {"raid.level": "RAID6", "raid.strip_bytes": 256 * KIB, "raid.disk_count": 12}
    advice = advice_of(list(misaligned_stripes(places(site("ext4", facts | raid)))))
    assert advice.commands[0].startswith("tune2fs -E stride=64,stripe_width=640 ")
    (hidden,) = misaligned_stripes(places(site("ext4", facts | {"raid.level": "RAID 5"})))
    assert isinstance(hidden, Unknown)
    assert "raid.strip_bytes is missing" in hidden.because


def test_a_mount_option_of_ext_counts_more_than_its_superblock() -> None:
    facts: Facts = RAID5 | PLAIN_EXT | {"ext.stripe_unit_bytes": 64 * KIB, "ext.stripe_width_bytes": 64 * KIB}
    (found,) = misaligned_stripes(places(site("ext4", facts | {"mount.options": "rw,stripe=32"})))
    assert isinstance(found, Fine)


def test_unreadable_facts_are_reported_with_their_reason() -> None:
    facts: Facts = RAID5 | {"ext.features": "unavailable, because tune2fs is not installed"}
    (found,) = misaligned_stripes(places(site("ext4", facts)))
    assert isinstance(found, Unknown)
    assert found.because == "the fact ext.stripe_unit_bytes is missing: tune2fs is not installed"


def test_a_plain_disk_has_no_stripes_whatever_optimal_size_it_reports() -> None:
    disk: Facts = {
        "device.minimum_io_bytes": 512,
        "device.optimal_io_bytes": 33_553_920,
        "device.physical_block_bytes": 4096,
    }
    assert list(misaligned_stripes(places(site("ext4", PLAIN_EXT | disk)))) == []


@pytest.mark.parametrize(
    ("start", "severity"), [(1024 * KIB, None), (1088 * KIB, Severity.LOW), (63 * 512, Severity.MEDIUM)]
)
def test_a_partition_on_a_raid_is_reported_with_its_distance_from_a_stripe(
    start: int, severity: Severity | None
) -> None:
    facts: Facts = RAID5 | {"device.kind": "partition of md raid5", "partition.start_bytes": start}
    (found,) = misaligned_offsets(places(site("xfs", facts)))
    assert getattr(found, "severity", None) is severity


def test_a_volume_that_begins_inside_a_stripe_gets_the_alignment_of_its_physical_volume() -> None:
    six: Facts = {"md.stripe_width_bytes": 320 * KIB, "lvm.target": "linear", "lvm.offset_bytes": 1024 * KIB}
    advice = advice_of(list(misaligned_offsets(places(site("xfs", RAID5 | six | {"device.kind": "dm lvm"})))))
    assert advice.commands == (f"pvcreate --dataalignment {4 * 320 * KIB}b DEVICE",)


def test_a_partition_off_its_disk_blocks_is_reported() -> None:
    facts: Facts = {"partition.aligned": False, "partition.start_bytes": 32256, "device.physical_block_bytes": 4096}
    advice = advice_of(list(misaligned_offsets(places(site("ext3", facts)))))
    assert numbers(advice)["partition.start_bytes"] == 32256


def on_raid5(table: str) -> MountedTarget:
    """Return a volume with this dm table on a RAID 5 of four disks with chunks of 64 KiB, as probes read it."""
    top, raid = "/sys/dev/block/253:0", "/sys/class/block/md127"
    queue = {"minimum_io_size": 65536, "optimal_io_size": 196_608, "physical_block_size": 512}
    texts = {f"{top}/uevent": "DEVNAME=dm-0\nDEVTYPE=disk\n", f"{top}/slaves": "md127", f"{top}/dm/name": "vg0-lvs\n"}
    texts |= {f"{top}/dm/uuid": "LVM-abc\n", "dmsetup table vg0-lvs": table}
    texts |= {f"{top}/queue/{name}": str(size) for name, size in queue.items()}
    md = {"level": "raid5", "raid_disks": "4", "chunk_size": "65536", "layout": "2"}
    texts |= {f"{raid}/uevent": "DEVNAME=md127\nDEVTYPE=disk\n", f"{raid}/slaves": ""}
    facts = mount_facts(
        mount_at("/mnt/lvs", "mountinfo.lvm.txt"),
        Recorded(texts | {f"{raid}/md/{name}": value for name, value in md.items()}),
    )
    return MountedTarget("scratch", "node07", "/mnt/lvs", "/dev/dm-0", facts)


@pytest.mark.parametrize(
    ("table", "severity"),
    [
        ("0 2449408 linear 9:127 2304", None),  # where pvcreate puts it: 1152 KiB
        ("0 2449408 linear 9:127 2048", Severity.LOW),  # --dataalignment 1m: 5.33 stripes
        ("0 2449408 linear 9:127 10496", Severity.LOW),  # a second volume, one extent later
        ("0 2449408 linear 9:127 63", Severity.MEDIUM),
    ],
)
def test_a_linear_volume_on_raid_5_must_begin_on_a_stripe(table: str, severity: Severity | None) -> None:
    [found] = misaligned_offsets(places(on_raid5(table)))
    assert getattr(found, "severity", None) is severity
    if isinstance(found, Advice):
        assert found.commands == ("pvcreate --dataalignment 1179648b DEVICE",)
        assert "no other tool warns of it" in found.remedy


@pytest.mark.parametrize(
    ("legs", "severity"),
    [
        ("9:127 2304 9:126 2304", None),
        ("9:127 2048 9:126 2048", Severity.LOW),
        ("9:127 2304 9:126 2048", Severity.LOW),
        ("9:127 2304 9:126 63", Severity.MEDIUM),
    ],
)
def test_each_leg_of_a_striped_volume_must_begin_on_a_stripe(legs: str, severity: Severity | None) -> None:
    [begin, chunks] = misaligned_offsets(places(on_raid5(f"0 4898816 striped 2 512 {legs}")))
    assert getattr(begin, "severity", None) is severity
    assert isinstance(chunks, Advice)  # no power of two is a multiple of 192 KiB
    assert chunks.commands == ()
    assert "2, 4 or 8 data disks" in chunks.remedy


def test_chunks_of_a_striped_volume_are_multiples_of_the_stripes_below() -> None:
    facts: Facts = RAID5 | {"device.kind": "dm lvm", "lvm.target": "striped", "lvm.offset_bytes": 1024 * KIB}
    facts |= {"lvm.stripe_count": 3, "lvm.chunk_bytes": 64 * KIB, "lvm.stripe_width_bytes": 192 * KIB}
    [begin, chunks] = misaligned_offsets(places(site("xfs", facts)))
    assert isinstance(begin, Fine)
    assert isinstance(chunks, Advice)
    assert chunks.commands == (f"lvcreate -i 3 -I {128 * KIB}b -l 100%FREE -n NAME GROUP",)
    [only] = misaligned_offsets(places(site("xfs", facts | {"lvm.chunk_bytes": 256 * KIB})))
    assert isinstance(only, Fine)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"device.kind": "partition of md raid5", "partition.start_bytes": 63 * 512}, "drops the stripes without a"),
        ({"device.size_bytes": 512 * 1024 * KIB}, "Below 1 GiB, mkfs.xfs does not read them"),
        ({"device.size_bytes": 2048 * 1024 * KIB}, ""),
    ],
)
def test_xfs_that_dropped_its_geometry_learns_why(facts: Facts, words: str) -> None:
    none: Facts = {"xfs.stripe_unit_bytes": 0, "xfs.stripe_width_bytes": 0}
    advice = advice_of(list(misaligned_stripes(places(site("xfs", RAID5 | none | facts)))))
    assert words in advice.explanation
    assert ("mkfs.xfs" in advice.explanation) is bool(words)
