"""Tests of the probe with texts of the kernel, present and missing. It reads nothing itself."""

import pytest

from iotide_agent.probes.mounts import Mount, parse_mountinfo
from iotide_agent.probes.reader import FileWant, Unavailable
from iotide_sha256.probe import ReadAheadProbe

PROBE = ReadAheadProbe()
MOUNTINFO = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:30 / /mnt/ram rw - tmpfs tmpfs rw,size=1024k
31 27 0:31 / /mnt/nfs rw - nfs4 server:/export rw,hard
"""
DISK, MEMORY, NFS = parse_mountinfo(MOUNTINFO)
SETTING = FileWant("/sys/class/bdi/254:0/read_ahead_kb")
OF_THE_DISK = FileWant("/sys/dev/block/254:0/../bdi/read_ahead_kb")


@pytest.mark.parametrize(("mount", "is_known"), [(DISK, True), (MEMORY, False), (NFS, True)])
def test_every_mount_but_memory_is_known(mount: Mount, *, is_known: bool) -> None:
    assert PROBE.matches(mount) is is_known


def test_the_fact_is_in_bytes() -> None:
    assert list(PROBE.wants(DISK, {})) == [SETTING, OF_THE_DISK]
    assert PROBE.facts(DISK, {SETTING: "128\n"}) == {"read_ahead.bytes": 128 * 1024}


def test_a_partition_has_what_its_disk_has() -> None:
    absent = Unavailable("it cannot be read: No such file or directory")
    assert PROBE.facts(DISK, {SETTING: absent, OF_THE_DISK: "256\n"}) == {"read_ahead.bytes": 256 * 1024}


@pytest.mark.parametrize("text", [Unavailable("it cannot be read: No such file or directory"), "", "many\n", "-1\n"])
def test_what_the_kernel_does_not_say_is_no_fact(text: str | Unavailable) -> None:
    assert PROBE.facts(DISK, {SETTING: text, OF_THE_DISK: text}) == {}
