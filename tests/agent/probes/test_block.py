from factories.recorded import Recorded, mount_at, mount_of, sample

from iotide_agent.probes.mounts import parse_mountinfo
from iotide_agent.probes.registry import mount_facts


def queue(path: str, **changed: str) -> dict[str, str]:
    """The queue of a disk as /sys shows it."""
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
    """RAID 5 as recorded, on three disks; their sizes and models are made up."""
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


def test_disk_tells_its_queue_in_base_units() -> None:
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


def test_raid_tells_its_geometry_and_its_disks() -> None:
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
    assert (facts["dm.name"], facts["md.level"]) == ("vg0-lvs", "raid1")
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
