"""Forged marks and files that are not marks: the agent removes nothing by them and waits for nothing."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from attacks.agent.canary import NAME, Canary, attacked_card, names

from iotide_agent.runner.card import Card
from iotide_agent.runner.workspace import MARKER, TargetRefusedError, make_place, mark, read_marker, remove_marked

DEEP = 1200
"""More than the interpreter's recursion limit and a process's limit of open files."""


def fifo(marker: Path) -> None:
    os.mkfifo(marker)


def link_to_a_true_mark(marker: Path) -> None:
    true = marker.parents[1] / "true"
    true.write_bytes(mark(7, 70, "", str(marker.parents[1])))
    marker.symlink_to(true)


def link_to_nothing(marker: Path) -> None:
    marker.symlink_to("absent")


def directory(marker: Path) -> None:
    marker.mkdir()


def open_socket(marker: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        opened = os.open(marker.parent, os.O_PATH)
        made.bind(f"/proc/self/fd/{opened}/{MARKER}")  # the path of a socket has to be short
        os.close(opened)


def huge(marker: Path) -> None:
    marker.touch()
    os.truncate(marker, 2**40)


def of_another_order(marker: Path) -> None:
    marker.write_bytes(mark(8, 70, "", str(marker.parents[1])))


def of_another_attempt(marker: Path) -> None:
    marker.write_bytes(mark(7, 71, "", str(marker.parents[1])))


def of_another_agent(marker: Path) -> None:
    marker.write_bytes(mark(7, 70, "somebody/else", str(marker.parents[1])))


def deeply_nested(marker: Path) -> None:
    marker.write_bytes(b"[" * 30_000)


FORGED = (
    fifo,
    link_to_a_true_mark,
    link_to_nothing,
    directory,
    open_socket,
    huge,
    of_another_order,
    of_another_attempt,
    of_another_agent,
    deeply_nested,
)


@pytest.fixture
def card(approved: Path) -> Card:
    return attacked_card(approved)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("forge", FORGED, ids=lambda forge: forge.__name__)
def test_forged_mark_removes_nothing(approved: Path, parent: int, card: Card, forge: Callable[[Path], None]) -> None:
    (approved / NAME).mkdir()
    (approved / NAME / "precious").write_text("kept")
    forge(approved / NAME / MARKER)
    with pytest.raises(TargetRefusedError) as refused:
        remove_marked(parent, card)
    assert refused.value.code == "directory_not_marked"
    assert (approved / NAME / "precious").read_text() == "kept"
    assert os.path.lexists(approved / NAME / MARKER)


def test_of_a_huge_mark_only_as_much_is_read_as_a_mark_can_have(approved: Path, parent: int) -> None:
    (approved / NAME).mkdir()
    huge(approved / NAME / MARKER)
    assert len(read_marker(NAME, parent) or b"") < 2**16


def test_names_of_files_elsewhere_are_removed_and_the_files_stay(
    approved: Path, parent: int, canary: Canary, card: Card
) -> None:
    place = approved / NAME
    place.mkdir()
    (place / MARKER).write_bytes(mark(7, 70, "", str(approved)))
    os.link(canary.top / "precious", place / "hard link")
    (place / "link").symlink_to(canary.top / "precious")
    (place / "directory").symlink_to(canary.top)
    (place / "up").symlink_to("..")
    os.mkfifo(place / "fifo")
    assert remove_marked(parent, card)
    assert names(approved) == []
    canary.require_untouched()


def test_tree_of_any_depth_is_removed(approved: Path, parent: int, card: Card) -> None:
    place = approved / NAME
    place.mkdir()
    (place / MARKER).write_bytes(mark(7, 70, "", str(approved)))
    above = os.open(place, os.O_PATH)
    for _ in range(DEEP):
        os.mkdir("deeper", dir_fd=above)
        below = os.open("deeper", os.O_PATH, dir_fd=above)
        os.close(above)
        above = below
    os.close(above)
    assert remove_marked(parent, card)
    assert names(approved) == []


@pytest.mark.parametrize("is_directory", [True, False])
def test_name_that_existed_before_the_run_is_rejected_and_left_as_it_is(
    approved: Path, card: Card, *, is_directory: bool
) -> None:
    if is_directory:
        (approved / NAME).mkdir()
        (approved / NAME / "precious").write_text("kept")
    else:
        (approved / NAME).write_text("kept")
    with pytest.raises((TargetRefusedError, OSError)):
        make_place(card, card.targets[0])
    kept = approved / NAME / "precious" if is_directory else approved / NAME
    assert kept.read_text() == "kept"
