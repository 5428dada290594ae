"""Small parts of the runner: mount lines, rates, captured output, doorbells, processes."""

import os
import signal
import subprocess
import sys
import time
from math import inf
from pathlib import Path

import pytest
from agent.order_rig import eventually
from hypothesis import given, settings
from hypothesis import strategies as st

from iotide_agent.loads import random_source
from iotide_agent.probes.mounts import parse_mountinfo as probed_mountinfo
from iotide_agent.runner import processes
from iotide_agent.runner.capture import Capture
from iotide_agent.runner.card import (
    Card,
    Go,
    StepCard,
    TargetCard,
    output_name,
    read_card,
    read_go,
    write_card,
    write_go,
)
from iotide_agent.runner.doorbell import Doorbell, ring
from iotide_agent.runner.files import Slate, read_json, read_slate, replace_file
from iotide_agent.runner.load import Load, Surroundings
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.mounts import mount_of, parse_mountinfo
from iotide_agent.runner.sockets import Sockets
from iotide_agent.runner.tree import LoadTree
from iotide_wire.units import MIB

PROGRAM_BYTES = 32 * MIB
"""More than Python, dd and their libraries, which come from the disk after other tests dropped the caches."""
MOUNTINFO = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
36 22 0:31 / /mnt/moose rw,relatime master:1 shared:2 - fuse mfs\043mfsmaster:9421 rw,user_id=0
37 22 0:32 / /mnt/with\040space rw - nfs4 server:/export\040one rw,vers=4.2
38 22 0:33 / /proc rw - proc  rw
"""


def test_mount_lines_are_read_with_escapes_decoded() -> None:
    root, moose, spaced, nameless = parse_mountinfo(MOUNTINFO)
    assert (root.mount_id, root.mount_point, root.fstype, root.source) == (22, "/", "ext4", "/dev/vda")
    assert (moose.fstype, moose.source) == ("fuse", "mfs#mfsmaster:9421")
    assert (spaced.mount_point, spaced.source) == ("/mnt/with space", "server:/export one")
    assert (nameless.fstype, nameless.source, nameless.super_options) == ("proc", "", "rw")


@pytest.mark.parametrize("broken", ["\r", "\f", "\x85", "\u2028"])
def test_a_strange_name_of_another_users_mount_hides_no_other(broken: str) -> None:
    lines = f"31 1 0:9 / /home/u/a{broken}b rw - fuse.x x rw\n{MOUNTINFO}"
    assert parse_mountinfo(lines)[1:] == parse_mountinfo(MOUNTINFO)


def test_a_source_that_is_no_utf8_is_the_same_text_for_probe_and_runner() -> None:
    text = rb"22 1 254:0 / /mnt/\303\244 rw - nfs4 server:/b\344r\040\303\274 rw".decode(errors="replace")
    raw = b"22 1 254:0 / /mnt/\xc3\xa4 rw - nfs4 server:/b\xe4r\\040\xc3\xbc rw".decode(errors="replace")
    [probed], [found] = probed_mountinfo(text), parse_mountinfo(raw)
    assert (found.mount_point, found.source) == (probed.mount_point, probed.source) == ("/mnt/ä", "server:/b\ufffdr ü")


def test_the_mount_of_a_directory_is_the_kernels(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    listed = subprocess.run(
        ["findmnt", "-no", "FSTYPE,SOURCE", "-T", str(tmp_path)], capture_output=True, text=True, check=True
    )
    mount = mount_of(descriptor)
    os.close(descriptor)
    assert [mount.fstype, mount.source] == listed.stdout.split()


@settings(deadline=None)
@given(
    printed=st.lists(st.binary(max_size=300), max_size=30),
    limit_bytes=st.integers(2, 500).map(lambda half: 2 * half),
)
def test_both_ends_of_an_output_are_kept_and_the_rest_is_counted(
    tmp_path_factory: pytest.TempPathFactory, printed: list[bytes], limit_bytes: int
) -> None:
    file = tmp_path_factory.mktemp("capture") / "out"
    ours, theirs = os.pipe()
    capture = Capture(ours, file, limit_bytes)
    for chunk in printed:
        os.write(theirs, chunk)
        capture.drain()
    os.close(theirs)
    capture.finish()
    whole, kept = b"".join(printed), file.read_bytes()
    if len(whole) <= limit_bytes:
        assert (kept, capture.left_out_bytes) == (whole, 0)
    else:
        half = limit_bytes // 2
        left_out = len(whole) - limit_bytes
        assert capture.left_out_bytes == left_out
        assert kept == whole[:half] + b"\n[iotide left out %d bytes here]\n" % left_out + whole[-half:]


def test_a_doorbell_receives_every_ring_and_ringing_without_a_listener_returns_false(tmp_path: Path) -> None:
    assert not ring(tmp_path / "bell")
    bell = Doorbell(tmp_path / "bell")
    for _ in range(70_000):
        assert ring(tmp_path / "bell")
    bell.quiet()
    with pytest.raises(BlockingIOError):
        os.read(bell.fileno(), 1)


def test_the_loop_sleeps_without_an_end_until_something_happens(tmp_path: Path) -> None:
    bell, loop = Doorbell(tmp_path / "bell"), Loop()
    rings: list[str] = []
    loop.watch(bell.fileno(), lambda: rings.append("ring"))
    bell.ring_self()
    loop.turn(inf)
    assert rings == ["ring"]


def test_the_loop_ticks_when_a_tick_is_due_and_not_before() -> None:
    loop = Loop()
    ticks: list[float] = []

    def tick() -> float:
        ticks.append(processes.boottime())
        return ticks[-1] + 0.05

    loop.every(tick)
    while len(ticks) < 3:
        loop.turn(inf)
    assert ticks[2] - ticks[0] >= 0.1
    loop.every(None)
    loop.turn(processes.boottime() + 0.06)
    assert len(ticks) == 3


def test_a_file_is_replaced_whole_and_private(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert read_json(file) is None
    replace_file(file, "[1]", durable=True)
    replace_file(file, "[2]", durable=False)
    assert read_json(file) == [2]
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_slate_reads_as_what_was_written_last_and_as_nothing_in_the_middle_of_it(tmp_path: Path) -> None:
    file = tmp_path / "tail"
    assert read_slate(file) == ""
    slate = Slate(file)
    read = [read_slate(file)]
    for text in ("done 5000 1.25 \udcff", "done 7000", ""):
        slate.write(text)
        read.append(read_slate(file))
    slate.close()
    assert read == ["", "done 5000 1.25 \ufffd", "done 7000", ""]
    Slate(file).write("done 9000")
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert read_slate(file) == ""
    file.write_bytes(whole.replace(b"done 9", b"done 8"))
    assert read_slate(file) == ""


def test_a_card_is_read_as_it_was_written(tmp_path: Path) -> None:
    card = Card(
        7, 70, "d", (TargetCard(1, "/t", "ext4", "/dev/x", 5, 6),), ("/t",), "/b", {"PATH": "/"}, True, (), 1.5, 10, 1.0
    )
    write_card(tmp_path, card)
    assert read_card(tmp_path) == card
    assert read_go(tmp_path) is None
    go = Go(1.5, ((StepCard("a", ("dd", "x"), "drop", ("/t/f",)),), (StepCard("b", ("true",), "none", ()),)))
    write_go(tmp_path, go)
    assert read_go(tmp_path) == go


def test_output_names_are_safe_whatever_a_step_is_called() -> None:
    assert output_name(3, "../../etc/passwd") == "003-.._.._etc_passwd"
    assert output_name(0, "schreiben ü") == "000-schreiben__"


def test_a_tool_that_cannot_be_reached_yet_does_not_block_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(_argv: object, pipes: tuple[int, int, int, int], *_: object) -> None:
        os.setsid()
        os.write(pipes[3], b".")
        time.sleep(100)
        os._exit(1)

    monkeypatch.setattr("iotide_agent.runner.load._become", hang)
    surroundings = Surroundings(tmp_path, tmp_path, 10, 1.0, (), {}, Sockets())
    load = Load(StepCard("step", ("tool",), "none", ()), "none", 0, surroundings, 0.0)
    assert not load.reap()
    os.kill(load.pid, signal.SIGKILL)
    eventually(load.reap)
    assert load.close()["signal"] == signal.SIGKILL


def test_a_process_is_known_by_pid_and_start() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    stat = processes.stat_of(child.pid)
    assert stat is not None
    assert processes.is_alive(child.pid, stat.start_ticks)
    assert not processes.is_alive(child.pid, stat.start_ticks + 1)
    child.communicate(b"\n")
    assert not processes.is_alive(child.pid, stat.start_ticks)


def test_a_process_with_a_confusing_name_is_read(tmp_path: Path) -> None:
    program = tmp_path / "a) R 1 (b"
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(program), "60"])
    stat = processes.stat_of(child.pid)
    child.kill()
    child.wait()
    assert stat is not None
    assert stat.parent == os.getpid()


def test_holders_are_the_processes_with_the_file_open(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with lock.open("w") as file:
        child = subprocess.Popen(["sleep", "60"], pass_fds=[file.fileno()])
    assert processes.holders(lock) == [child.pid]
    child.kill()
    child.wait()
    assert processes.holders(lock) == []


def test_bytes_of_children_that_ended_are_not_lost(tmp_path: Path) -> None:
    tree = LoadTree()
    write = "import os,sys; os.write(os.open(sys.argv[1], os.O_CREAT|os.O_WRONLY), bytes(1_000_000)); input()"
    children = [
        subprocess.Popen([sys.executable, "-I", "-S", "-c", write, str(tmp_path / name)], stdin=subprocess.PIPE)
        for name in ("a", "b")
    ]
    eventually(lambda: tree.total().written_bytes >= 2_000_000)
    for child in children:
        child.communicate(b"\n")
        assert 2_000_000 <= tree.total().written_bytes < 2_100_000
    tree.close()


def test_use_by_a_child_is_counted_once_after_its_parent_has_waited_for_it(tmp_path: Path) -> None:
    tree = LoadTree()
    write = "import os,sys,time; os.write(os.open(sys.argv[1], os.O_CREAT|os.O_WRONLY), bytes(1_000_000))"
    spin = "list(iter(lambda: time.process_time() < 0.25, False)); os.read(0, 1)"
    parent = "import os,sys; os.spawnv(os.P_WAIT, sys.executable, [sys.executable, *sys.argv[1:]]); os.read(0, 1)"
    command = [sys.executable, "-I", "-S", "-c", parent, "-I", "-S", "-c", f"{write}; {spin}", str(tmp_path / "a")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0) as family:
        eventually(lambda: tree.total().cpu_ticks >= 20)
        assert family.stdin is not None
        family.stdin.write(b"\n")
        eventually(lambda: not processes.descendants(family.pid))
        totals = [tree.total() for _ in range(2)]
    tree.close()
    assert all(1_000_000 <= total.written_bytes < 1_100_000 for total in totals)
    assert all(20 <= total.cpu_ticks < 35 for total in totals)


def test_dd_from_zero_to_null_is_not_counted() -> None:
    tree = LoadTree()
    argv = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1M"]
    child = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    streams = [Path(f"/proc/{child.pid}/fd/{number}") for number in (0, 1)]
    eventually(lambda: [str(stream.readlink()) for stream in streams] == ["/dev/zero", "/dev/null"])
    time.sleep(0.05)  # some gigabytes
    seen = tree.total()
    child.kill()
    child.wait()
    tree.close()
    assert seen.read_bytes < PROGRAM_BYTES
    assert seen.written_bytes == 0


@pytest.mark.parametrize("is_seen_at_work", [True, False])
def test_a_dd_that_ends_between_two_looks_adds_nothing_of_zero_and_null(*, is_seen_at_work: bool) -> None:
    tree = LoadTree()
    child = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M"], stderr=subprocess.DEVNULL)
    streams = [Path(f"/proc/{child.pid}/fd/{number}") for number in (0, 1)]
    eventually(lambda: [str(stream.readlink()) for stream in streams] == ["/dev/zero", "/dev/null"])
    if is_seen_at_work:
        tree.total()
    time.sleep(0.05)  # some gigabytes
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    seen = tree.total()
    child.wait()
    tree.close()
    assert seen.read_bytes < PROGRAM_BYTES
    assert seen.written_bytes < 100_000


def test_bytes_of_an_ended_dd_are_counted(tmp_path: Path) -> None:
    tree = LoadTree()
    pipe_read, pipe_write = os.pipe()
    child = subprocess.Popen(["dd", f"of={tmp_path / 'data'}", "bs=1M"], stdin=pipe_read, stderr=subprocess.DEVNULL)
    os.close(pipe_read)
    eventually(lambda: Path(f"/proc/{child.pid}/fd/1").readlink() == tmp_path / "data")
    tree.total()
    os.write(pipe_write, bytes(50_000))
    os.close(pipe_write)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert tree.total().written_bytes >= 50_000
    child.wait()
    tree.close()


def test_random_data_on_its_way_to_dd_counts_neither_as_written_nor_as_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tree = LoadTree()
    dd = ("dd", f"of={tmp_path / 'data'}", "bs=1M", "count=96", "iflag=fullblock")
    with subprocess.Popen(
        [sys.executable, "-I", "-S", random_source.__file__, *dd], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as source:
        eventually(lambda: tree.total().written_bytes > 0)
        os.waitid(os.P_PID, source.pid, os.WEXITED | os.WNOWAIT)
        seen = tree.total()
    tree.close()
    assert list(tmp_path.iterdir()) == [tmp_path / "data"]
    assert 96 * MIB <= seen.written_bytes < 97 * MIB
    assert seen.read_bytes < PROGRAM_BYTES
