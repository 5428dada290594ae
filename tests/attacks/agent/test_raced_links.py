"""Directories and links that change places while runs are made and removed: nothing outside is ever touched."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from agent.order_rig import target_card
from attacks.agent.canary import NAME, Canary, attacked_card

from iotide_agent.runner import workspace
from iotide_agent.runner.card import Card, TargetCard
from iotide_agent.runner.workspace import TargetRefusedError, make_place, open_beneath, refuses_files, remove_marked

ROUNDS = 1000
SWAPPING = Path(__file__).with_name("swapping.py")


@pytest.fixture(autouse=True)
def _quick_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the trial of O_DIRECT: it takes longer than all the rest, and uses the open directory."""
    monkeypatch.setattr(workspace, "try_direct", lambda directory: directory > 0)


@contextmanager
def swapped(directory: Path, first: str, second: str) -> Iterator[None]:
    """Exchange both names of the directory all the time."""
    process = subprocess.Popen([sys.executable, "-I", "-S", str(SWAPPING), str(directory), first, second])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def one_life(card: Card, target: TargetCard, work: Counter[str]) -> None:
    """Make a run's directory, write the agent's own files to it, try it and remove it."""
    try:
        place = make_place(card, target)
        work["made"] += 1
        parent, _ = open_beneath(card.approved, target.path)
    except (TargetRefusedError, OSError):
        work["refused"] += 1
        return
    try:
        made = os.stat(card.directory_name, dir_fd=parent, follow_symlinks=False)
        refuses_files(place.directory, made)
        if remove_marked(parent, card):
            work["removed"] += 1
    except (TargetRefusedError, OSError):
        work["left"] += 1
    finally:
        os.close(parent)


@pytest.mark.parametrize("part", ["target", "middle", "approved"])
def test_a_link_swapped_in_on_the_way_to_the_target_is_never_followed(
    tmp_path: Path, approved: Path, canary: Canary, part: str
) -> None:
    directory = approved / "middle" / "target"
    directory.mkdir(parents=True)
    above, leads_to = {
        "target": (approved / "middle", canary.top / "target"),
        "middle": (approved, canary.top),
        "approved": (tmp_path, canary.top),
    }[part]
    if part == "approved":
        (canary.top / "middle").symlink_to(".")
        canary.take_again()
    (above / "lure").symlink_to(leads_to)
    target = target_card(directory)
    card = attacked_card(approved, target)
    work: Counter[str] = Counter()
    with swapped(above, part, "lure"):
        for _ in range(ROUNDS):
            one_life(card, target, work)
    assert work["made"], work
    assert work["refused"], work
    canary.require_untouched()


def test_a_link_swapped_in_for_the_runs_own_directory_is_neither_entered_nor_emptied(
    approved: Path, canary: Canary
) -> None:
    (approved / "lure").symlink_to(canary.top / NAME)
    target = target_card(approved)
    card = attacked_card(approved, target)
    work: Counter[str] = Counter()
    with swapped(approved, NAME, "lure"):
        for _ in range(ROUNDS):
            one_life(card, target, work)
    assert work["removed"], work
    assert work["refused"] + work["left"], work
    canary.require_untouched()


def test_links_swapped_in_below_a_run_that_is_removed_are_not_followed(
    approved: Path, parent: int, canary: Canary
) -> None:
    target = target_card(approved)
    card = attacked_card(approved, target)
    (approved / "lure").symlink_to(canary.top)
    for _ in range(ROUNDS // 20):
        place = Path(make_place(card, target).directory)
        for number in range(10):
            (place / f"below-{number}" / "target").mkdir(parents=True)
            (place / f"below-{number}" / "target" / "precious").touch()
        (place / "lure").symlink_to(canary.top)
        with swapped(place, "below-5", "lure"):
            while True:
                try:
                    removed = remove_marked(parent, card)
                except OSError:
                    continue  # a name changed meanwhile: the rest is removed at the next try
                assert removed
                break
    canary.require_untouched()
