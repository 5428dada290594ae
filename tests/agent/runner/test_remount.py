"""Cache policy `remount` on a real file system: the node's own command empties the cache, or the run ends with a
message.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent.order_rig import Rig, eventually, step, target_card


@pytest.fixture
def device(tmp_path: Path) -> Iterator[str]:
    """Return a loop device with an ext4 of 16 MiB, mounted on the rig's target."""
    image, target = tmp_path / "image", tmp_path / "target"
    target.mkdir()
    image.touch()
    os.truncate(image, 16 * 1024**2)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    looped = subprocess.run(["losetup", "--find", "--show", str(image)], check=True, capture_output=True, text=True)
    name = looped.stdout.strip()
    subprocess.run(["mount", name, str(target)], check=True)
    yield name
    eventually(lambda: subprocess.run(["umount", str(target)], check=False, capture_output=True).returncode == 0)
    subprocess.run(["losetup", "--detach", name], check=True)


MakeRig = Callable[[str], Rig]


@pytest.fixture
def remounted(make_rig: Callable[..., Rig], device: str, tmp_path: Path) -> MakeRig:
    """Return a function that makes a rig with a shell text as remount command: `$1` is the device, `$2` the mount
    point.
    """
    target = tmp_path / "target"
    (target / "lost+found").rmdir()

    def make(text: str) -> Rig:
        command = ("sh", "-c", text, "remount", device, str(target))
        return make_rig(targets=(target_card(target, remount_command=command),))

    return make


def write_and_read(rig: Rig) -> dict[str, Any]:
    file = rig.place / "data"
    write = step("dd", "if=/dev/zero", f"of={file}", "bs=1M", "count=4", "conv=fsync", name="write")
    readers = [
        step("dd", f"if={file}", "of=/dev/null", "bs=1M", name=name, before="remount") for name in ("read-1", "read-2")
    ]
    return rig.run([write], readers)


def test_remounts_once_before_the_steps_of_a_group_and_continues(remounted: MakeRig, tmp_path: Path) -> None:
    rig = remounted(f'umount "$2" && mount "$1" "$2" && echo done >>{tmp_path}/remounts')
    ending = write_and_read(rig)
    assert (ending["outcome"], ending["mount_problems"], ending["leftovers"]) == ("finished", [], [])
    assert [record["before_done"] for record in ending["steps"]] == ["none", "remount", "remount"]
    assert (tmp_path / "remounts").read_text() == "done\n"
    assert list(rig.target.iterdir()) == []


def test_a_command_that_fails_ends_the_run_and_its_files_are_removed(remounted: MakeRig) -> None:
    rig = remounted("echo no rights >&2; exit 1")
    ending = write_and_read(rig)
    assert (ending["outcome"], ending["code"]) == ("failed", "remount_failed")
    assert "was not remounted: `sh -c" in ending["reason"]
    assert "no rights" in (rig.directory / "runner.log").read_text()
    assert list(rig.target.iterdir()) == []


def test_a_target_that_stays_unmounted_is_not_measured_and_its_files_are_recorded(
    remounted: MakeRig, device: str
) -> None:
    rig = remounted('umount "$2"')
    ending = write_and_read(rig)
    subprocess.run(["mount", device, str(rig.target)], check=True)
    assert (ending["outcome"], ending["code"]) == ("failed", "wrong_mount")
    assert [record["name"] for record in ending["steps"]] == ["write"]
    assert ending["leftovers"] == [str(rig.place)]


def test_a_target_that_comes_back_empty_is_not_measured(remounted: MakeRig) -> None:
    # mkfs would refuse the device while a mount namespace of another test has a copy of the mount.
    rig = remounted('umount "$2" && mount "$1" "$2" && rm -r "$2"/*')
    ending = write_and_read(rig)
    assert (ending["outcome"], ending["code"]) == ("failed", "remount_failed")
    assert "lost the run's files" in ending["reason"]
