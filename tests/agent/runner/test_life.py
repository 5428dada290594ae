"""Runner on real processes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent.order_rig import RUNNER, Rig, eventually, python, step, target_card

from iotide_agent.runner import processes
from iotide_agent.runner.aftermath import is_order_alive


def test_runs_each_step_and_leaves_nothing_on_the_target(rig: Rig) -> None:
    file = rig.place / "data"
    write = step("dd", "if=/dev/zero", f"of={file}", "bs=1M", "count=8", "conv=fsync", name="write")
    read = step("dd", f"if={file}", "of=/dev/null", "bs=1M", name="read", before="drop", files=[file])
    ending = rig.run([write], [read])
    assert (ending["outcome"], ending["code"]) == ("finished", None)
    assert [(record["name"], record["exit_status"]) for record in ending["steps"]] == [("write", 0), ("read", 0)]
    assert [record["before_done"] for record in ending["steps"]] == ["none", "drop_files"]
    assert "8388608 bytes" in rig.output("001-read.stderr")
    assert list(rig.target.iterdir()) == []
    assert ending["mount_problems"] == []


def test_needs_nothing_but_the_standard_library() -> None:
    program = f"import sys; sys.path.append({str(RUNNER.parents[1])!r}); import iotide_agent.runner.life"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)


def test_steps_of_a_group_run_side_by_side(rig: Rig) -> None:
    meet = "import os,sys,time; open(sys.argv[1],'w'); \nwhile not os.path.exists(sys.argv[2]): time.sleep(0.01)"
    one, two = str(rig.place / "1"), str(rig.place / "2")
    group = [step(*python(meet), one, two, name="a"), step(*python(meet), two, one, name="b")]
    assert rig.run(group)["outcome"] == "finished"


def test_a_failing_step_ends_the_run(rig: Rig) -> None:
    ending = rig.run([step("dd", "if=/nowhere", "of=/dev/null", name="read")], [step("true", name="never")])
    assert (ending["outcome"], ending["code"]) == ("failed", "step_failed")
    assert [record["name"] for record in ending["steps"]] == ["read"]
    assert "No such file" in rig.output("000-read.stderr")


def test_an_absent_tool_is_named(rig: Rig) -> None:
    ending = rig.run([step("iotide-no-such-tool")])
    assert (ending["outcome"], ending["code"]) == ("failed", "tool_missing")
    assert "iotide-no-such-tool" in ending["reason"]


def test_cancel_ends_a_load_that_ignores_term_and_removes_its_files(rig: Rig) -> None:
    stubborn = (
        "import signal,sys,time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "open(sys.argv[1],'w').write('x'*100000); time.sleep(100)"
    )
    rig.start()
    rig.until_phase("ready")
    rig.go([step(*python(stubborn), str(rig.place / "data"))])
    rig.until((rig.place / "data").exists)
    cancelled_at = time.monotonic()
    rig.cancel()
    ending = rig.until_ended()
    assert time.monotonic() - cancelled_at < 3.0
    assert (ending["outcome"], ending["reason"]) == ("cancelled", "cancelled by the user")
    assert ending["steps"][0]["signal"] == signal.SIGKILL
    assert list(rig.target.iterdir()) == []


def test_cancel_before_the_start_starts_nothing(rig: Rig) -> None:
    rig.start()
    rig.until_phase("ready")
    rig.cancel()
    ending = rig.until_ended()
    assert (ending["outcome"], ending["steps"]) == ("cancelled", [])
    assert list(rig.target.iterdir()) == []


def test_the_deadline_ends_a_load(make_rig: Callable[..., Rig]) -> None:
    rig = make_rig(time_limit_seconds=0.5)
    ending = rig.run([step("sleep", "60")])
    assert (ending["outcome"], ending["code"]) == ("failed", "time_limit")
    assert ending["steps"][0]["signal"] == signal.SIGTERM


def test_a_grandchild_in_its_own_session_is_found_and_killed(rig: Rig) -> None:
    escape = (
        "import os,sys,time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        open(sys.argv[1],'w').write(str(os.getpid()))\n"
        "        os.closerange(0, 256)\n"
        "        time.sleep(100)\n"
        "    os._exit(0)\n"
        "while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read(): time.sleep(0.01)\n"
    )
    note = rig.directory / "escaped"
    ending = rig.run([step(*python(escape), str(note))])
    assert ending["outcome"] == "finished"
    assert ending["escaped_processes"] == 1
    assert processes.stat_of(int(note.read_text())) is None


def test_a_flood_of_output_is_capped_and_counted(make_rig: Callable[..., Rig]) -> None:
    rig = make_rig(output_limit_bytes=64 * 1024)
    flood = "import sys\nfor number in range(300_000): print(number)\nprint('the end')"
    ending = rig.run([step(*python(flood), name="flood")])
    output = rig.output("000-flood.stdout")
    assert output.startswith("0\n1\n2\n")
    assert output.endswith("the end\n")
    assert len(output) < 70_000
    printed_bytes = sum(len(f"{number}\n") for number in range(300_000)) + len("the end\n")
    assert ending["steps"][0]["stdout_left_out_bytes"] == printed_bytes - 64 * 1024


def test_the_sampler_sees_what_the_load_writes(rig: Rig) -> None:
    program = (
        "import os,sys,time\n"
        "file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)\n"
        "for _ in range(11): os.write(file, b'x' * 1_000_000); time.sleep(0.1)\n"
    )
    ending = rig.run([step(*python(program), str(rig.place / "data"))])
    lines = (rig.directory / "curve.jsonl").read_text().splitlines()
    assert len(lines) in {1, 2}
    assert '"write_bytes_per_second": ' in lines[0]
    assert 0 < ending["sampler_cpu_seconds"] < 0.1
    lasted = [
        ending[f"ended_at_{clock}_seconds"] - ending[f"started_at_{clock}_seconds"] for clock in ("epoch", "boottime")
    ]
    assert lasted[0] == pytest.approx(lasted[1], abs=0.05)


def test_the_load_dies_with_its_runner_and_the_aftermath_removes_and_reports(rig: Rig) -> None:
    child = "import os,sys,time\nos.fork()\nopen(sys.argv[1]+str(os.getpid()),'w'); time.sleep(100)"
    rig.start()
    rig.until_phase("ready")
    rig.go([step(*python(child), str(rig.place / "data"))])
    rig.until(lambda: rig.place.exists() and len(list(rig.place.iterdir())) == 3)
    assert rig.process is not None
    rig.process.kill()
    rig.process.wait()
    assert is_order_alive(rig.directory)  # the grandchild; the kernel ended the direct child
    rig.start("--aftermath")
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("failed", "runner_died")
    assert not is_order_alive(rig.directory)
    assert list(rig.target.iterdir()) == []


def test_a_child_that_let_go_of_the_lock_and_outlived_the_runner_is_ended(rig: Rig) -> None:
    hide = (
        "import os,sys,time\n"
        "if os.fork() == 0:\n"
        "    os.closerange(0, 256)\n"
        "    note = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)\n"
        "    os.write(note, str(os.getpid()).encode())\n"
        "    os.close(note)\n"
        "time.sleep(100)\n"
    )
    note = rig.directory / "hidden"
    rig.start()
    rig.until_phase("ready")
    rig.go([step(*python(hide), str(note))])
    hidden = int(rig.until(lambda: note.exists() and note.read_text()))
    rig.until(lambda: rig.phase().get("loads"))
    assert rig.process is not None
    rig.process.kill()
    rig.process.wait()
    rig.until(lambda: not is_order_alive(rig.directory))
    assert processes.stat_of(hidden) is not None
    rig.start("--aftermath")
    assert rig.until_ended()["code"] == "runner_died"
    left = processes.stat_of(hidden)
    assert left is None or left.state in "ZX"


def test_the_group_of_a_step_ends_with_it_and_not_with_parallel_steps(rig: Rig) -> None:
    leave = "import os,sys,time\nif os.fork() == 0:\n    time.sleep(100)\nopen(sys.argv[1], 'w')"
    note = rig.directory / "group"
    rig.start()
    rig.until_phase("ready")
    rig.go([step(*python(leave), str(note), name="leaves"), step("sleep", "100", name="beside")])
    rig.until(note.exists)
    rig.until(lambda: [stat.name for stat in rig.descendants() if stat.state not in "ZX"] == ["sleep"])
    rig.cancel()
    assert rig.until_ended()["outcome"] == "cancelled"


def test_a_full_disk_of_the_agents_keeps_no_load_alive_and_no_file_behind(
    make_rig: Callable[..., Rig], tmp_path: Path
) -> None:
    state = tmp_path / "orders"
    state.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(state)], check=True)
    try:
        rig = make_rig()
        rig.start()
        rig.until_phase("ready")
        fill = (
            "import sys,time\n"
            "file = open(sys.argv[1], 'wb', 0)\n"
            "try:\n"
            "    while file.write(bytes(4096)): pass\n"
            "except OSError:\n"
            "    print('x' * 9999, flush=True)\n"
            "time.sleep(1.5)\n"
            "file.truncate(0)\n"
            "time.sleep(1.5)\n"
        )
        ending = rig.run_ready([step(*python(fill), str(state / "filler"), name="fill")])
        assert (ending["outcome"], ending["code"]) == ("finished", None)
        assert ending["steps"][0]["stdout_left_out_bytes"] == 0
        assert (rig.directory / "out/000-fill.stdout").stat().st_size == 10_000
        assert len((rig.directory / "curve.jsonl").read_text().splitlines()) in {3, 4}
        assert list(rig.target.iterdir()) == []
        rig.close()
    finally:
        subprocess.run(["umount", "--lazy", str(state)], check=True)


def test_an_intent_without_a_load_is_reported_as_unknown(rig: Rig) -> None:
    rig.start()
    rig.until_phase("ready")
    rig.go([step("sleep", "60")], at=processes.boottime() + 60)
    assert rig.process is not None
    rig.process.kill()
    rig.process.wait()
    phase = rig.phase() | {"intent": True, "loads": []}
    (rig.directory / "phase.json").write_text(json.dumps(phase))
    rig.start("--aftermath")
    assert rig.until_ended()["code"] == "start_unknown"
    assert list(rig.target.iterdir()) == []


def test_another_mount_than_the_targets_is_declined(make_rig: Callable[..., Rig], tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    rig = make_rig(targets=(target_card(tmp_path / "target", fstype="nfs4", source="server:/export"),))
    rig.start()
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("declined", "wrong_mount")
    assert "'server:/export'" in ending["reason"]
    assert list(rig.target.iterdir()) == []


def test_too_little_space_is_declined_with_numbers(make_rig: Callable[..., Rig], tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    rig = make_rig(targets=(target_card(tmp_path / "target", bytes_needed=10**18),))
    rig.start()
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("declined", "no_space")
    free_bytes = os.statvfs(rig.target).f_bavail * os.statvfs(rig.target).f_frsize
    assert str(10**18) in ending["reason"]
    # Other tests write to the same file system meanwhile.
    (said,) = re.findall(r"has (\d+) bytes free", ending["reason"])
    assert int(said) == pytest.approx(free_bytes, rel=0.1)


def test_the_end_of_the_node_is_a_failure_and_cleans_up(rig: Rig) -> None:
    rig.start()
    rig.until_phase("ready")
    rig.go([step("sleep", "60")])
    rig.until_phase("running")
    assert rig.process is not None
    rig.process.terminate()
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("failed", "node_shut_down")
    assert list(rig.target.iterdir()) == []


@pytest.fixture
def freezable(tmp_path: Path) -> Iterator[Path]:
    """Return an approved directory on its own file system, which `fsfreeze` can make hang like a dead NFS server."""
    image, target = tmp_path / "image", tmp_path / "target"
    target.mkdir()
    image.touch()
    os.truncate(image, 64 * 1024**2)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(target)], check=True)
    yield target
    # A helper that was killed while it hung releases the file system a moment after the thaw.
    eventually(lambda: subprocess.run(["umount", str(target)], check=False).returncode == 0)


def freeze(target: Path) -> None:
    subprocess.run(["fsfreeze", "--freeze", str(target)], check=True)


def thaw(target: Path) -> None:
    subprocess.run(["fsfreeze", "--unfreeze", str(target)], check=True)


def waits_for_thaw(rig: Rig) -> bool:
    """Wait until the process is in state D for longer than a disk read takes."""
    return any(one.state == "D" and "percpu" in one.wait_channel for one in processes.stuck(rig.descendants()))


def test_a_load_that_cannot_be_killed_is_named_and_not_waited_for(
    make_rig: Callable[..., Rig], freezable: Path
) -> None:
    rig = make_rig(targets=(target_card(freezable),), patience_seconds=1.0)
    rig.start()
    rig.until_phase("ready")
    freeze(freezable)
    try:
        rig.go([step("dd", "if=/dev/zero", f"of={rig.place}/data", "bs=1M", "count=1")])
        rig.until(lambda: waits_for_thaw(rig))
        rig.cancel()
        ending = rig.until_ended()
        assert (ending["outcome"], ending["code"]) == ("failed", "stuck")
        assert "in state D" in ending["reason"]
        assert ending["leftovers"] == [str(rig.place)]
        assert is_order_alive(rig.directory)
    finally:
        thaw(freezable)
    rig.until(lambda: not is_order_alive(rig.directory))
    rig.start("--aftermath")
    rig.until(lambda: not rig.place.exists())
    rig.until_ended()


def test_a_load_with_one_unkillable_thread_is_stuck(make_rig: Callable[..., Rig], freezable: Path) -> None:
    """fio is such a load: its first thread becomes a zombie, and the process no longer shows its open files."""
    rig = make_rig(targets=(target_card(freezable),), patience_seconds=1.0)
    rig.start()
    rig.until_phase("ready")
    load = (
        "--name=x",
        f"--directory={rig.place}",
        "--thread",
        "--size=4m",
        "--rw=write",
        "--time_based",
        "--runtime=60",
    )
    rig.go([step("fio", *load)])
    rig.until(lambda: any(file.stat().st_size for file in rig.place.glob("x*")))
    freeze(freezable)
    try:
        rig.until(lambda: waits_for_thaw(rig))
        rig.cancel()
        ending = rig.until_ended()
        assert (ending["outcome"], ending["code"]) == ("failed", "stuck")
        assert "fio" in ending["reason"]
        assert "in state D, waiting in percpu" in ending["reason"]
        assert is_order_alive(rig.directory)
        assert processes.holders(rig.directory / "lock")
    finally:
        thaw(freezable)
    rig.until(lambda: not is_order_alive(rig.directory))


def test_a_target_that_does_not_answer_is_declined(make_rig: Callable[..., Rig], freezable: Path) -> None:
    rig = make_rig(targets=(target_card(freezable),), patience_seconds=0.5)
    freeze(freezable)
    try:
        rig.start()
        ending = rig.until_ended()
        assert not is_order_alive(rig.directory)  # the hanging process is not a load, so it must not hold the node
    finally:
        thaw(freezable)
    assert (ending["outcome"], ending["code"]) == ("declined", "target_hangs")
    assert "in state D" in ending["reason"]
