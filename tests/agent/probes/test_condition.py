"""Condition of storage: md, dm-raid, Btrfs, ZFS and ext, idle and rebuilding."""

import pytest
from factories.recorded import Recorded, sample

from iotide_agent.probes.condition import Condition, look_below

MD = "/sys/dev/block/9:5"
MD_MOUNT = "1 1 9:5 / /data rw - ext4 /dev/md5 rw"
BTRFS = "/sys/fs/btrfs/4c1a0b3e-0000-4000-8000-000000000001"
ZPOOL = """\
  pool: tank
 state: ONLINE
  scan: scrub repaired 0B in 00:01:02 with 0 errors on Sat Nov 21 16:00:00 2026
config:

\tNAME        STATE     READ WRITE CKSUM
\ttank        ONLINE       0     0     0
\t  mirror-0  ONLINE       0     0     0
\t    sda     ONLINE       0     0     0
\t    sdb     ONLINE       0     2     1

errors: No known data errors
"""


def look(mountinfo: str, texts: dict[str, str], directory: str = "/data/run") -> Condition:
    return look_below([directory], Recorded({"/proc/self/mountinfo": mountinfo} | texts))


def md(action: str = "idle", completed: str = "none", degraded: int = 0, member_errors: int = 0) -> dict[str, str]:
    return {
        f"{MD}/uevent": "DEVNAME=md5\nDEVTYPE=disk\n",
        f"{MD}/slaves": "",
        f"{MD}/md": "degraded\ndev-vdb\nlevel\nsync_action",
        f"{MD}/md/sync_action": f"{action}\n",
        f"{MD}/md/sync_completed": f"{completed}\n",
        f"{MD}/md/degraded": f"{degraded}\n",
        f"{MD}/md/dev-vdb/errors": f"{member_errors}\n",
        "/sys/fs/ext4/md5/errors_count": "7\n",
    }


def test_an_array_at_rest_has_no_troubles_and_its_counters_of_errors() -> None:
    found = look(MD_MOUNT, md(member_errors=2))
    assert found.troubles == ()
    assert found.errors == {"md5 dev-vdb errors": 2, "ext4 errors_count of md5": 7}


@pytest.mark.parametrize("action", ["resync", "recover", "check", "repair", "reshape"])
def test_a_rebuilding_array_is_reported_with_its_progress(action: str) -> None:
    assert look(MD_MOUNT, md(action, "12 / 4096")).troubles == (f"md5: {action}, 12 / 4096",)


def test_an_idle_array_without_a_disk_is_reported() -> None:
    assert look(MD_MOUNT, md(degraded=1)).troubles == ("md5: 1 of its disks missing",)


def test_only_storage_below_the_run_is_read() -> None:
    elsewhere = f"{MD_MOUNT}\n2 1 8:1 / /other rw - xfs /dev/sda1 rw"
    found = look(elsewhere, md("resync"), "/other/run")
    assert (found.troubles, found.errors) == ((), {})
    assert look("", {}) == Condition((), {})


def test_unreadable_state_is_reported_and_does_not_count_as_healthy() -> None:
    seen = {"/sys/dev/block/8:1/uevent": "DEVNAME=sda1\nDEVTYPE=partition\n"}
    disk = "2 1 8:1 / /other rw - xfs /dev/sda1 rw"
    assert look(disk, seen, "/other/run").unread == ()
    assert look(disk, {}, "/other/run").unread == ("the devices below /other (xfs) are not visible from this node",)
    nfs = "2 1 0:60 / /other rw - nfs4 server:/export rw"
    assert look(nfs, {}, "/other/run").unread == ("the devices below /other (nfs4) are not visible from this node",)
    assert look("2 1 0:61 / /other rw - tmpfs tmpfs rw", {}, "/other/run").unread == ()
    zfs = "1 1 0:50 / /data rw - zfs tank rw"
    assert look(zfs, {"zpool status -p tank": ZPOOL}).unread == ()
    assert look(zfs, {"zpool status -p tank": ""}).unread == ("zpool status printed no state",)
    assert "is not installed" in look(zfs, {}).unread[0]


@pytest.mark.parametrize(
    ("health", "done", "action", "is_whole"),
    [
        ("AA", "4096/4096", "idle", True),
        ("AD", "4096/4096", "idle", False),
        ("A-", "4096/4096", "idle", False),
        ("Aa", "12/4096", "recover", False),
    ],
)
def test_an_lvm_raid_reports_its_state_by_its_status(health: str, done: str, action: str, *, is_whole: bool) -> None:
    dm = "/sys/dev/block/253:4"
    texts = {
        f"{dm}/uevent": "DEVNAME=dm-4\nDEVTYPE=disk\n",
        f"{dm}/slaves": "dm-0\ndm-1\ndm-2\ndm-3",
        f"{dm}/dm/name": "vg-mirror\n",
        f"{dm}/dm/uuid": "LVM-abc\n",
        "dmsetup status vg-mirror": f"0 8192 raid raid1 2 {health} {done} {action} 0 0 -\n",
    }
    troubles = look("1 1 253:4 / /data rw - xfs /dev/mapper/vg-mirror rw", texts).troubles
    assert troubles == (() if is_whole else (f"vg-mirror: raid1, disks {health}, {action} {done}",))


def btrfs(operation: str, scrub: str, missing: int) -> Condition:
    texts = {
        "readlink --canonicalize /dev/disk/by-id/x": "/dev/sdb\n",
        "/sys/fs/btrfs": "4c1a0b3e-0000-4000-8000-000000000001\nfeatures",
        f"{BTRFS}/devices": "sdb\nsdc",
        f"{BTRFS}/exclusive_operation": f"{operation}\n",
        f"{BTRFS}/devinfo": "1\n2",
        f"{BTRFS}/devinfo/1/missing": "0\n",
        f"{BTRFS}/devinfo/2/missing": f"{missing}\n",
        f"{BTRFS}/devinfo/1/error_stats": "write_errs 0\nread_errs 4\n",
        "btrfs scrub status /data": f"UUID: x\nStatus:           {scrub}\nDuration: 0:00:01\n",
    }
    return look("1 1 0:44 / /data rw - btrfs /dev/disk/by-id/x rw", texts)


def test_btrfs_reports_balance_scrub_and_missing_devices() -> None:
    assert btrfs("none", "finished", 0).troubles == ()
    assert btrfs("none", "finished", 0).errors == {
        "btrfs of /data: device 1 write_errs": 0,
        "btrfs of /data: device 1 read_errs": 4,
    }
    assert btrfs("balance", "running", 1).troubles == (
        "btrfs of /data: balance",
        "btrfs of /data: device 2 missing",
        "btrfs of /data: scrub",
    )


def test_a_zfs_pool_reports_its_state_its_activity_and_its_errors() -> None:
    mount = "1 1 0:50 / /data rw - zfs tank/home rw"
    found = look(mount, {"zpool status -p tank": ZPOOL})
    assert found.troubles == ()
    assert found.errors["zfs pool tank: device sdb"] == 3
    scan = "scrub in progress since Sat Nov 21 16:00:00 2026"
    busy = ZPOOL.replace("state: ONLINE", "state: DEGRADED").replace(
        ZPOOL[ZPOOL.index("scrub rep") : ZPOOL.index("\nconfig")], scan
    )
    assert look(mount, {"zpool status -p tank": busy}).troubles == ("zfs pool tank: DEGRADED", f"zfs pool tank: {scan}")


def test_a_ceph_cluster_reports_down_disks_and_moving_data() -> None:
    mount = "1 1 0:51 / /data rw - ceph 10.0.0.1:6789:/ rw"
    command = "ceph --connect-timeout 5 status --format json"
    recorded = sample("ceph-s.json")
    assert look(mount, {command: recorded}).troubles == ("ceph: 2 OSDs up, 3 in",)
    whole = recorded.replace('"num_up_osds":2', '"num_up_osds":3')
    scrubbing = whole.replace("active+clean", "active+clean+scrubbing+deep")
    remapped = whole.replace("active+clean", "active+clean+remapped")
    replaced = recorded.replace('"num_in_osds":3', '"num_in_osds":2')
    for healthy in (whole, scrubbing, remapped, replaced):
        assert look(mount, {command: healthy}).troubles == ()
    recovering = whole.replace("active+clean", "active+undersized+degraded+remapped+backfilling")
    assert look(mount, {command: recovering}).troubles == (
        "ceph: 17 placement groups active+undersized+degraded+remapped+backfilling",
    )
    assert look(mount, {command: whole}).unread == ()
    cut, absent = look(mount, {command: recorded[:400]}), look(mount, {})
    assert cut.troubles == absent.troubles == ()
    assert cut.unread == ("ceph status printed nothing about its OSDs and placement groups",)
    assert absent.unread == ("ceph is not installed; install the package ceph-common on this node",)


def test_errors_of_two_pools_with_devices_of_one_name_stay_apart() -> None:
    mounts = "1 1 0:50 / /a rw - zfs tank rw\n2 1 0:51 / /b rw - zfs pool rw"
    worse = ZPOOL.replace("tank", "pool")
    reader = Recorded({"/proc/self/mountinfo": mounts, "zpool status -p tank": ZPOOL, "zpool status -p pool": worse})
    errors = look_below(["/a/run", "/b/run"], reader).errors
    assert errors["zfs pool tank: device sdb"] == errors["zfs pool pool: device sdb"] == 3
