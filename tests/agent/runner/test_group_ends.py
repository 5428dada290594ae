"""End of a group of steps by a load that failed or hangs; each load gets the signal that suits it."""

import signal
from pathlib import Path

from agent.order_rig import Rig, python, step, target_card


def test_one_that_fails_ends_the_others_of_its_group(rig: Rig) -> None:
    group = [step("false", name="broken"), step("sleep", "100", name="patient")]
    ending = rig.run(group)
    assert (ending["outcome"], ending["code"], ending["reason"]) == (
        "failed",
        "step_failed",
        "step broken failed",
    )
    assert [record["signal"] for record in ending["steps"]] == [None, signal.SIGTERM]


def test_a_load_that_moves_nothing_is_ended_at_its_limit_though_it_is_busy(rig: Rig) -> None:
    spinning = step(*python("while True: pass"), name="spin")._replace(stall_seconds=1.5)
    ending = rig.run([spinning])
    assert (ending["outcome"], ending["code"]) == ("failed", "stalled")
    assert "step spin transferred and printed nothing" in ending["reason"]


def test_a_load_that_complained_and_then_hangs_is_ended_sooner_than_a_silent_one(rig: Rig) -> None:
    hanging = python("import sys, time; print('no space', file=sys.stderr); time.sleep(99)")
    ending = rig.run([step(*hanging)._replace(stall_seconds=3.5, complained_stall_seconds=0.7)])
    assert (ending["code"], ending["reason"].rpartition("; ")[2]) == ("stalled", "its limit is 0.7 s")


def test_a_load_that_complained_of_nothing_has_the_longer_limit(rig: Rig) -> None:
    hanging = step(*python("import time; time.sleep(99)"))._replace(stall_seconds=1.2, complained_stall_seconds=0.1)
    assert rig.run([hanging])["reason"].endswith("its limit is 1.2 s")


def test_a_load_that_prints_has_not_stalled(rig: Rig) -> None:
    printing = "import time\nfor _ in range(8): print('on', flush=True); time.sleep(0.4)"
    ending = rig.run([step(*python(printing))._replace(stall_seconds=1.5)])
    assert ending["outcome"] == "finished"


def test_a_load_is_stopped_by_its_own_signal_and_can_say_how_far_it_came(rig: Rig) -> None:
    endless = step("dd", "if=/dev/zero", "of=/dev/null", name="write")._replace(stop_signal=signal.SIGINT)
    # dd must have begun: it prints nothing for a signal that comes earlier.
    breaking = step(*python("import sys, time; time.sleep(1); sys.exit(1)"), name="broken")
    assert rig.run([endless, breaking])["code"] == "step_failed"
    assert "copied" in rig.output("000-write.stderr")


def test_a_run_that_only_reads_makes_nothing_on_its_target_and_leaves_what_is_there(tmp_path: Path) -> None:
    found = tmp_path / "target"
    found.mkdir(mode=0o700)
    (found / "kept").write_text("here before")
    own = Rig(tmp_path, targets=(target_card(found, writes=False),))
    listing = step("ls", "-A", str(found), name="list")
    ending = own.run([listing])
    assert ending["outcome"] == "finished"
    assert own.output("000-list.stdout") == "kept\n"
    assert (found / "kept").read_text() == "here before"


def test_no_file_stays_behind_when_a_group_is_ended(rig: Rig) -> None:
    file: Path = rig.place / "data"
    writing = step("dd", "if=/dev/zero", f"of={file}", "bs=1M", name="write", files=[file])
    rig.run([writing, step("false", name="broken")])
    assert list(rig.target.iterdir()) == []
