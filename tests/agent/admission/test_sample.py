"""Sample of an idle node's last seconds, read from a fake /proc and /sys."""

from pathlib import Path

import pytest
from agent.kernel_tree import Tree

from iotide_agent.admission.sample import WRITE_BACK_SECONDS, IdleSample
from iotide_agent.judging.quiet import RECENT_SECONDS
from iotide_wire.units import MIB

MEMINFO = (Path(__file__).parents[2] / "data/counters/meminfo.txt").read_text()
PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"


class Node(Tree):
    """Node with four CPUs and a clock that the test moves."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.now = 1000.0
        self.user_ticks = self.idle_ticks = 0
        self.read_bytes = self.written_bytes = self.carried_bytes = 0
        self.io_microseconds = 0
        self.running = 1
        self.interface("eth0", type="1", speed="1000")
        (self.sys / "block/sda/device").mkdir(parents=True)
        self.dirty(0)
        self.write_counters()
        self.sample = IdleSample(root, lambda: self.now, processors=4)

    def dirty(self, size_bytes: int) -> None:
        text = MEMINFO.replace("Dirty:            141220 kB", f"Dirty: {size_bytes // 1024} kB")
        assert f"Dirty: {size_bytes // 1024} kB" in text
        self.write("proc/meminfo", text)

    def write_counters(self) -> None:
        self.stat(self.user_ticks, 0, 0, self.idle_ticks, 0, 0, 0, 0)
        self.write("proc/loadavg", f"2.50 0.40 0.30 {self.running}/300 4711\n")
        self.disk("sda", "8:0", (self.read_bytes // 512, self.written_bytes // 512), 0)
        self.net(lo=(10**9, 10**9), eth0=(self.carried_bytes, 0))
        for resource, total in (("cpu", 0), ("io", self.io_microseconds), ("memory", 0)):
            self.write(f"proc/pressure/{resource}", PRESSURE.format(total))

    def second(self, *, user: int = 0, written: int = 0, carried: int = 0, io: float = 0.0, running: int = 1) -> None:
        """Advance the clock by a second with this activity and take a reading."""
        self.now += 1.0
        self.user_ticks += user
        self.idle_ticks += 400 - user
        self.written_bytes += written
        self.carried_bytes += carried
        self.io_microseconds += round(io * 1e6)
        self.running = running
        self.write_counters()
        self.sample.take()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_nothing_is_known_before_a_second_has_passed(node: Node) -> None:
    assert node.sample.measured() is None
    node.sample.begin()
    assert node.sample.measured() is None
    node.second()
    idle = node.sample.measured()
    assert idle is not None
    assert (idle.seconds, idle.is_complete) == (1.0, False)


def test_a_sample_rolls_on_and_forgets_what_ended_more_than_its_seconds_ago(node: Node) -> None:
    node.sample.begin()
    for _ in range(5):
        node.second(user=200, written=10 * MIB, carried=MIB, io=0.5, running=4)
    busy = node.sample.measured()
    assert busy is not None
    assert busy.is_complete
    assert busy.seconds == pytest.approx(5.0)
    assert busy.cpu_ratio == pytest.approx(0.5)
    assert busy.psi_io_ratio == pytest.approx(0.5)
    assert busy.disk_bytes_per_second == pytest.approx(10 * MIB)
    assert busy.network_bytes_per_second == pytest.approx(MIB)
    assert busy.running_tasks is not None
    assert busy.running_tasks > 2
    assert (busy.load1, busy.processors) == (2.5, 4)
    for _ in range(6):
        node.second()
    calm = node.sample.measured()
    assert calm is not None
    assert calm.seconds == pytest.approx(5.0, abs=1.0)
    assert (calm.cpu_ratio, calm.running_tasks, calm.psi_io_ratio) == (0.0, 0.0, 0.0)
    assert (calm.disk_bytes_per_second, calm.network_bytes_per_second) == (0.0, 0.0)


def test_the_process_that_looks_is_not_among_the_tasks_that_run(node: Node) -> None:
    node.sample.begin()
    for _ in range(5):
        node.second(running=1)
    idle = node.sample.measured()
    assert idle is not None
    assert idle.running_tasks == 0.0


def test_dirty_pages_of_the_previous_run_belong_to_it(node: Node) -> None:
    node.dirty(80 * MIB)
    node.sample.begin()
    for _ in range(5):
        node.second(written=16 * MIB, io=0.9)
    idle = node.sample.measured()
    assert idle is not None
    assert (idle.disk_bytes_per_second, idle.psi_io_ratio) == (0.0, None)
    # With the file system's own writes for each byte, 100 MiB may come from the run; the rest is other load.
    for _ in range(7):
        node.second(written=16 * MIB, io=0.9)
    idle = node.sample.measured()
    assert idle is not None
    assert idle.disk_bytes_per_second == pytest.approx(16 * MIB)
    assert idle.psi_io_ratio == pytest.approx(0.9)


def test_pages_that_were_not_written_within_their_time_were_not_the_runs(node: Node) -> None:
    node.dirty(80 * MIB)
    node.sample.begin()
    for _ in range(int(WRITE_BACK_SECONDS) + 1):
        node.second()
    for _ in range(6):
        node.second(written=2 * MIB)
    idle = node.sample.measured()
    assert idle is not None
    assert idle.disk_bytes_per_second == pytest.approx(2 * MIB)


def test_a_fresh_sample_begins_again_after_a_load(node: Node) -> None:
    node.sample.begin()
    for _ in range(6):
        node.second(user=400)
    node.sample.stop()
    assert node.sample.measured(is_fresh=True) is None
    node.second()  # the sample begins with this reading
    for _ in range(5):
        node.second()
    idle = node.sample.measured(is_fresh=True)
    assert idle is not None
    assert (idle.cpu_ratio, idle.seconds, idle.within_seconds) == (0.0, 5.0, 5.0)


def load(node: Node, seconds: float, *, user: int) -> None:
    """Advance the clock through a load of the agent; nothing is read meanwhile."""
    node.sample.stop()
    node.now += seconds
    node.user_ticks += user
    node.idle_ticks += round(400 * seconds) - user
    node.write_counters()


def test_seconds_between_short_runs_make_up_a_sample_without_what_the_runs_did(node: Node) -> None:
    node.sample.begin()
    for _ in range(5):
        load(node, 1.0, user=400)
        node.sample.take()
        node.second(user=200)
    idle = node.sample.measured()
    assert idle is not None
    assert idle.is_complete
    assert idle.cpu_ratio == pytest.approx(0.5)
    assert (idle.seconds, idle.within_seconds) == (5.0, 9.0)


def test_a_gap_of_less_than_a_second_is_ignored(node: Node) -> None:
    for _ in range(10):
        node.sample.take()
        node.now += 0.8
        node.write_counters()
        load(node, 1.0, user=400)
    assert node.sample.measured() is None


def test_seconds_older_than_a_minute_are_forgotten_one_by_one(node: Node) -> None:
    node.sample.begin()
    for _ in range(5):
        node.second(user=200)
    load(node, RECENT_SECONDS - 2, user=0)
    idle = node.sample.measured()
    assert idle is not None
    assert (idle.seconds, idle.is_complete) == (2.0, False)
    load(node, 3.0, user=0)
    assert node.sample.measured() is None


def test_pages_that_a_run_left_are_its_own_also_in_a_short_gap(node: Node) -> None:
    for _ in range(5):
        node.dirty(10 * MIB)
        node.sample.take()
        node.second(written=10 * MIB, io=0.9)
        load(node, 1.0, user=0)
    idle = node.sample.measured()
    assert idle is not None
    assert (idle.is_complete, idle.disk_bytes_per_second, idle.psi_io_ratio) == (True, 0.0, None)


def test_values_missing_in_the_kernel_are_absent_and_never_zero(node: Node) -> None:
    for resource in ("cpu", "io", "memory"):
        (node.proc / "pressure" / resource).unlink()
    (node.sys / "block/sda/device").rmdir()
    node.sample.begin()
    node.sample.take()
    node.now += 5.0
    node.sample.take()
    idle = node.sample.measured()
    assert idle is not None
    assert (idle.psi_cpu_ratio, idle.psi_io_ratio, idle.disk_bytes_per_second) == (None, None, None)
    assert idle.network_bytes_per_second == 0.0


def test_this_very_node_can_be_sampled() -> None:
    times = iter(range(100))
    sample = IdleSample(clock=lambda: float(next(times)))
    sample.begin()
    for _ in range(6):
        sample.take()
    idle = sample.measured()
    sample.close()
    assert idle is not None
    assert idle.is_complete
    assert idle.cpu_ratio is not None
    assert idle.running_tasks is not None
