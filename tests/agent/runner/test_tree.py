"""Total resource use of a load: counted once and never decreasing, whichever process ends first."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from agent.order_rig import eventually

from iotide_agent.runner import processes, tree
from iotide_agent.runner.tree import LoadTree, Used

MEGABYTE = 1_000_000
PARENT = 2**22 + 1
"""Process id that no real kernel assigns."""


@contextmanager
def writer(file: Path, threads: int = 0) -> Iterator[None]:
    """Start a child that has written a megabyte and has further threads; it lives until the end of the block."""
    program = (
        "import os,sys,threading\n"
        "for _ in range(int(sys.argv[2])): threading.Thread(target=os.read, args=(0, 1), daemon=True).start()\n"
        "os.write(os.open(sys.argv[1], os.O_CREAT|os.O_WRONLY), bytes(1_000_000)); print(flush=True); os.read(0, 1)"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(file), str(threads)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"\n"
        yield


@pytest.fixture
def watched() -> Iterator[LoadTree]:
    made = LoadTree()
    yield made
    made.close()


def test_unreaped_children_are_not_lost_when_they_end(watched: LoadTree, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("most_looked_up", [2**22, -1], ids=["looked up one by one", "listed"])
def test_threads_of_a_child_do_not_count_again(
    most_looked_up: int, watched: LoadTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "_MOST_LOOKED_UP", most_looked_up)
    with writer(tmp_path / "a", threads=3):
        assert MEGABYTE <= watched.total().written_bytes < 1.1 * MEGABYTE


def test_a_child_is_found_where_the_numbers_of_processes_began_again(watched: LoadTree, tmp_path: Path) -> None:
    watched._looked_up_to = watched._newest = PARENT
    with writer(tmp_path / "a"):
        assert watched.total().written_bytes >= MEGABYTE


def test_a_child_that_was_half_made_at_one_look_is_found_at_the_next(
    watched: LoadTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with writer(tmp_path / "a"):
        with monkeypatch.context() as half_made:
            half_made.setattr(processes, "stat_of", lambda _: None)
            assert watched.total().written_bytes == 0
        assert watched.total().written_bytes >= MEGABYTE


def is_fed(pid: int) -> bool:
    return str(Path(f"/proc/{pid}/fd/0").readlink()) == "/dev/zero"


class Family:
    """A parent and its children in the kernel's accounting: the parent's total includes a child after it waited for it.

    Attributes:
        ends: children by how many readings of the parent they live through.
    """

    def __init__(self, ends: dict[int, int]) -> None:
        self.ends = ends
        self.parent_reads = 0

    def has_ended(self, pid: int) -> bool:
        return pid in self.ends and self.parent_reads >= self.ends[pid]


class Relative:
    """Process of a Family; each child wrote 100 bytes."""

    def __init__(self, family: Family, pid: int, parent: int) -> None:
        self.family, self.pid, self.parent = family, pid, parent
        self.seen, self.is_gone, self.is_fed = Used(0, 0, 0), False, False

    def read(self) -> None:
        if self.family.has_ended(self.pid):
            self.is_gone = True
        elif self.pid == PARENT:
            self.family.parent_reads += 1
            waited = sum(map(self.family.has_ended, self.family.ends))
            self.seen = Used(100 * waited, 0, 0)
        else:
            self.seen = Used(100, 0, 0)

    def close(self) -> None:
        pass


def test_children_that_end_one_after_another_while_they_are_looked_at_count_once(
    watched: LoadTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = Family({PARENT + 1: 2, PARENT + 2: 3, PARENT + 3: 4, PARENT + 4: 99})
    members = {pid: Relative(family, pid, PARENT) for pid in family.ends}
    members = {PARENT: Relative(family, PARENT, os.getpid()), **members}
    monkeypatch.setattr(watched, "_members", members)
    assert [watched.total().written_bytes for _ in range(3)] == [400, 400, 400]
