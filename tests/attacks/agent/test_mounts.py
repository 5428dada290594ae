"""Mounts into a run's directory, out of it and over it: files on another mount are neither written nor removed."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from agent.order_rig import Rig, eventually, step, target_card
from attacks.agent.canary import Canary, attacked_card, names

from iotide_agent.runner.workspace import MARKER, TargetRefusedError, make_place, remove_marked


@contextmanager
def mounted(*arguments: str | Path) -> Iterator[Path]:
    """Mount something at the last of the arguments."""
    where = Path(arguments[-1])
    subprocess.run(["mount", *map(str, arguments)], check=True)
    try:
        yield where
    finally:
        # A killed process releases its open files a moment later.
        eventually(lambda: subprocess.run(["umount", str(where)], check=False).returncode == 0)


@pytest.mark.parametrize("below", ["", "target"])
def test_a_mount_in_a_runs_directory_is_not_emptied(approved: Path, parent: int, canary: Canary, below: str) -> None:
    card = attacked_card(approved)
    place = Path(make_place(card, card.targets[0]).directory)
    (place / "in" / "it").mkdir(parents=True)
    with mounted("--bind", canary.top / below, place / "in" / "it"):
        with pytest.raises(TargetRefusedError) as refused:
            remove_marked(parent, card)
        assert refused.value.code == "foreign_mount"
        assert "in/it: another file system is mounted there" in str(refused.value)
        canary.require_untouched()
    assert remove_marked(parent, card)
    assert names(approved) == []


def test_a_file_mounted_into_a_runs_directory_is_not_removed(approved: Path, parent: int, canary: Canary) -> None:
    card = attacked_card(approved)
    place = Path(make_place(card, card.targets[0]).directory)
    (place / "file").touch()
    with mounted("--bind", canary.top / "precious", place / "file"):
        with pytest.raises(OSError, match="busy"):
            remove_marked(parent, card)
        canary.require_untouched()
    assert remove_marked(parent, card)


def test_a_runs_directory_with_a_second_mount_is_emptied_and_nothing_next_to_it(
    tmp_path: Path, approved: Path, parent: int, canary: Canary
) -> None:
    card = attacked_card(approved)
    place = Path(make_place(card, card.targets[0]).directory)
    (place / "file").touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with mounted("--bind", place, elsewhere):
        assert remove_marked(parent, card)
        assert names(elsewhere) == names(approved) == []
    canary.require_untouched()


def test_a_mount_over_a_runs_directory_is_not_emptied_even_with_its_mark(approved: Path, parent: int) -> None:
    card = attacked_card(approved)
    place = Path(make_place(card, card.targets[0]).directory)
    true = (place / MARKER).read_bytes()
    with mounted("-t", "tmpfs", "-o", "mode=700", "over", place):
        (place / MARKER).write_bytes(true)
        (place / "precious").write_text("kept")
        with pytest.raises(TargetRefusedError) as refused:
            remove_marked(parent, card)
        assert refused.value.code == "foreign_mount"
        assert (place / "precious").read_text() == "kept"
    assert remove_marked(parent, card)


def test_a_run_ends_at_once_and_writes_nothing_if_its_directory_is_mounted_over(
    make_rig: Callable[..., Rig], canary: Canary
) -> None:
    rig = make_rig()
    rig.start()
    rig.until_phase("ready")
    rig.go([step("sleep", "60")], [step("cp", "/dev/null", f"{rig.place}/made")])
    rig.until(lambda: rig.phase().get("loads"))
    with mounted("--bind", canary.top, rig.place):
        ending = rig.until_ended()
        assert (ending["outcome"], ending["code"]) == ("failed", "wrong_mount")
        assert ending["leftovers"] == [str(rig.place)]
        canary.require_untouched()
    rig.start("--aftermath")
    rig.until(lambda: not rig.place.exists())
    rig.until_ended()


def test_a_link_to_a_target_that_is_a_mount_is_not_the_mount(approved: Path, canary: Canary) -> None:
    point = approved / "mounted"
    point.mkdir()
    with mounted("--bind", canary.top, point):
        target = target_card(point)
    with pytest.raises(TargetRefusedError) as refused:
        make_place(attacked_card(approved, target), target)
    assert refused.value.code == "wrong_mount"
    assert names(point) == []
