"""Search for orphaned directories: it finds this agent's own directories anywhere, and no others."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest
from agent.order_rig import target_card

from iotide_agent.runner import orphans, processes
from iotide_agent.runner.card import Card
from iotide_agent.runner.orphans import Wanted, find_orphans, read_found, write_wanted
from iotide_agent.runner.workspace import MARKER, make_place

AGENT = "http://server/blade/n1@host"
ORDERS = "/of-this-test/orders"
NAME = "iotide-run-7-1-70"


@pytest.fixture
def approved(tmp_path: Path) -> Path:
    directory = tmp_path / "approved"
    directory.mkdir(mode=0o755)
    return directory


@pytest.fixture
def search(tmp_path: Path, approved: Path) -> Callable[[], list[str]]:
    """Search and return the paths of unused orphaned directories."""
    directory = tmp_path / "orphans"
    directory.mkdir()

    def find() -> list[str]:
        write_wanted(directory, Wanted(AGENT, (str(approved),), ORDERS, 10.0))
        find_orphans(directory)
        found, problems = read_found(directory)
        assert problems == []
        assert {(orphan.order_id, orphan.fence) for orphan in found} <= {(70, 7)}
        return [orphan.path for orphan in found if not orphan.is_used]

    return find


def make_run(parent: Path, agent: str = AGENT) -> Path:
    target = target_card(parent)
    card = Card(70, 7, NAME, (target,), (str(parent),), "", {}, False, (), 1.0, 1, 1.0, agent)
    return Path(make_place(card, target).directory)


@pytest.fixture
def made(approved: Path) -> Path:
    return make_run(approved)


@pytest.mark.parametrize("below", [".", "target", "deep/er/target"])
def test_own_mark_is_found_in_approved_directories_and_targets_below_them(
    approved: Path, search: Callable[[], list[str]], below: str
) -> None:
    (approved / below).mkdir(parents=True, exist_ok=True)
    made = make_run(approved / below)
    (made / "data").write_bytes(b"x")
    assert search() == [str(made)]
    assert (made / "data").exists(), "a search removes nothing"


def test_own_mark_is_found_on_a_mount_below_an_approved_directory(
    approved: Path, search: Callable[[], list[str]]
) -> None:
    mount_point = approved / "mounted"
    mount_point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "iotide-test", str(mount_point)], check=True)
    try:
        made = make_run(mount_point)
        assert search() == [str(made)]
    finally:
        subprocess.run(["umount", str(mount_point)], check=True)


@pytest.mark.parametrize("agent", ["", "http://server/blade/n2@host", "http://server/green/n1@host"])
def test_mark_of_another_agent_is_left_alone(approved: Path, search: Callable[[], list[str]], agent: str) -> None:
    make_run(approved, agent)
    assert search() == []


def test_copy_of_a_runs_directory_is_left_alone(approved: Path, made: Path, search: Callable[[], list[str]]) -> None:
    shutil.copytree(made, approved / "snapshot-of-monday" / NAME)
    assert search() == [str(made)]


def cut_mark(made: Path) -> None:
    os.truncate(made / MARKER, 20)


def remove_mark(made: Path) -> None:
    (made / MARKER).unlink()


def replace_mark_by_a_link(made: Path) -> None:
    (made / MARKER).rename(made / "mark")
    (made / MARKER).symlink_to(made / "mark")


def give_away(made: Path) -> None:
    os.chown(made, 12345, 0)


def rename(made: Path) -> None:
    made.rename(made.with_name("results-of-a-person"))


def move_behind_a_link(made: Path) -> None:
    outside = made.parent.parent / "outside"
    made.rename(outside)
    made.symlink_to(outside)


def move_below_a_link(made: Path) -> None:
    outside = made.parent.parent / "outside"
    outside.mkdir()
    (made.parent / "link").symlink_to(outside)
    made.rename(outside / NAME)


def move_elsewhere(made: Path) -> None:
    kept = made.parent / "kept"
    kept.mkdir(mode=0o755)
    made.rename(kept / NAME)


def move_into_a_snapshot(made: Path) -> None:
    hidden = made.parent / ".snapshots"
    hidden.mkdir()
    made.rename(hidden / NAME)


def move_into_what_others_may_change(made: Path) -> None:
    shared = made.parent / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    made.rename(shared / NAME)


@pytest.mark.parametrize(
    "change",
    [
        cut_mark,
        remove_mark,
        replace_mark_by_a_link,
        give_away,
        rename,
        move_behind_a_link,
        move_below_a_link,
        move_elsewhere,
        move_into_a_snapshot,
        move_into_what_others_may_change,
    ],
)
def test_a_directory_of_another_owner_is_left_untouched(
    made: Path, search: Callable[[], list[str]], change: Callable[[Path], None]
) -> None:
    assert search() == [str(made)]
    change(made)
    assert search() == []


HOLDERS = {
    "has it as working directory": ("import os, sys; os.chdir(sys.stdin.readline().strip())", ()),
    "has a file open": ("import sys; file = open(sys.stdin.readline().strip() + '/data')", ()),
    "has it as an argument": ("import sys; sys.stdin.readline()", ("--directory={made}",)),
    "is the runner of its order": ("import sys; sys.stdin.readline()", (f"{ORDERS}/70",)),
}


@pytest.fixture(params=HOLDERS)
def holder(request: pytest.FixtureRequest, made: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process that uses the directory until its input ends."""
    program, arguments = HOLDERS[request.param]
    (made / "data").write_bytes(b"x")
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", f"{program}; print(flush=True); sys.stdin.read()"]
        + [argument.format(made=made) for argument in arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{made}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "\n"
        yield process


def test_directory_that_a_living_process_uses_is_left_alone(
    made: Path, search: Callable[[], list[str]], holder: subprocess.Popen[str]
) -> None:
    assert search() == []
    holder.communicate()
    assert search() == [str(made)]


def test_search_ends_after_the_maximum_of_names_and_reports_it(
    tmp_path: Path, approved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        (approved / f"{number}").mkdir()
    monkeypatch.setattr(orphans, "MOST_NAMES", 3)
    write_wanted(tmp_path, Wanted(AGENT, (str(approved), str(tmp_path / "not-there")), ORDERS, 10.0))
    find_orphans(tmp_path)
    assert read_found(tmp_path) == (
        [],
        [
            f"{approved}: not searched completely",
            f"{tmp_path}/not-there: {tmp_path}/not-there does not exist; create it or mount the target",
        ],
    )


def test_unreadable_directory_is_reported_and_hides_no_orphan_elsewhere(
    tmp_path: Path, approved: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = approved / "broken"
    broken.mkdir()
    scandir = os.scandir

    def scan(descriptor: int) -> Iterator[os.DirEntry[str]]:
        if Path(f"/proc/self/fd/{descriptor}").readlink() == broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return scandir(descriptor)

    monkeypatch.setattr(os, "scandir", scan)
    write_wanted(tmp_path, Wanted(AGENT, (str(approved),), ORDERS, 10.0))
    find_orphans(tmp_path)
    found, problems = read_found(tmp_path)
    assert [orphan.path for orphan in found] == [str(made)]
    assert problems == [f"{approved}: not searched completely"]


def test_a_directory_of_unknown_use_counts_as_used(
    tmp_path: Path, approved: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "mentioned", lambda _words: Event().wait())
    write_wanted(tmp_path, Wanted(AGENT, (str(approved),), ORDERS, 0.1))
    find_orphans(tmp_path)
    found, problems = read_found(tmp_path)
    assert [(orphan.path, orphan.is_used) for orphan in found] == [(str(made), True)]
    assert problems[0].startswith("processes that use the found directories: no answer for 0.1 s")


def test_killed_search_has_found_nothing_and_is_reported(tmp_path: Path) -> None:
    write_wanted(tmp_path, Wanted(AGENT, (), ORDERS, 10.0))
    found, problems = read_found(tmp_path)
    assert found == []
    assert "ended without a result" in problems[0]
