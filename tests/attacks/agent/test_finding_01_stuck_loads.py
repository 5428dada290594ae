"""Processes that hold a node after its order has ended: the node's lock and records show them to every observer."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from agent.agent_rig import AgentRig
from agent.node_rig import NodeRig
from agent.order_rig import Rig, eventually, python, step, target_card

from iotide_agent.core.spool import NodeBusyError, Spool
from iotide_agent.loads import fill_files
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.stuck import StuckLoads
from iotide_agent.runner import processes
from iotide_agent.runner.aftermath import is_order_alive, lock_order
from iotide_agent.runner.files import replace_file
from iotide_agent.runner.record import as_unkilled
from iotide_wire.messages import Outcome

MODES: Final[tuple[Literal["shared"], Literal["exclusive"]]] = ("shared", "exclusive")
FIO = {"rw": "randwrite", "block_size_bytes": 4096, "file_size_bytes": 4 * 1024**2, "runtime_seconds": 2}


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    made = Spool(tmp_path / "state")
    made.prepare()
    return made


@contextmanager
def load_of(spool: Spool, order_id: int, mode: str = "exclusive") -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that keeps the locks of an order and of the node open, as a load does."""
    directory = spool.files(order_id).directory
    directory.mkdir()
    locks = (spool.lock_node("shared" if mode == "shared" else "exclusive"), lock_order(directory))
    child = subprocess.Popen(["sleep", "600"], pass_fds=locks)
    for lock in locks:
        os.close(lock)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


@contextmanager
def frozen_ext4(base: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Mount a file system on an approved directory; yield it, and a function that freezes it until the end of the
    block.
    """
    image, target = base / "image", base / "target"
    target.mkdir()
    image.touch()
    os.truncate(image, 64 * 1024**2)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(target)], check=True)

    def freeze() -> None:
        subprocess.run(["fsfreeze", "--freeze", str(target)], check=True)

    try:
        yield target, freeze
    finally:
        subprocess.run(["fsfreeze", "--unfreeze", str(target)], check=False)
        eventually(lambda: subprocess.run(["umount", str(target)], check=False).returncode == 0)


def test_a_load_that_holds_the_node_is_named_with_its_order(spool: Spool) -> None:
    loads = StuckLoads(spool)
    assert loads.look() == ()
    with load_of(spool, 7) as child:
        (found,) = loads.look() or ()
        assert (found.order_id, found.process, found.pid, found.processes) == (7, "sleep", child.pid, 1)
        assert loads.look() == (found,)
    assert loads.look() == ()


def test_an_agent_that_was_started_again_finds_the_load_of_an_order_that_was_set_aside(spool: Spool) -> None:
    with load_of(spool, 7) as child:
        spool.set_aside(7)
        (found,) = StuckLoads(Spool(spool.state_directory)).look() or ()
        assert (found.order_id, found.pid) == (7, child.pid)


@contextmanager
def left_of(directory: Path, phase: dict[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process without the inherited locks, of an order whose runner could not kill it and has exited."""
    with subprocess.Popen(["sleep", "600"]) as child:
        try:
            stat = processes.stat_of(child.pid)
            assert stat is not None
            directory.mkdir(exist_ok=True)
            text = json.dumps(phase | {"unkilled": as_unkilled([stat])})
            replace_file(directory / "phase.json", text, durable=False)
            yield child
        finally:
            child.kill()


def test_a_load_that_closed_its_descriptors_stays_named_and_holds_the_node(spool: Spool) -> None:
    with left_of(spool.files(7).directory, {"boot_id": processes.boot_id()}) as child:
        (found,) = StuckLoads(spool).look() or ()
        assert (found.order_id, found.process, found.pid) == (7, "sleep", child.pid)
        spool.set_aside(7)
        restarted = Spool(spool.state_directory)
        (found,) = StuckLoads(restarted).look() or ()
        assert (found.order_id, found.pid) == (7, child.pid)
        for mode in MODES:
            with pytest.raises(NodeBusyError, match=rf"sleep \(pid {child.pid}\) of order 7"):
                restarted.lock_node(mode)
    assert StuckLoads(spool).look() == ()
    os.close(spool.lock_node("exclusive"))


def test_a_stuck_load_of_another_boot_holds_nothing(spool: Spool) -> None:
    with left_of(spool.files(7).directory, {"boot_id": "another boot"}):
        assert StuckLoads(spool).look() == ()
        os.close(spool.lock_node("exclusive"))


def test_a_real_load_that_closed_its_descriptors_is_recorded_by_its_runner(
    make_rig: Callable[..., Rig], tmp_path: Path
) -> None:
    """The storage is frozen, so no signal ends the process that the load's tool started without the locks."""
    with frozen_ext4(tmp_path) as (target, freeze):
        rig = make_rig(targets=(target_card(target),), patience_seconds=1.0)
        rig.start()
        rig.until_phase("ready")
        freeze()
        tool = f"import subprocess; subprocess.run(['dd', 'if=/dev/zero', 'of={rig.place}/data', 'bs=1M', 'count=1'])"
        rig.go([step(*python(tool))])
        rig.until(lambda: any(one.name == "dd" and one.state == "D" for one in rig.descendants()))
        rig.cancel()
        assert rig.until_ended()["code"] == "stuck"
        assert not is_order_alive(rig.directory)
        spool = Spool(tmp_path)
        (found,) = StuckLoads(spool).look() or ()
        assert (found.order_id, found.process, found.state) == (7, "dd", "D")
        with pytest.raises(NodeBusyError, match=r"dd \(pid [0-9]+\) of order 7"):
            spool.lock_node("exclusive")
    eventually(lambda: StuckLoads(spool).look() == ())


def test_an_order_that_left_a_process_alive_is_kept_although_no_file_of_it_is_left(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    with_node = NodeRig(tmp_path / "state", [tmp_path / "target"])
    order = with_node.order("fio", FIO, tmp_path / "target")
    with_node.begin(order)
    with_node.cancel(order)
    files = with_node.spool.files(order.order_id)
    with_node.until(files.exit.exists)
    with left_of(files.directory, with_node.phase(order)) as child:
        with_node.finish(order)
        (found,) = StuckLoads(with_node.spool).look() or ()
        assert (found.order_id, found.pid) == (order.order_id, child.pid)
        with_node.runs.clean_leftovers()
        assert len(with_node.spool.leftovers()) == 1
    with_node.clean_leftovers()


def test_a_file_that_fills_a_target_is_written_by_a_process_with_the_locks(spool: Spool) -> None:
    lock = spool.lock_node("exclusive")
    os.set_inheritable(lock, True)
    say = f"import os; print(os.readlink('/proc/self/fd/{lock}'))"
    arguments = [str(spool.held), "1", "1", "100", "0", sys.executable, "-c", say]
    done = subprocess.run(
        [sys.executable, "-I", "-S", fill_files.__file__, *arguments], pass_fds=[lock], capture_output=True, check=True
    )
    os.close(lock)
    assert b"node.lock" in done.stdout


def test_loads_of_two_orders_are_named_apart(spool: Spool) -> None:
    with load_of(spool, 7, "shared"), load_of(spool, 8, "shared"):
        assert sorted(load.order_id or 0 for load in StuckLoads(spool).look() or ()) == [7, 8]


def test_a_process_with_an_ended_first_thread_is_alive_and_holds_its_files(
    spool: Spool,
) -> None:
    """fio does so after a KILL while one of its threads hangs: its process id shows a zombie without files."""
    directory = spool.files(7).directory
    directory.mkdir()
    locks = (spool.lock_node("exclusive"), lock_order(directory))
    code = (
        "import ctypes, threading, time; threading.Thread(target=time.sleep, args=[600]).start();"
        "print(flush=True); ctypes.CDLL(None).pthread_exit(None)"
    )
    with subprocess.Popen([sys.executable, "-c", code], pass_fds=locks, stdout=subprocess.PIPE) as child:
        for lock in locks:
            os.close(lock)
        try:
            assert child.stdout is not None
            child.stdout.readline()
            status = Path(f"/proc/{child.pid}/stat")
            while status.read_text().rpartition(")")[2].split()[0] != "Z":
                os.sched_yield()
            found = processes.stat_of(child.pid)
            assert found is not None
            assert found.state != "Z"
            assert processes.is_alive(child.pid, found.start_ticks)
            assert is_order_alive(directory)
            (load,) = StuckLoads(spool).look() or ()
            assert (load.order_id, load.pid) == (7, child.pid)
        finally:
            child.kill()
    assert StuckLoads(spool).look() == ()


def test_the_agent_reports_what_holds_its_node_and_nothing_while_an_order_loads_it(own_agent: AgentRig) -> None:
    reports = own_agent.gateway.stuck
    own_agent.gateway.until(lambda: reports and reports[-1] == ())
    with load_of(Spool(own_agent.state), 7) as child:
        own_agent.gateway.until(lambda: reports[-1])
        (found,) = reports[-1] or ()
        assert (found.order_id, found.pid) == (7, child.pid)
        own_agent.kill()
        own_agent.start()
        own_agent.gateway.until(lambda: reports[-1])
    own_agent.gateway.until(lambda: reports[-1] == ())
    order_id = own_agent.offer("fio", FIO)
    own_agent.gateway.until_running(order_id)
    assert reports[-1] is None
    own_agent.gateway.result(order_id)
    own_agent.gateway.until(lambda: reports[-1] == ())


def test_a_kill_of_all_processes_of_a_node_does_not_hide_a_stuck_one(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    with_node = NodeRig(tmp_path / "state", [tmp_path / "target"])
    order = with_node.order("fio", FIO, tmp_path / "target")
    with_node.begin(order)
    with_node.release(order)
    with_node.runs.end_all(Verdict(Outcome.CANCELLED, "batch_ended", "ended by the batch system"))
    exit_file = with_node.spool.files(order.order_id).exit
    with_node.until(exit_file.exists)
    ending = exit_file.read_text().replace('"cancelled"', '"failed"').replace("batch_ended", "stuck")
    replace_file(exit_file, ending, durable=False)
    result = with_node.finish(order)
    assert (result.outcome, result.reason_code) == (Outcome.FAILED, "stuck")
