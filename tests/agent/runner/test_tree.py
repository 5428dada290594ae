"""What a load used in all: counted once, and never less than before, whoever ends when."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.order_rig import eventually

from iotide_agent.runner import processes
from iotide_agent.runner.tree import LoadTree, Used


@pytest.fixture
def watched() -> Iterator[LoadTree]:
    made = LoadTree()
    yield made
    made.close()


def test_children_that_nobody_waits_for_are_not_lost_when_they_end(watched: LoadTree, tmp_path: Path) -> None:
    write = "import os,sys; os.write(os.open(sys.argv[1], os.O_CREAT|os.O_WRONLY), bytes(1_000_000)); os.read(0, 1)"
    parent = (
        "import os,signal,subprocess,sys\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, *sys.argv[1:]]).wait()\n"
        "os.read(0, 1)"
    )
    command = [sys.executable, "-I", "-S", "-c", parent, "-I", "-S", "-c", write, str(tmp_path / "a")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0) as family:
        eventually(lambda: watched.total().written_bytes >= 1_000_000)
        assert family.stdin is not None
        family.stdin.write(b"\n")
        eventually(lambda: not processes.descendants(family.pid))
        assert watched.total().written_bytes >= 1_000_000


def test_zeroes_that_a_child_took_are_not_read_by_its_parent_once_it_is_gone(watched: LoadTree) -> None:
    parent = (
        "import os,subprocess,sys\n"
        "dd = subprocess.Popen(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1M'], stderr=subprocess.DEVNULL)\n"
        "import time; os.read(0, 1); time.sleep(0.05); dd.kill(); dd.wait(); print(flush=True); os.read(0, 1)"
    )
    command = [sys.executable, "-I", "-S", "-c", parent]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as family:
        assert family.stdin is not None
        assert family.stdout is not None
        eventually(lambda: any(is_fed(child.pid) for child in processes.descendants(family.pid)))
        watched.total()
        family.stdin.write(b"\n")
        family.stdout.read(1)
        seen = watched.total()
    assert seen.read_bytes < 8 * 1024**2


def is_fed(pid: int) -> bool:
    return str(Path(f"/proc/{pid}/fd/0").readlink()) == "/dev/zero"


class Family:
    """A parent and its children as the kernel counts them: what a child wrote is the parent's once it was waited for.

    Attributes:
        ends: children by how many readings of the parent they live through.
    """

    def __init__(self, ends: dict[int, int]) -> None:
        self.ends = ends
        self.parent_reads = 0

    def present(self) -> list[int]:
        return [os.getpid(), 1, *(pid for pid in self.ends if not self.has_ended(pid))]

    def has_ended(self, pid: int) -> bool:
        return pid in self.ends and self.parent_reads >= self.ends[pid]


class Relative:
    """One of a Family, of which each child wrote 100 bytes."""

    def __init__(self, family: Family, pid: int, parent: int) -> None:
        self.family, self.pid, self.parent = family, pid, parent
        self.seen, self.is_gone, self.is_fed = Used(0, 0, 0), False, False

    def read(self) -> None:
        if self.family.has_ended(self.pid):
            self.is_gone = True
        elif self.pid == 1:
            self.family.parent_reads += 1
            waited = sum(map(self.family.has_ended, self.family.ends))
            self.seen = Used(100 * waited, 0, 0)
        else:
            self.seen = Used(100, 0, 0)

    def close(self) -> None:
        """Nothing is open."""


def test_children_that_end_one_after_another_while_they_are_looked_at_count_once(
    watched: LoadTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = Family({2: 2, 3: 3, 4: 4, 5: 99})
    monkeypatch.setattr(processes, "all_pids", family.present)
    members = {pid: Relative(family, pid, os.getpid() if pid == 1 else 1) for pid in range(1, 6)}
    monkeypatch.setattr(watched, "_members", members)
    assert [watched.total().written_bytes for _ in range(3)] == [400, 400, 400]
