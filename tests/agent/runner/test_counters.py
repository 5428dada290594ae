"""Counters of a node, read from recorded texts of real kernels; gaps and restarts."""

import errno
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from agent.kernel_tree import Tree
from factories.recorded import sample

from iotide_agent.runner.counters import kernel_threads
from iotide_agent.runner.counters.disk import Disks
from iotide_agent.runner.counters.kernel_threads import SCAN_READINGS, RaidThreads
from iotide_agent.runner.counters.lustre import Calls, LustreClient
from iotide_agent.runner.counters.memory import MemoryLevels
from iotide_agent.runner.counters.network import Network
from iotide_agent.runner.counters.nfs import LONGEST_BYTES, Client, NfsClient
from iotide_agent.runner.counters.node import NodeCounters
from iotide_agent.runner.counters.pressure import Pressure
from iotide_agent.runner.counters.processors import Processors
from iotide_agent.runner.counters.source import Source, Span, TargetMount
from iotide_agent.runner.sampler import load_rates
from iotide_agent.runner.tree import Used

DATA = Path(__file__).parents[2] / "data" / "counters"
SPAN = Span(seconds=2.0, ticks=400)
LOCAL = TargetMount("/data", "ext4", "/dev/md5", os.makedev(9, 5))
NFS3 = TargetMount("/mnt/nfs3", "nfs", "127.0.0.1:/disk/exp", 50)
LUSTRE = TargetMount("/lustre", "lustre", "mgs@tcp:/scratch/home", 60)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def rates(source: Source[Any], before: object, span: Span = SPAN) -> dict[str, float]:
    found = dict(source.rates(before, source.read(), span))
    source.close()
    return found


def test_processor_time_is_a_share_of_all_ticks_with_theft_in_them(tree: Tree) -> None:
    tree.stat(100, 0, 50, 800, 50, 0, 0, 0)
    tree.write("proc/loadavg", "0.50 0.40 0.30 2/300 4711\n")
    processors = Processors(tree.proc)
    before = processors.read()
    tree.stat(140, 10, 60, 900, 75, 10, 5, 200)
    tree.write("proc/loadavg", "1.50 0.40 0.30 2/300 4711\n")
    after = processors.read()
    assert after.ticks_since(before) == 400
    assert rates(processors, before) == {
        "cpu_user_ratio": 50 / 400,
        "cpu_system_ratio": 25 / 400,
        "cpu_iowait_ratio": 25 / 400,
        "load1": 1.5,
    }


def test_pressure_is_the_share_of_time_that_was_lost(tree: Tree) -> None:
    lines = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={}\n"
    tree.write("proc/pressure/io", lines.format(1_000_000, 500_000))
    tree.write("proc/pressure/cpu", lines.format(7, 0))
    tree.write("proc/pressure/memory", lines.format(0, 0))
    pressure = Pressure(tree.proc)
    before = pressure.read()
    tree.write("proc/pressure/io", lines.format(1_500_000, 900_000))
    tree.write("proc/pressure/cpu", lines.format(2_100_007, 0))
    tree.write("proc/pressure/memory", lines.format(200_000, 100_000))
    assert rates(pressure, before) == {
        "psi_cpu_some_ratio": 1.0,
        "psi_io_some_ratio": 0.25,
        "psi_io_full_ratio": 0.2,
        "psi_memory_some_ratio": 0.1,
        "psi_memory_full_ratio": 0.05,
    }


def test_memory_is_reported_in_bytes_without_fields_that_an_old_kernel_lacks(tree: Tree) -> None:
    text = (DATA / "meminfo.txt").read_text()
    tree.write("proc/meminfo", text)
    memory = MemoryLevels(tree.proc)
    assert rates(memory, {}) == {
        "memory_available_bytes": 21889152 * 1024,
        "memory_cached_bytes": 1170380 * 1024,
        "memory_dirty_bytes": 141220 * 1024,
        "memory_writeback_bytes": 0,
    }
    tree.write("proc/meminfo", text.replace("MemAvailable:", "Else:"))
    assert "memory_available_bytes" not in MemoryLevels(tree.proc).read()


def test_disks_are_added_up_and_the_busiest_is_named(tree: Tree) -> None:
    other = TargetMount("/more", "xfs", "/dev/sdb1", os.makedev(8, 17))
    tree.disk("md5", "9:5", (0, 0), 0)
    tree.disk("sdb1", "8:17", (0, 0), 100)
    disks = Disks(tree.sys, [LOCAL, LOCAL, other, NFS3])
    before = disks.read()
    tree.disk("md5", "9:5", (2000, 8), 500)
    tree.disk("sdb1", "8:17", (1000, 4000), 1700)
    assert rates(disks, before) == {
        "disk_read_bytes_per_second": 3000 * 512 / 2,
        "disk_write_bytes_per_second": 4008 * 512 / 2,
        "disk_busy_ratio": 0.8,
    }


def test_a_btrfs_has_all_its_devices_though_its_own_number_is_anonymous(tree: Tree) -> None:
    null = Path("/dev/null").stat().st_rdev
    tree.disk("first", f"{os.major(null)}:{os.minor(null)}", (0, 0), 0)
    tree.disk("second", "8:32", (0, 0), 0)
    members = tree.sys / "fs/btrfs/uuid/devices"
    members.mkdir(parents=True)
    for name in ("first", "second"):
        (members / name).symlink_to(tree.sys / "block" / name)
    disks = Disks(tree.sys, [TargetMount("/pool", "btrfs", "/dev/null", os.makedev(0, 47))])
    before = disks.read()
    tree.disk("second", "8:32", (0, 1000), 10)
    assert rates(disks, before)["disk_write_bytes_per_second"] == 256_000


def test_a_target_on_no_block_device_has_no_disk(tree: Tree) -> None:
    for target in (NFS3, TargetMount("/t", "fuse", "/dev/no-such", 70)):
        with pytest.raises(FileNotFoundError):
            Disks(tree.sys, [target])


def test_without_a_target_all_disks_with_hardware_below_them_are_one(tree: Tree) -> None:
    for name, number in (("sda", "8:0"), ("nvme0n1", "259:0"), ("nvme0c0n1", "259:1"), ("md0", "9:0")):
        tree.disk(name, number, (0, 0), 0)
    for name, hidden in (("sda", "0"), ("nvme0n1", "0"), ("nvme0c0n1", "1")):
        (tree.sys / "block" / name / "device").mkdir()
        tree.write(f"sys/block/{name}/hidden", f"{hidden}\n")
    disks = Disks(tree.sys, [])
    before = disks.read()
    for name, number in (("sda", "8:0"), ("nvme0n1", "259:0"), ("nvme0c0n1", "259:1"), ("md0", "9:0")):
        tree.disk(name, number, (0, 1000), 500)
    assert rates(disks, before)["disk_write_bytes_per_second"] == 2 * 1000 * 512 / 2


def test_a_node_without_a_disk_has_none(tree: Tree) -> None:
    tree.disk("loop0", "7:0", (0, 0), 0)
    with pytest.raises(FileNotFoundError):
        Disks(tree.sys, [])


def test_the_network_is_its_hardware_and_the_fullest_link(tree: Tree) -> None:
    tree.interface("eth0", type="1", speed="10000")
    tree.interface("ib0", type="32", dev_port="0", speed="-1")
    tree.write("sys/class/net/ib0/device/infiniband/mlx4_0/ports/1/rate", "40 Gb/sec (4X QDR)\n")
    tree.net(lo=(5, 5), eth0=(1000, 0), ib0=(0, 0), bond0=(1000, 0))
    network = Network(tree.proc, tree.sys)
    before = network.read()
    tree.net(lo=(9**9, 9**9), eth0=(1000 + 1_000_000_000, 50), ib0=(3_000_000_000, 5_000_000_000), bond0=(9**9, 0))
    assert rates(network, before) == {
        "net_receive_bytes_per_second": 2_000_000_000,
        "net_send_bytes_per_second": 2_500_000_025,
        "net_link_ratio": 0.5,
    }


def test_an_interface_that_disappears_appears_or_restarts_makes_no_jump(tree: Tree) -> None:
    for name in ("eth0", "eth1", "eth2", "eth3"):
        tree.interface(name, type="1", speed="-1")
    tree.net(eth0=(1000, 1000), eth1=(500, 500), eth2=(800, 800))
    network = Network(tree.proc, tree.sys)
    before = network.read()
    tree.net(eth0=(1200, 1400), eth2=(3, 3), eth3=(10**9, 10**9))
    assert rates(network, before) == {"net_receive_bytes_per_second": 100, "net_send_bytes_per_second": 200}


def test_without_hardware_all_interfaces_but_the_loopback_count(tree: Tree) -> None:
    tree.net(lo=(5, 5), eth0=(0, 0))
    network = Network(tree.proc, tree.sys)
    before = network.read()
    tree.net(lo=(9**9, 9**9), eth0=(20, 40))
    assert rates(network, before) == {"net_receive_bytes_per_second": 10, "net_send_bytes_per_second": 20}


def test_an_nfs_mount_is_recognised_by_its_own_section(tree: Tree) -> None:
    tree.write("proc/self/mountstats", sample("mountstats.nfs.txt"))
    both = NfsClient(tree.proc, [NFS3, TargetMount("/mnt/nfs4", "nfs4", "127.0.0.1:/disk/exp", 51), LOCAL])
    assert sorted(both.read().values()) == [
        Client(268435456, 369098752, 1249, 1249),
        Client(268959744, 369098752, 1262, 1262),
    ]
    both.close()


def test_an_unmounted_nfs_mount_is_absent_and_a_remounted_one_makes_no_jump(tree: Tree) -> None:
    text = sample("mountstats.nfs.txt")
    more = text.replace("268435456 369098752", "268435956 369100752").replace("WRITE: 704 704", "WRITE: 724 727")
    tree.write("proc/self/mountstats", text)
    client = NfsClient(tree.proc, [NFS3])
    before = client.read()
    tree.write("proc/self/mountstats", more)
    after = client.read()
    assert client.rates(before, after, SPAN) == {
        "nfs_read_bytes_per_second": 250,
        "nfs_write_bytes_per_second": 1000,
        "nfs_operations_per_second": 10,
        "nfs_retransmissions_per_second": 1.5,
    }
    assert set(client.rates(after, before, SPAN).values()) == {0}
    tree.write("proc/self/mountstats", text.replace("/mnt/nfs3", "/mnt/else"))
    assert client.read() == {}
    assert rates(client, after) == {}


def test_no_more_of_a_long_list_of_mounts_is_read_than_a_second_can_bear(tree: Tree) -> None:
    others = "".join(f"device s:/e mounted on /n/{number} with fstype nfs4 statvers=1.1\n" for number in range(10_000))
    assert len(others) > 2 * LONGEST_BYTES
    tree.write("proc/self/mountstats", others + sample("mountstats.nfs.txt"))
    client = NfsClient(tree.proc, [NFS3])
    assert client.read() == {}
    tree.write("proc/self/mountstats", sample("mountstats.nfs.txt") + others)
    assert len(client.read()) == 1
    client.close()


def test_a_mount_point_is_found_as_the_kernel_writes_it(tree: Tree) -> None:
    tree.write("proc/self/mountstats", sample("mountstats.nfs.txt").replace("/mnt/nfs3", r"/mnt/n\040f\134s3"))
    client = NfsClient(tree.proc, [NFS3._replace(mount_point=r"/mnt/n f\s3")])
    assert len(client.read()) == 1
    client.close()


@pytest.mark.parametrize(
    ("below", "text", "calls"),
    [
        ("proc/fs/lustre", "llite-stats.1.8.txt", Calls(101262334767, 236938468092, 449131 + 201770 + 8050)),
        (
            "sys/kernel/debug/lustre",
            "llite-stats.2.12.txt",
            Calls(
                41809545646900, 12108075547325, 10556773 + 29461907 + 13327 + 841501 + 841461 + 158922 + 692298 + 56712
            ),
        ),
    ],
)
def test_lustre_is_recognised_by_its_file_system_only(tree: Tree, below: str, text: str, calls: Calls) -> None:
    tree.write(f"{below}/llite/scratch-ffff81019a4eb000/stats", (DATA / text).read_text())
    tree.write(f"{below}/llite/scratch-2-ffff81019a4ec000/stats", "read_bytes 1 samples [bytes] 9 9 9\n")
    client = LustreClient(tree.root, [LUSTRE, LOCAL])
    instance = "scratch-ffff81019a4eb000"
    assert client.read() == {instance: calls}
    before = {instance: Calls(calls.read_bytes - 2000, calls.written_bytes, calls.operations - 10)}
    assert rates(client, before) == {
        "lustre_read_bytes_per_second": 1000,
        "lustre_write_bytes_per_second": 0,
        "lustre_operations_per_second": 5,
    }


def test_lustre_continues_after_a_remount_with_another_instance(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_size_bytes: int) -> bytes:
        raise OSError(errno.EIO, "the mount was removed")

    below = "sys/kernel/debug/lustre/llite"
    tree.write(f"{below}/scratch-ffff81019a4eb000/stats", "read_bytes 1 samples [bytes] 9 9 9000\n")
    client = LustreClient(tree.root, [LUSTRE])
    before = client.read()
    monkeypatch.setattr(client.files[0], "read", gone)
    (tree.root / below / "scratch-ffff81019a4eb000/stats").unlink()
    (tree.root / below / "scratch-ffff81019a4eb000").rmdir()
    assert client.read() == client.read() == {}
    assert client.rates(before, {}, SPAN) == {}
    tree.write(f"{below}/scratch-ffff81019a4ec000/stats", "read_bytes 1 samples [bytes] 9 9 9\n")
    after_restart = client.read()
    assert client.rates({}, after_restart, SPAN) == client.rates(before, after_restart, SPAN) == {}
    tree.write(f"{below}/scratch-ffff81019a4ec000/stats", "read_bytes 2 samples [bytes] 9 9 2009\n")
    assert rates(client, after_restart)["lustre_read_bytes_per_second"] == 1000


def test_the_threads_of_md_and_dm_are_found_also_those_that_begin_later(tree: Tree) -> None:
    tree.thread(2, "kthreadd", 0, 0, parent=0)
    tree.thread(77, "md5_raid5", 0, 1000)
    tree.thread(78, "kdmflush/253:0", 0, 20)
    tree.thread(79, "md_bitmap", 0, 5000)
    tree.thread(80, "md0_raid5", 9000, 0, parent=1)
    threads = RaidThreads(tree.proc)
    assert threads.read() == {77: 1000, 78: 20}
    tree.thread(90, "md5_resync", 0, 3)
    for _ in range(SCAN_READINGS):
        before = threads.read()
    assert before == {77: 1000, 78: 20, 90: 3}
    tree.thread(77, "md5_raid5", 0, 1100)
    tree.thread(90, "md5_resync", 0, 103)
    assert rates(threads, before) == {"raid_cpu_ratio": 0.5}


def test_a_thread_that_ended_is_forgotten_and_a_node_without_any_has_no_counter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel_threads, "_KTHREADD", str(os.getpid()).encode())
    monkeypatch.setattr(kernel_threads, "_NAME", re.compile(rb"sleep"))
    child = subprocess.Popen(["sleep", "60"])
    threads = RaidThreads(Path("/proc"))
    before = threads.read()
    assert before.keys() == {child.pid}
    child.kill()
    child.wait()
    assert threads.read() == {}
    assert rates(threads, before) == {}


def test_an_old_kernel_has_fewer_counters(tree: Tree) -> None:
    tree.stat(100, 0, 50, 800, 50, 0, 0, 0)
    tree.write("proc/loadavg", "0.50 0.40 0.30 2/300 4711\n")
    counters = NodeCounters([LOCAL, NFS3, LUSTRE], tree.root)
    tree.stat(200, 0, 50, 800, 50, 0, 0, 0)
    span, found = counters.sample(1.0)
    counters.close()
    assert span == Span(1.0, 100)
    assert found == {"cpu_user_ratio": 1.0, "cpu_system_ratio": 0.0, "cpu_iowait_ratio": 0.0, "load1": 0.5}


def test_shares_of_cpus_with_unknown_time_are_omitted(tree: Tree) -> None:
    tree.write("proc/loadavg", "0.50 0.40 0.30 2/300 4711\n")
    counters = NodeCounters([], tree.root)
    span, found = counters.sample(1.0)
    counters.close()
    assert found == {}
    assert load_rates(Used(0, 0, 0), Used(4096, 0, 50), span).keys() == {
        "write_bytes_per_second",
        "read_bytes_per_second",
    }


def test_missing_or_garbled_kernel_counters_are_omitted_and_the_others_continue(
    tree: Tree, capsys: pytest.CaptureFixture[str]
) -> None:
    tree.stat(100, 0, 50, 800, 50, 0, 0, 0)
    tree.write("proc/loadavg", "0.50 0.40 0.30 2/300 4711\n")
    tree.write("proc/meminfo", "MemTotal: 5 kB\nDirty: 4 kB\n")
    tree.disk("md5", "9:5", (0, 0), 0)
    counters = NodeCounters([LOCAL], tree.root)
    assert {"memory_dirty_bytes", "disk_busy_ratio"} <= counters.sample(1.0)[1].keys()
    tree.write("sys/block/md5/stat", "")
    tree.write("proc/meminfo", "MemTotal: 5 kB\nDirty: many\n")
    for _ in range(2):
        assert counters.sample(1.0)[1].keys() == {"cpu_user_ratio", "cpu_system_ratio", "cpu_iowait_ratio", "load1"}
    counters.close()
    assert capsys.readouterr().err.count("counters_lost") == 2


def test_this_very_node_has_the_counters_that_every_current_linux_has(tmp_path: Path) -> None:
    counters = NodeCounters([TargetMount("/", "ext4", "none", tmp_path.stat().st_dev)])
    _, found = counters.sample(1.0)
    counters.close()
    assert {"cpu_user_ratio", "load1", "memory_dirty_bytes", "net_send_bytes_per_second"} <= found.keys()
    assert all(0 <= value <= 1 for name, value in found.items() if name.endswith("_ratio"))
