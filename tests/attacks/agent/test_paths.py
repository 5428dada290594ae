"""Paths that lead out of approved directories or only look like paths."""

import os
from pathlib import Path

import pytest
from agent.order_rig import target_card
from attacks.agent.canary import NAME, Canary, attacked_card, names

from iotide_agent.runner.workspace import TargetRefusedError, make_place, open_beneath, remove_marked

HOSTILE_NAMES = (
    "-rf",
    "--help",
    "a\nb",
    "a b",
    "$(touch x)",
    "`touch x`",
    "'",
    '"',
    ";reboot",
    "a:b",
    "a@b",
    "*",
    "~",
    "%s",
)


@pytest.mark.parametrize(
    "path",
    [
        "{approved}/..",
        "{approved}/../outside",
        "{approved}/below/../../outside",
        "{approved}/below/..",
        "{approved}/./../outside",
        "{outside}",
        "/",
        "/{approved}",
        "{approved}\0/../outside",
        "{approved}/below\0",
        "..",
        ".",
        "",
    ],
)
def test_path_that_is_not_plainly_below_an_approved_directory_is_refused(
    approved: Path, canary: Canary, path: str
) -> None:
    (approved / "below").mkdir()
    said = path.format(approved=approved, outside=canary.top)
    target = target_card(approved)._replace(path=said)
    with pytest.raises(TargetRefusedError) as refused:
        make_place(attacked_card(approved, target), target)
    assert refused.value.code == "directory_not_approved"
    assert names(approved) == ["below"]


@pytest.mark.parametrize("leads_to", ["outside", "/", "..", ".", "/proc/self/root", "/proc/self/cwd"])
def test_link_below_an_approved_directory_is_refused_wherever_it_leads(
    approved: Path, canary: Canary, leads_to: str
) -> None:
    (approved / "link").symlink_to(canary.top if leads_to == "outside" else leads_to)
    for path in (approved / "link", approved / "link" / "target"):
        with pytest.raises(TargetRefusedError) as refused:
            open_beneath([str(approved)], str(path))
        assert refused.value.code == "directory_not_approved"


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_directory_of_any_name_is_a_directory_and_nothing_more(approved: Path, canary: Canary, name: str) -> None:
    directory = approved / name
    directory.mkdir(mode=0o700)
    target = target_card(directory)
    card = attacked_card(approved, target)
    assert make_place(card, target).directory == f"{directory}/{NAME}"
    opened, _ = open_beneath(card.approved, str(directory))
    assert remove_marked(opened, card)
    os.close(opened)
    assert names(directory) == []
    canary.require_untouched()


def test_device_fifo_or_file_in_the_place_of_a_directory_is_refused_at_once(approved: Path) -> None:
    os.mkfifo(approved / "fifo")
    (approved / "file").touch()
    for name in ("fifo", "file"):
        with pytest.raises(TargetRefusedError) as refused:
            open_beneath([str(approved)], str(approved / name))
        assert refused.value.code == "directory_not_approved"
