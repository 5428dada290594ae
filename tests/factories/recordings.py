"""Recorded outputs of each kind of file system, for tests over all of them."""

from dataclasses import dataclass
from typing import Final

from factories.recorded import mount_at, sample

from iotide_agent.probes.mounts import Mount

BEEGFS_PATTERN: Final = """\
EntryID: 0-5D9BC186-2
Metadata node: meta1 [ID: 2]
Stripe pattern details:
+ Type: RAID0
+ Chunksize: 512K
+ Number of storage targets: desired: 4
+ Storage Pool: 1 (Default)
"""
BEEGFS_CONFIG: Final = """\
cfgFile = /etc/beegfs/beegfs-client.conf
connMgmtdPort = 8008
connUseRDMA = 1
sysMgmtdHost = bee1
tuneFileCacheType = buffered
"""
MMLSATTR: Final = """\
file name:            /scratch
metadata replication: 2 max 2
data replication:     1 max 2
immutable:            no
appendOnly:           no
flags:
storage pool name:    system
fileset name:         root
snapshot name:
Misc attributes:      DIRECTORY
Encrypted:            no
"""
ZFS_PROPERTIES: Final = (
    "recordsize,compression,checksum,copies,dedup,logbias,primarycache,secondarycache,sync,atime,xattr,encryption,quota"
)
ZFS: Final = "recordsize\t131072\ncompression\tlz4\nsync\tstandard\natime\toff\nquota\t0\n"
ZPOOL: Final = "ashift\t12\nguid\t1234567890123456789\n"
ZPOOL_STATUS: Final = """\
  pool: tank
 state: ONLINE
config:

\tNAME        STATE     READ WRITE CKSUM
\ttank        ONLINE       0     0     0
\t  raidz2-0  ONLINE       0     0     0
\t    sda     ONLINE       0     0     0
\t    sdb     ONLINE       0     0     0
\t  raidz2-1  ONLINE       0     0     0
\t    sdc     ONLINE       0     0     0
\t    sdd     ONLINE       0     0     0

errors: No known data errors
"""
DAOS_CONTAINER: Final = """\
  Container UUID              : 5f1a2b3c-0000-4000-8000-1234567890ab
  Container Label             : bench
  Container Type              : POSIX
  Pool UUID                   : 7a1a2b3c-0000-4000-8000-1234567890ab
  Pool Label                  : tank
  Container redundancy factor : 1
"""
JUICEFS: Final = (
    '{"Meta": {"Retries": 10}, "Format": {"Name": "bench", "UUID": "1f1a2b3c", "Storage": "s3", "SecretKey": "removed",'
    ' "BlockSize": 4096, "Compression": "none"}, "Chunk": {"Writeback": true, "Prefetch": 1}, "Version": "1.1.2+2024"}'
)
STATUS: Final = "ceph --connect-timeout 5"


@dataclass(frozen=True, slots=True)
class Recording:
    """A mount and the texts that were read for it, by path or command."""

    mount: Mount
    texts: dict[str, str]


def ethernet(address: str, interface: str = "eth0") -> dict[str, str]:
    """Return the route to an address over a link of 10 Gbit/s."""
    base = f"/sys/class/net/{interface}"
    return {
        f"ip route get {address}": f"{address} dev {interface} src 10.0.0.9 uid 0 \n    cache \n",
        f"{base}/type": "1\n",
        f"{base}/mtu": "9000\n",
        f"{base}/speed": "10000\n",
    }


def recordings() -> dict[str, Recording]:
    """Return the recordings by name of the probe; texts that could not be recorded follow the tool's documentation."""
    gluster = "gluster --mode=script --remote-host=10.77.0.1 volume info gv0"
    ceph = {
        f"{STATUS} status --format json": sample("ceph-s.json"),
        f"{STATUS} versions --format json": sample("ceph-versions.json"),
        f"{STATUS} fs status": sample("ceph-fs-status.txt"),
    }
    layout = "getfattr --absolute-names --only-values --name=ceph.dir.layout /mnt/ceph"
    ceph[layout] = "stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=cdata"
    return {
        "nfs": Recording(
            mount_at("/mnt/nfs4", "mountinfo.nfs.txt"),
            {
                "/proc/self/mountstats": sample("mountstats.nfs.txt"),
                "/proc/fs/nfsfs/volumes": "NV SERVER   PORT DEV          FSID                              FSC\n"
                "v3 7f000001  801 0:30         1:0                               no\n"
                "v4 7f000001  801 0:33         1:0                               no\n",
                "/sys/class/bdi/0:33/read_ahead_kb": "128\n",
            },
        ),
        "lustre": Recording(
            mount_at("/users", "mountinfo.lustre.txt"),
            {
                "lfs getstripe -d /users": sample("lfs-getstripe.pfl.txt"),
                "lfs df /users": sample("lfs-df.txt"),
                "lctl get_param version": sample("lctl-get_param-version.txt"),
                "lfs getdirstripe /users": "lmv_stripe_count: 0 lmv_stripe_offset: 1 lmv_hash_type: none\n",
                "lfs getdirstripe -D /users": "lmv_stripe_count: 2 lmv_stripe_offset: -1 lmv_hash_type: crush\n",
                "lctl get_param -n osc.users-OST*.max_dirty_mb": "32\n32\n",
                "lctl get_param -n llite.users-*.max_read_ahead_mb": "1006.64\n",
            }
            | ethernet("172.31.14.250"),
        ),
        "gpfs": Recording(
            mount_at("/scratch", "mountinfo.gpfs.txt"),
            {
                "/usr/lpp/mmfs/bin/mmlsfs scratch -Y": sample("mmlsfs-Y.txt"),
                "/usr/lpp/mmfs/bin/mmlsattr -L /scratch": MMLSATTR,
            },
        ),
        "pvfs2": Recording(
            mount_at("/mnt/pvfs2", "mountinfo.pvfs2.txt"),
            {
                "pvfs2-statfs -m /mnt/pvfs2": sample("pvfs2-statfs.txt"),
                "pvfs2-statfs -v": sample("pvfs2-version.txt"),
                "find /mnt/pvfs2 -maxdepth 1 -type f -print -quit": "/mnt/pvfs2/f1\n",
                "pvfs2-viewdist -f /mnt/pvfs2/f1": sample("pvfs2-viewdist.txt"),
                "getent ahosts vm": "10.0.0.7        STREAM vm\n10.0.0.7        DGRAM  \n",
            }
            | ethernet("10.0.0.7"),
        ),
        "glusterfs": Recording(
            mount_at("/mnt/gl", "mountinfo.gluster.txt"),
            {
                "glusterfs --version": sample("gluster-version.txt"),
                gluster: sample("gluster-volume-info.distribute.txt"),
            },
        ),
        "ceph": Recording(mount_at("/mnt/ceph", "mountinfo.ceph-fuse.txt"), ceph),
        "beegfs": Recording(
            mount_at("/mnt/beegfs", "mountinfo.made.txt"),
            {
                "beegfs-ctl --getentryinfo /mnt/beegfs": BEEGFS_PATTERN,
                "/proc/fs/beegfs": ".status\n5C-1",
                "/proc/fs/beegfs/5C-1/config": BEEGFS_CONFIG,
                "getent ahosts bee1": "10.0.0.8 STREAM bee1\n",
            },
        ),
        "moosefs": Recording(mount_at("/mnt/mfs", "mountinfo.moosefs.txt"), {"mfsgetgoal /mnt/mfs": "/mnt/mfs: 2\n"}),
        "zfs": Recording(
            mount_at("/tank/runs", "mountinfo.made.txt"),
            {
                f"zfs get -Hp -o property,value {ZFS_PROPERTIES} tank/runs": ZFS,
                "zpool get -Hp -o property,value ashift,guid tank": ZPOOL,
                "zpool status tank": ZPOOL_STATUS,
            },
        ),
        "ext": Recording(
            mount_at("/mnt/ext4", "mountinfo.local.txt"),
            {
                "/sys/dev/block/254:16/uevent": "DEVNAME=vdb\nDEVTYPE=disk\n",
                "tune2fs -l /dev/vdb": sample("tune2fs-l.ext4.txt"),
                "/proc/fs/ext4/vdb/options": sample("proc-fs-ext4-options.ext4.txt"),
                "blkid -p -o value -s UUID /dev/vdb": "a07777f1-6d1c-44e4-bb4a-dee6648b534e\n",
            },
        ),
        "xfs": Recording(
            mount_at("/mnt/lvs", "mountinfo.lvm.txt"),
            {
                "/sys/dev/block/253:0/uevent": "DEVNAME=dm-0\nDEVTYPE=disk\n",
                "/sys/dev/block/253:0/dm/name": "vg0-lvs\n",
                "dmsetup table vg0-lvs": sample("dmsetup-table.txt"),
                "xfs_info /mnt/lvs": sample("xfs_info.lvm-stripe3.txt"),
            },
        ),
        "btrfs": Recording(
            mount_at("/mnt/btrfs", "mountinfo.local.txt"),
            {"btrfs filesystem usage /mnt/btrfs": sample("btrfs-usage.txt")},
        ),
        "jfs": Recording(
            mount_at("/mnt/jfs", "mountinfo.local.txt"), {"jfs_tune -l /dev/vdb": sample("jfs_tune-l.txt")}
        ),
        "reiserfs": Recording(
            mount_at("/mnt/reiserfs", "mountinfo.local.txt"), {"debugreiserfs /dev/vdb": sample("debugreiserfs.txt")}
        ),
        "weka": Recording(mount_at("/mnt/weka", "mountinfo.made.txt"), {}),
        "daos": Recording(
            mount_at("/mnt/daos", "mountinfo.made.txt"),
            {
                "daos container query --path=/mnt/daos": DAOS_CONTAINER,
                "daos fs get-attr --path=/mnt/daos": "Object Class = SX\nObject Chunk Size = 1048576\n",
            },
        ),
        "cifs": Recording(mount_at("/mnt/smb", "mountinfo.made.txt"), ethernet("10.0.0.5")),
        "juicefs": Recording(mount_at("/mnt/jfsvol", "mountinfo.made.txt"), {"cat /mnt/jfsvol/.config": JUICEFS}),
        "virtiofs": Recording(mount_at("/mnt/host", "mountinfo.made.txt"), {}),
        "bcachefs": Recording(
            mount_at("/mnt/bca", "mountinfo.made.txt"),
            {
                "readlink --canonicalize /dev/sdb": "/dev/sdb\n",
                "readlink --canonicalize /dev/sdc": "/dev/sdc\n",
                "/sys/class/block/sdb/uevent": "DEVNAME=sdb\nDEVTYPE=disk\n",
                "/sys/class/block/sdc/uevent": "DEVNAME=sdc\nDEVTYPE=disk\n",
            },
        ),
    }
