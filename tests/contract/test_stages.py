"""Campaign in stages on a real agent: the target is reformatted between them and used after an operator confirms."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bring_up import wait_for
from made_mounts import as_root
from rig import Rig, add_rig, unmount

LOAD = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}
STAGES = [{"variant": "first"}, {"variant": "second", "pause": "mount the other file system"}]


def mount_tmpfs(mount_point: Path) -> None:
    options = f"size=16m,mode=0700,uid={os.geteuid()}"
    subprocess.run(as_root("mount", "-t", "tmpfs", "-o", options, "iotide-first", mount_point), check=True)
    (mount_point / "target").mkdir(mode=0o700)


def mount_ext4(image: Path, mount_point: Path) -> None:
    with image.open("wb") as file:
        file.truncate(32 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-E", f"root_owner={os.geteuid()}:{os.getegid()}", image], check=True)
    subprocess.run(as_root("mount", "-o", "loop", image, mount_point), check=True)
    (mount_point / "target").mkdir(mode=0o700)


@pytest.fixture
def mounted(rig: Rig) -> Iterator[Rig]:
    """Return a rig with its target on a separate file system."""
    mount_point = rig.stack.directory / "staged"
    mount_point.mkdir()
    mount_tmpfs(mount_point)
    try:
        yield add_rig(rig.stack, "staged", target=mount_point / "target")
    finally:
        while os.path.ismount(mount_point):
            subprocess.run(as_root("umount", "--lazy", mount_point), check=True)


def when(is_so: Callable[[dict[str, Any]], bool], ask: Callable[[], dict[str, Any]], what: str) -> dict[str, Any]:
    def found() -> dict[str, Any] | None:
        answer = ask()
        return answer if is_so(answer) else None

    return wait_for(what, found, seconds=40)


def test_each_stage_is_measured_on_the_mount_that_its_operator_confirmed(mounted: Rig, tmp_path: Path) -> None:
    stack, campaign_id = mounted.stack, mounted.submit("dd", LOAD, stages=STAGES)
    path = f"/campaigns/{campaign_id}"
    when(lambda campaign: campaign["state"] == "paused", lambda: stack.get(path), "the pause")
    assert [run["state"] for run in mounted.runs(campaign_id)] == ["finished", "waiting"]

    unmount(mounted.target.parent)
    mount_ext4(tmp_path / "image", mounted.target.parent)
    stack.post(f"{path}/pause/look", {})
    pause = when(lambda pause: not pause["waiting_for"], lambda: stack.get(f"{path}/pause"), "the nodes' answers")
    (found,) = pause["mounts"]
    assert (found["was"]["fstype"], found["now"]["fstype"]) == ("tmpfs", "ext4")
    assert (found["is_change"], found["problem"]) == (True, None)

    stack.post(f"{path}/confirm", {"found_sha256": pause["found_sha256"]})
    ended = when(lambda campaign: campaign["ended_at"] is not None, lambda: stack.get(path), "the end")
    assert ended["state"] == "finished"
    assert [(stage["variant"], stage["state"], stage["ended"]) for stage in ended["stages"]] == [
        ("first", "open", 1),
        ("second", "open", 1),
    ]
    runs = mounted.runs(campaign_id)
    assert [run["variant"] for run in runs] == ["first", "second"]
    first, second = ({sample["series_id"] for sample in run["samples"]} for run in runs)
    assert first.isdisjoint(second)
