import json

import pytest
from factories.recorded import Recorded, failures, mount_at, mount_of, sample
from factories.recordings import ethernet

from iotide_agent.probes.mounts import parse_mountinfo
from iotide_agent.probes.registry import mount_facts
from iotide_wire.facts import Facts


def queue(path: str, **changed: str) -> dict[str, str]:
    """Return the queue of a disk as /sys shows it."""
    values = {"rotational": "1", "scheduler": "none [mq-deadline] bfq", "read_ahead_kb": "128", "nr_requests": "256"}
    values |= {"logical_block_size": "512", "physical_block_size": "4096", "max_sectors_kb": "1280"}
    values |= {"minimum_io_size": "4096", "optimal_io_size": "0", "write_cache": "write back"} | changed
    return {f"{path}/queue/{name}": f"{value}\n" for name, value in values.items()}


def disk(name: str, model: str = "", sectors: int = 4_194_304, **changed: str) -> dict[str, str]:
    path = f"/sys/class/block/{name}"
    texts = {f"{path}/uevent": f"DEVNAME={name}\nDEVTYPE=disk\n", f"{path}/slaves": "", f"{path}/size": f"{sectors}\n"}
    if model:
        texts[f"{path}/device/model"] = f"{model}\n"
    return texts | queue(path, **changed)


def md_texts() -> dict[str, str]:
    """RAID 5 as recorded, on three disks with invented sizes and models."""
    top = "/sys/dev/block/9:5"
    recorded = dict(line.split("=") for line in sample("sys-block-md5.txt").splitlines())
    texts = {f"{top}/md/{name}": f"{value}\n" for name, value in recorded.items()}
    texts |= {
        f"{top}/uevent": "DEVNAME=md5\nDEVTYPE=disk\n",
        f"{top}/slaves": "vdb\nvdc\nvdd",
        f"{top}/size": "8376320\n",
    }
    texts |= {f"{top}/md/degraded": "0\n"} | queue(top)
    return texts | disk("vdb", "ST4000") | disk("vdc", "ST4000") | disk("vdd", "ST6000")


def test_disk_reports_its_queue_in_base_units() -> None:
    [mount] = parse_mountinfo("1 1 8:0 / / rw - ext4 /dev/sda rw")
    base = "/sys/dev/block/8:0"
    texts = {f"{base}/uevent": "DEVNAME=sda\nDEVTYPE=disk\n", f"{base}/slaves": "", f"{base}/size": "2000\n"}
    facts = mount_facts(mount, Recorded(texts | queue(base)))
    assert facts["device.kind"] == "disk"
    assert facts["device.size_bytes"] == 2000 * 512
    assert facts["device.read_ahead_bytes"] == 128 * 1024
    assert facts["device.max_io_bytes"] == 1280 * 1024
    assert facts["device.scheduler"] == "mq-deadline"
    assert facts["device.rotational"] is True
    assert facts["device.queue_depth"] == 256


def test_partition_has_the_queue_of_its_disk_and_a_size_of_its_own() -> None:
    [mount] = parse_mountinfo("1 1 259:2 / /data rw - xfs /dev/nvme0n1p2 rw")
    path = "/sys/dev/block/259:2"
    texts = {f"{path}/uevent": "DEVNAME=nvme0n1p2\nDEVTYPE=partition\n", f"{path}/size": "1000\n"}
    texts |= {f"{path}/../size": "8000\n", f"{path}/../slaves": "", f"{path}/../device/model": "Fast NVMe\n"}
    texts |= {f"{path}/../device/firmware_rev": "1.7\n"} | queue(f"{path}/..", rotational="0", scheduler="[none] kyber")
    facts = mount_facts(mount, Recorded(texts))
    assert facts["device.kind"] == "partition of disk"
    assert facts["device.size_bytes"] == 1000 * 512
    assert facts["disk.size_bytes"] == 8000 * 512
    assert (facts["disk.model"], facts["disk.firmware"]) == ("Fast NVMe", "1.7")
    assert (facts["device.rotational"], facts["device.scheduler"]) == (False, "none")


def test_raid_reports_its_geometry_and_its_disks() -> None:
    facts = mount_facts(mount_at("/mnt/md5", "mountinfo.md.txt"), Recorded(md_texts()))
    assert facts["device.kind"] == "md raid5"
    assert (facts["md.level"], facts["md.chunk_bytes"], facts["md.disk_count"]) == ("raid5", 65536, 3)
    assert facts["md.degraded_count"] == 0
    assert facts["disk.count"] == 3
    assert facts["disk.model"] == "ST4000, ST6000"
    assert facts["disk.size_bytes"] == 4_194_304 * 512


def test_facts_do_not_change_when_disks_change_their_names() -> None:
    mount, texts = mount_at("/mnt/md5", "mountinfo.md.txt"), md_texts()
    renamed = {key.replace("/vdb/", "/vdz/"): text for key, text in texts.items()}
    renamed["/sys/dev/block/9:5/slaves"] = "vdc\nvdd\nvdz"
    assert mount_facts(mount, Recorded(renamed)) == mount_facts(mount, Recorded(texts))


def test_logical_volume_is_followed_through_raid_to_the_disks() -> None:
    mount, top = mount_of("xfs", "mountinfo.lvm.txt"), "/sys/dev/block/253:0"
    texts = {f"{top}/uevent": "DEVNAME=dm-0\nDEVTYPE=disk\n", f"{top}/slaves": "md1", f"{top}/dm/name": "vg0-lvs\n"}
    texts |= {f"{top}/dm/uuid": "LVM-abc\n", "/sys/class/block/md1/uevent": "DEVNAME=md1\nDEVTYPE=disk\n"}
    texts |= {"/sys/class/block/md1/slaves": "vdb\nvdc", "/sys/class/block/md1/md/level": "raid1\n"}
    facts = mount_facts(mount, Recorded(texts | disk("vdb") | disk("vdc", rotational="0")))
    assert facts["device.kind"] == "dm lvm"
    assert (facts["lvm.name"], facts["md.level"]) == ("vg0-lvs", "raid1")
    assert (facts["disk.count"], facts["disk.rotational"]) == (2, "False, True")


def test_btrfs_has_no_device_number_and_is_followed_by_its_source() -> None:
    [mount] = parse_mountinfo("1 1 0:49 / /lab rw - btrfs /dev/mapper/vg-lv rw")
    path = "/sys/class/block/dm-7"
    texts = {
        "readlink --canonicalize /dev/mapper/vg-lv": "/dev/dm-7\n",
        f"{path}/uevent": "DEVNAME=dm-7\nDEVTYPE=disk\n",
    }
    texts |= {f"{path}/dm/name": "vg-lv\n", f"{path}/dm/uuid": "CRYPT-LUKS2-1\n", f"{path}/slaves": ""}
    assert mount_facts(mount, Recorded(texts))["device.kind"] == "dm crypt"


def test_loop_device_names_its_file() -> None:
    mount, top = mount_of("ext4", "mountinfo.host-loop.txt"), "/sys/dev/block/7:0"
    texts = {f"{top}/uevent": "DEVNAME=loop0\nDEVTYPE=disk\n", f"{top}/loop/backing_file": "/lab/disk.img\n"}
    facts = mount_facts(mount, Recorded(texts))
    assert (facts["device.kind"], facts["loop.backing_file"]) == ("loop", "/lab/disk.img")


def test_device_that_sys_does_not_know_is_unavailable() -> None:
    facts = mount_facts(mount_of("jfs", "mountinfo.local.txt"), Recorded({}))
    assert facts["device.kind"] == "unavailable, because /sys knows no block device 254:16"


def test_stack_is_reported_from_the_top_down() -> None:
    facts = mount_facts(mount_at("/mnt/md5", "mountinfo.md.txt"), Recorded(md_texts()))
    assert facts["device.stack"] == "md raid5 / 3 x disk"
    assert (facts["md.stripe_width_bytes"], facts["md.stripe_cache_pages"]) == (2 * 65536, 256)


@pytest.mark.parametrize(
    ("level", "disks", "layout", "data_disks"),
    [("raid0", 3, 0, 3), ("raid5", 3, 2, 2), ("raid6", 6, 2, 4), ("raid10", 4, 0x102, 2), ("raid10", 5, 0x202, 1)],
)
def test_width_of_a_stripe_counts_the_disks_that_hold_data(
    level: str, disks: int, layout: int, data_disks: int
) -> None:
    top = "/sys/dev/block/9:5"
    texts = {f"{top}/md/level": level, f"{top}/md/raid_disks": str(disks), f"{top}/md/layout": str(layout)}
    facts = mount_facts(mount_at("/mnt/md5", "mountinfo.md.txt"), Recorded(md_texts() | texts))
    assert facts["md.stripe_width_bytes"] == data_disks * 65536


def lvm_texts(table: str, uuid: str = "LVM-abc") -> dict[str, str]:
    top = "/sys/dev/block/253:0"
    texts = {f"{top}/uevent": "DEVNAME=dm-0\nDEVTYPE=disk\n", f"{top}/slaves": "vdb\nvdc\nvdd"}
    texts |= {f"{top}/dm/name": "vg0-lvs\n", f"{top}/dm/uuid": f"{uuid}\n", "dmsetup table vg0-lvs": table}
    striped = queue(top, minimum_io_size="131072", optimal_io_size="393216")
    return texts | striped | disk("vdb") | disk("vdc") | disk("vdd")


def test_stripes_of_a_logical_volume_are_those_of_lvm() -> None:
    facts = mount_facts(mount_of("xfs", "mountinfo.lvm.txt"), Recorded(lvm_texts(sample("dmsetup-table.txt"))))
    [segment] = json.loads(sample("lvs.segments.json"))["report"][0]["seg"]
    assert facts["lvm.target"] == segment["segtype"]
    assert facts["lvm.stripe_count"] == int(segment["stripes"])
    assert facts["lvm.chunk_bytes"] == int(segment["stripe_size"].removesuffix("B"))
    assert (facts["lvm.stripe_width_bytes"], facts["lvm.offset_bytes"]) == (3 * 131072, 1024**2)


def test_multipath_reports_its_paths() -> None:
    table = "0 8388608 multipath 0 0 1 1 service-time 0 3 2 8:16 1 1 8:32 1 1 8:48 1 1\n"
    facts = mount_facts(mount_of("xfs", "mountinfo.lvm.txt"), Recorded(lvm_texts(table, "mpath-36001")))
    assert (facts["multipath.path_count"], facts["multipath.path_selector"]) == (3, "service-time")


@pytest.mark.parametrize(
    ("table", "fact", "value"),
    [
        ("0 100 linear 8:16 2048", "lvm.offset_bytes", 1024**2),
        ("0 100 raid raid5_ls 3 128 region_size 1024 3 - 8:16", "lvm.raid_level", "raid5_ls"),
        ("0 50 linear 8:16 2048\n50 50 linear 8:32 2048", "lvm.target", "linear"),
        ("0 50 linear 8:16 2048\n50 50 linear 8:32 2048", "lvm.device_count", 2),
        ("vg0-lvs: 0 50 linear 8:16 2048\nvg0-lvs: 50 50 linear 8:32 4096", "lvm.offset_bytes", 1024**2),
        ("0 50 striped 2 128 8:16 0 8:32 0\n50 50 linear 8:48 0", "lvm.target", "striped, linear"),
        ("0 50 striped 2 128 8:16 0 8:32 0\n50 50 linear 8:48 0", "lvm.device_count", 3),
        ("0 50 striped 2 128 8:16 0 8:32 0\n50 50 striped 3 128 8:1 0 8:2 0 8:3 0", "lvm.stripe_count", "2, 3"),
        ("0 50 striped 2 128 8:16 0 8:32 0\n50 50 striped 2 128 8:16 9 8:32 9", "lvm.stripe_count", 2),
        ("0 100 striped", "lvm.target", "striped"),
        ("0 50 linear 8:16 2048\n50 70 linear 8:32 2048", "lvm.segment_bytes", "25600, 35840"),
        ("0 100 striped 2 128 9:1 2304 9:2 2304", "lvm.offset_bytes", 1152 * 1024),
        ("0 100 striped 2 128 9:1 2304 9:2 2048", "lvm.offset_bytes", "1179648, 1048576"),
    ],
)
def test_table_of_a_mapped_device(table: str, fact: str, value: object) -> None:
    assert mount_facts(mount_of("xfs", "mountinfo.lvm.txt"), Recorded(lvm_texts(table)))[fact] == value


def test_a_volume_that_was_extended_on_its_own_disk_is_on_one_device() -> None:
    table = "0 50 linear 8:16 2048\n50 50 linear 8:16 9000\n"
    facts = mount_facts(mount_of("xfs", "mountinfo.lvm.txt"), Recorded(lvm_texts(table)))
    assert (facts["lvm.segment_count"], "lvm.device_count" in facts) == (2, False)


@pytest.mark.parametrize(("name", "fits"), [("lvm-stripe3", True), ("plain", False)])
def test_file_system_that_does_not_match_the_stripes_below_is_reported(name: str, *, fits: bool) -> None:
    # mkfs.xfs silently drops the geometry on small volumes.
    texts = lvm_texts(sample("dmsetup-table.txt")) | {"xfs_info /mnt/lvs": sample(f"xfs_info.{name}.txt")}
    facts = mount_facts(mount_of("xfs", "mountinfo.lvm.txt"), Recorded(texts))
    assert facts["fs.stripe_fits_device"] is fits


def test_file_system_on_a_plain_disk_has_no_stripes_to_fit() -> None:
    texts = {
        "/sys/dev/block/254:16/uevent": "DEVNAME=vdb\nDEVTYPE=disk\n",
        "xfs_info /mnt/xfs": sample("xfs_info.plain.txt"),
    }
    facts = mount_facts(mount_of("xfs", "mountinfo.local.txt"), Recorded(texts | queue("/sys/dev/block/254:16")))
    assert "fs.stripe_fits_device" not in facts


@pytest.mark.parametrize(
    ("start", "offset", "minimum", "is_aligned"),
    [
        ("2048", "0", "4096", True),
        ("63", "0", "4096", False),
        ("2048", "3584", "4096", False),
        ("128", "0", "262144", False),
    ],
)
def test_misaligned_partition_is_reported(start: str, offset: str, minimum: str, *, is_aligned: bool) -> None:
    path = "/sys/dev/block/8:1"
    texts = {f"{path}/uevent": "DEVNAME=sda1\nDEVTYPE=partition\n", f"{path}/start": start, f"{path}/../slaves": ""}
    texts |= {f"{path}/alignment_offset": offset} | queue(f"{path}/..", minimum_io_size=minimum)
    facts = mount_facts(mount_at("/mnt/iscsi", "mountinfo.made.txt"), Recorded(texts))
    assert (facts["partition.start_bytes"], facts["partition.aligned"]) == (int(start) * 512, is_aligned)


def attached(device_path: str, **more: str) -> Facts:
    path = "/sys/dev/block/8:1"
    texts = {f"{path}/uevent": "DEVNAME=sda1\nDEVTYPE=partition\n", f"{path}/../slaves": ""}
    texts[f"readlink --canonicalize {path}/../device"] = f"/sys/devices/{device_path}\n"
    return mount_facts(mount_at("/mnt/iscsi", "mountinfo.made.txt"), Recorded(texts | more))


def test_iscsi_reports_target_and_link() -> None:
    texts = {"/sys/class/iscsi_session/session2/targetname": "iqn.2001-04.com.example:disk\n"}
    texts |= {"/sys/class/iscsi_connection/connection2:0/persistent_address": "10.0.0.20\n"} | ethernet("10.0.0.20")
    facts = attached("platform/host3/session2/target3:0:0/3:0:0:1", **texts)
    assert (facts["disk.transport"], facts["iscsi.target"]) == ("iscsi", "iqn.2001-04.com.example:disk")
    assert facts["network.link_bits_per_second"] == 10 * 10**9


@pytest.mark.parametrize(
    ("path", "transport"),
    [
        ("pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0", "sata"),
        ("pci0000:00/0000:03:00.0/host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0", "sas"),
        ("pci0000:00/0000:00:02.0/virtio1", "virtio"),
        ("pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0", "usb"),
        ("pci0000:80/0000:82:00.0/host7/rport-7:0-1/target7:0:0/7:0:0:0", "fibre channel"),
    ],
)
def test_transport_is_derived_from_the_disks_bus(path: str, transport: str) -> None:
    assert attached(path)["disk.transport"] == transport


def test_nvme_reports_its_fabric() -> None:
    facts = attached("virtual/nvme-fabrics/ctl/nvme0", **{"/sys/dev/block/8:1/../device/transport": "tcp\n"})
    assert facts["disk.transport"] == "nvme tcp"


DRIVE = {
    "Strip Size": "256 KB",
    "Number of Drives Per Span": 6,
    "Span Depth": 2,
    "Disk Cache Policy": "Disabled",
    "SCSI NAA Id": "600605B000000000000000000000000A",
}
OTHER = DRIVE | {"SCSI NAA Id": "600605b000000000000000000000000b", "Strip Size": "64 KB"}
STORCLI = json.dumps(
    {
        "Controllers": [
            {
                "Response Data": {
                    "/c0/v0": [{"TYPE": "RAID5", "Cache": "RWTD"}],
                    "VD0 Properties": OTHER,
                    "/c0/v1": [{"TYPE": "RAID60", "Cache": "RWBD"}],
                    "VD1 Properties": DRIVE,
                }
            }
        ]
    },
    indent=1,
)
MEGARAID = {
    "/sys/class/scsi_host/host0/proc_name": "megaraid_sas\n",
    "/sys/dev/block/8:1/../device/wwid": "naa.600605b000000000000000000000000a\n",
}
ON_CONTROLLER = "pci0000:00/0000:03:00.0/host0/target0:2:1/0:2:1:0"


def test_hardware_raid_is_found_by_the_drive_with_the_name_of_the_disk() -> None:
    facts = attached(ON_CONTROLLER, **MEGARAID, **{"storcli64 /call/vall show all J": STORCLI})
    assert (facts["raid.level"], facts["raid.strip_bytes"], facts["raid.disk_count"]) == ("RAID60", 256 * 1024, 12)
    assert (facts["raid.cache"], facts["raid.disk_cache"], facts["disk.driver"]) == ("RWBD", "Disabled", "megaraid_sas")


def test_hardware_raid_is_found_by_the_tool_of_either_vendor() -> None:
    facts = attached(ON_CONTROLLER, **MEGARAID, **{"perccli64 /call/vall show all J": STORCLI})
    assert facts["raid.level"] == "RAID60"


def test_hardware_raid_without_its_tool_says_what_to_install() -> None:
    assert "storcli64 is not installed" in str(attached(ON_CONTROLLER, **MEGARAID)["raid.level"])


def test_controller_with_the_level_in_its_driver_needs_no_tool() -> None:
    hpsa = {"/sys/class/scsi_host/host0/proc_name": "hpsa\n", "/sys/dev/block/8:1/../device/raid_level": "RAID 5\n"}
    assert attached(ON_CONTROLLER, **hpsa)["raid.level"] == "RAID 5"


@pytest.mark.parametrize("answer", ["", "null", "[]", '{"Controllers": 3}', '{"Controllers": [{"Response Data": []}]}'])
def test_unknown_output_of_a_raid_tool_is_not_a_failure(answer: str) -> None:
    facts = attached(ON_CONTROLLER, **MEGARAID, **{"storcli64 /call/vall show all J": answer})
    assert not failures(facts)
    assert "raid.level" not in facts


def test_raid_tool_cut_short_is_no_reason_to_fail() -> None:
    lines = STORCLI.splitlines(keepends=True)
    for end in range(len(lines)):
        facts = attached(ON_CONTROLLER, **MEGARAID, **{"storcli64 /call/vall show all J": "".join(lines[:end])})
        assert not failures(facts)


def test_deep_stack_is_read_down_to_its_disks() -> None:
    names = ["dm-1", "dm-2", "md1", "md2", "dm-3", "sdz"]
    texts = {"/sys/dev/block/8:1/uevent": "DEVNAME=dm-0\nDEVTYPE=disk\n", "/sys/dev/block/8:1/slaves": names[0]}
    for name, below in zip(names, [*names[1:], ""], strict=True):
        texts |= {f"/sys/class/block/{name}/uevent": "DEVTYPE=disk\n", f"/sys/class/block/{name}/slaves": below}
    texts["/sys/class/block/sdz/device/model"] = "Deep\n"
    assert mount_facts(mount_at("/mnt/iscsi", "mountinfo.made.txt"), Recorded(texts))["disk.model"] == "Deep"
