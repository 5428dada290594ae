"""Runs whose target is not, or does not stay, the expected one: each is rejected, and other files stay untouched."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent.order_rig import Rig, eventually, python, step, target_card

from iotide_agent.runner.card import StepCard
from iotide_agent.runner.mounts import parse_mountinfo
from iotide_agent.runner.workspace import MARKER, refuses_files

WAIT = step("sleep", "60", name="wait")


def mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


def unmount(where: Path, *options: str) -> None:
    # A killed process releases its open files a moment later.
    eventually(lambda: subprocess.run(["umount", *options, str(where)], check=False).returncode == 0)


def unmount_all(where: Path) -> None:
    # From the kernel's list: os.path.ismount does not recognise a bind mount within one file system.
    while str(where) in {line.mount_point for line in parse_mountinfo(Path("/proc/self/mountinfo").read_text())}:
        unmount(where, "--lazy")


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    """Return an approved directory, as a target is after unmounting; any mount on it is removed afterwards."""
    directory = tmp_path / "target"
    directory.mkdir(mode=0o700)
    yield directory
    unmount_all(directory)


@pytest.fixture
def tmpfs(target: Path) -> Path:
    """Mount a tmpfs at the target."""
    mount("-t", "tmpfs", "-o", "mode=700", "iotide-test", target)
    return target


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Return a file with an ext4 in it."""
    file = tmp_path / "image"
    file.touch()
    os.truncate(file, 16 * 1024**2)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-E", "root_owner=0:0", str(file)], check=True)
    return file


@pytest.fixture
def ext4(target: Path, image: Path) -> Path:
    """Mount the ext4 image at the target."""
    mount("-o", "loop,errors=remount-ro", image, target)
    return target


def waiting(make_rig: Callable[..., Rig], target: Path) -> Rig:
    """Return a run on the target as it is now, in the middle of a long step."""
    rig = make_rig(targets=(target_card(target),))
    rig.start()
    rig.until_phase("ready")
    rig.go([WAIT])
    rig.until(lambda: rig.phase().get("loads"))
    return rig


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if path.name != "lost+found")


def declined(rig: Rig) -> str:
    rig.start()
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"], ending["steps"]) == ("declined", "wrong_mount", [])
    assert ending["leftovers"] == []
    return str(ending["reason"])


def test_a_tmpfs_that_was_unmounted_over_another_of_the_same_name_is_missed(
    make_rig: Callable[..., Rig], tmpfs: Path
) -> None:
    below = tmpfs / "below"
    below.mkdir(mode=0o700)
    mount("-t", "tmpfs", "-o", "mode=700", "iotide-test", below)
    card = target_card(below)
    unmount(below)
    reason = declined(make_rig(targets=(card,)))
    assert f"is on tmpfs from 'iotide-test' at {tmpfs}, but the target is" in reason
    assert f"at {below}; mount it" in reason
    assert names(below) == []


def test_a_bind_mount_of_another_directory_is_not_the_target(make_rig: Callable[..., Rig], target: Path) -> None:
    meant, other = target.parent / "meant", target.parent / "other"
    for directory in (meant, other):
        directory.mkdir(mode=0o700)
    mount("--bind", meant, target)
    card = target_card(target)
    unmount(target)
    mount("--bind", other, target)
    reason = declined(make_rig(targets=(card,)))
    assert f"its directory {card.root}, at {target}; mount it" in reason
    assert names(other) == names(meant) == []


@pytest.mark.parametrize("below", ["", "below"])
def test_a_target_that_is_unmounted_lazily_ends_its_run_at_once_and_keeps_nothing(
    make_rig: Callable[..., Rig], ext4: Path, image: Path, below: str
) -> None:
    place = ext4 / below
    place.mkdir(mode=0o700, exist_ok=True)
    rig = waiting(make_rig, place)
    unmount(ext4, "--lazy")
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("failed", "wrong_mount")
    assert len(ending["mount_problems"]) == 1
    assert ending["leftovers"] == names(ext4) == []
    mount("-o", "loop", image, ext4)
    assert names(place) == []


def test_a_target_that_is_unmounted_between_two_steps_is_not_written_to(
    make_rig: Callable[..., Rig], ext4: Path
) -> None:
    rig = make_rig(targets=(target_card(ext4),))
    go_away = step("umount", "--lazy", str(ext4), name="unmount")
    write = step("dd", "if=/dev/zero", f"of={rig.place}/data", "bs=1M", "count=1", name="write")
    ending = rig.run([go_away], [write])
    assert (ending["outcome"], ending["code"]) == ("failed", "wrong_mount")
    assert [record["name"] for record in ending["steps"]] == ["unmount"]
    assert len(ending["mount_problems"]) == 1
    assert names(ext4) == []


def test_a_target_that_is_unmounted_as_the_run_ends_has_a_problem(make_rig: Callable[..., Rig], ext4: Path) -> None:
    rig = make_rig(targets=(target_card(ext4),))
    ending = rig.run([step("umount", "--lazy", str(ext4), name="unmount")])
    assert "but the target is ext4" in ending["mount_problems"][0]
    assert names(ext4) == []


def test_a_mount_over_a_target_stays_and_the_files_below_are_removed(make_rig: Callable[..., Rig], ext4: Path) -> None:
    rig = waiting(make_rig, ext4)
    mount("-t", "tmpfs", "-o", "mode=700", "other", ext4)
    (ext4 / "precious").write_text("kept")
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("failed", "wrong_mount")
    assert "tmpfs from 'other'" in ending["reason"]
    assert names(ext4) == ["precious"]
    unmount(ext4)
    assert names(ext4) == ending["leftovers"] == []


def test_the_same_file_system_mounted_a_second_time_is_another_mount(make_rig: Callable[..., Rig], ext4: Path) -> None:
    rig = waiting(make_rig, ext4)
    mount("--bind", ext4, ext4)
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("failed", "wrong_mount")
    assert "was mounted again at" in ending["reason"]
    assert names(ext4) == []


def test_a_mount_that_does_not_concern_the_target_disturbs_nothing(make_rig: Callable[..., Rig], ext4: Path) -> None:
    elsewhere = ext4.parent / "target-2"
    elsewhere.mkdir()
    rig = make_rig(targets=(target_card(ext4),))
    ending = rig.run(
        [step("mount", "-t", "tmpfs", "other", str(elsewhere))],
        [step("umount", str(elsewhere))],
        [step("dd", "if=/dev/zero", f"of={rig.place}/data", "bs=1M", "count=1")],
    )
    assert (ending["outcome"], ending["mount_problems"]) == ("finished", [])


def test_a_target_that_becomes_read_only_ends_its_run_with_this_message(
    make_rig: Callable[..., Rig], ext4: Path
) -> None:
    rig = waiting(make_rig, ext4)
    mount("-o", "remount,ro", ext4)
    ending = rig.until_ended()
    assert (ending["outcome"], ending["code"]) == ("failed", "target_read_only")
    assert f"{ext4} became read-only during the run; mount {ext4} read-write again" in ending["reason"]
    assert ending["leftovers"] == [str(rig.place)]
    mount("-o", "remount,rw", ext4)
    rig.start("--aftermath")
    rig.until(lambda: not rig.place.exists())
    rig.until_ended()


def test_a_file_system_that_turned_read_only_is_the_reason_of_the_failed_step(
    make_rig: Callable[..., Rig], ext4: Path
) -> None:
    # ext4 remounts itself read-only without a change in the mount table, so the kernel wakes no poller.
    rig = make_rig(targets=(target_card(ext4),))
    number = ext4.stat().st_dev
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve().name
    # A directory that is not on the disk yet disappears when the kernel reclaims its memory.
    program = "import os, sys; os.sync(); open(sys.argv[1], 'w').write('1'); open(sys.argv[2], 'w')"
    ending = rig.run([step(*python(program), f"/sys/fs/ext4/{device}/trigger_fs_error", str(rig.place / "data"))])
    assert (ending["outcome"], ending["code"]) == ("failed", "target_read_only"), ending["reason"]
    assert ending["leftovers"] == [str(rig.place)]


def bind_below(rig: Rig, precious: Path) -> StepCard:
    """Return a step that leaves a file and a directory, with another directory of the same file system mounted on
    it.
    """
    program = (
        "import os,subprocess,sys\n"
        "os.makedirs(sys.argv[2])\n"
        "open(sys.argv[3], 'w')\n"
        "subprocess.run(['mount', '--bind', *sys.argv[1:3]], check=True)\n"
    )
    places = (str(precious), str(rig.place / "a/bound"), str(rig.place / "data"))
    return step(*python(program), *places)


def test_another_directory_mounted_in_the_runs_own_is_not_emptied(make_rig: Callable[..., Rig], ext4: Path) -> None:
    precious = ext4 / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    rig = make_rig(targets=(target_card(ext4),))
    ending = rig.run([bind_below(rig, precious)])
    assert ending["outcome"] == "finished"
    assert ending["leftovers"] == [str(rig.place)]
    assert (precious / "file").read_text() == "kept"
    assert names(rig.place) == [MARKER, "a"]
    unmount(rig.place / "a/bound")
    rig.start("--aftermath")
    rig.until(lambda: not rig.place.exists())
    rig.until_ended()
    assert names(precious) == ["file"]


def test_orphans_of_a_dead_runner_on_an_unmounted_target_do_not_count_as_removed(
    make_rig: Callable[..., Rig], ext4: Path, image: Path
) -> None:
    rig = waiting(make_rig, ext4)
    assert rig.process is not None
    rig.process.kill()
    rig.process.wait()
    rig.until(lambda: not rig.descendants())
    unmount(ext4)
    rig.start("--aftermath")
    assert rig.until_ended()["leftovers"] == [str(rig.place)]
    mount("-o", "loop", image, ext4)
    (rig.directory / "exit.json").unlink()
    rig.start("--aftermath")
    assert rig.until_ended()["leftovers"] == []
    assert names(ext4) == []


def test_only_a_file_system_that_is_read_only_refuses_files(tmpfs: Path, tmp_path: Path) -> None:
    made = tmpfs.stat()
    assert not refuses_files(str(tmpfs), made)
    assert names(tmpfs) == []
    assert not refuses_files(str(tmp_path / "absent"), made)
    mount("-o", "remount,ro", tmpfs)
    assert refuses_files(str(tmpfs), made)
    assert not refuses_files(str(tmpfs), tmp_path.stat()), "another directory than the one that was made"


def test_a_run_that_only_reads_makes_nothing_on_its_target_when_it_fails(
    make_rig: Callable[..., Rig], tmpfs: Path
) -> None:
    changed_at = tmpfs.stat().st_mtime_ns
    rig = make_rig(targets=(target_card(tmpfs, writes=False),))
    rig.start()
    rig.until_phase("ready")
    rig.go([step("false")])
    assert rig.until_ended()["code"] == "step_failed"
    assert tmpfs.stat().st_mtime_ns == changed_at
