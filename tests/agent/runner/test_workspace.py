"""Run directories: never outside an approved one, never on another mount, and removed only by their mark."""

import errno
import json
import os
import subprocess
from pathlib import Path

import pytest
from agent.order_rig import order_card, target_card

from iotide_agent.runner.card import Card, TargetCard
from iotide_agent.runner.hand import HandLimits, Hands
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.places import Places
from iotide_agent.runner.workspace import (
    MARKER,
    TargetRefusedError,
    check_mount,
    make_place,
    open_beneath,
    remove_marked,
    verify,
)

NAME = "iotide-run-7-1"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    directory = tmp_path / "outside"
    directory.mkdir()
    (directory / "precious").write_text("kept")
    return directory


def card(approved: Path, target: TargetCard | None = None, fence: int = 70) -> Card:
    targets = (target or target_card(approved),)
    return order_card(approved, fence=fence, targets=targets, patience_seconds=1.0)


def made(approved: Path, **changes: object) -> Path:
    target = target_card(approved, **changes)
    return Path(make_place(card(approved, target), target).directory)


def test_a_place_is_a_marked_directory_of_the_agent_alone(approved: Path) -> None:
    directory = made(approved)
    assert directory == approved / NAME
    assert directory.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in directory.iterdir()] == [MARKER]


@pytest.mark.parametrize("path", ["{outside}", "{approved}/../outside", "{approved}x", "/", "relative", ""])
def test_a_path_outside_is_refused(approved: Path, outside: Path, path: str) -> None:
    wanted = path.format(approved=approved, outside=outside)
    with pytest.raises(TargetRefusedError) as refused:
        open_beneath([str(approved)], wanted)
    assert refused.value.code == "directory_not_approved"
    assert list(outside.iterdir()) == [outside / "precious"]


def test_a_symbolic_link_below_an_approved_directory_is_refused(approved: Path, outside: Path) -> None:
    (approved / "link").symlink_to(outside)
    (approved / "deep").mkdir()
    (approved / "deep/link").symlink_to("..")
    for path in ("link", "link/below", "deep/link"):
        with pytest.raises(TargetRefusedError) as refused:
            open_beneath([str(approved)], str(approved / path))
        assert refused.value.code == "directory_not_approved"


def test_an_inaccessible_directory_is_reported_with_the_systems_message(approved: Path) -> None:
    with pytest.raises(TargetRefusedError, match="cannot be entered: File name too long") as refused:
        open_beneath([str(approved)], str(approved / ("x" * 256)))
    assert refused.value.code == "target_error"


def test_an_approved_directory_may_itself_be_reached_by_a_link(approved: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(approved)
    (approved / "below").mkdir()
    for path in (tmp_path / "link/below", approved / "below"):
        descriptor, real = open_beneath([str(tmp_path / "link"), str(approved)], str(path))
        os.close(descriptor)
        assert real == str(approved / "below")


def test_a_link_that_leads_elsewhere_since_the_agent_looked_is_refused(
    approved: Path, outside: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(outside)
    with pytest.raises(TargetRefusedError, match=f"leads to {outside} now") as refused:
        open_beneath([str(tmp_path / "link"), str(approved)], str(tmp_path / "link"))
    assert refused.value.code == "directory_not_approved"


@pytest.mark.parametrize("below", ["", "below", "below/target"])
@pytest.mark.parametrize(
    ("owner", "mode", "remedy"),
    [(12345, 0o700, "chown 0 {path}"), (0, 0o777, "chmod go-w {path}"), (0, 0o770, "chmod go-w {path}")],
)
def test_a_directory_in_which_others_could_exchange_the_runs_own_is_refused_with_the_remedy(
    approved: Path, below: str, owner: int, mode: int, remedy: str
) -> None:
    target = approved / "below/target"
    target.mkdir(parents=True)
    os.chown(approved / below, owner, 0)
    (approved / below).chmod(mode)
    wanted = target_card(target)
    with pytest.raises(TargetRefusedError) as refused:
        make_place(card(approved, wanted), wanted)
    assert refused.value.code == "directory_open_to_others"
    assert remedy.format(path=approved / below) in str(refused.value)
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("mode", [0o1777, 0o755, 0o700])
def test_a_directory_in_which_only_we_can_rename_what_is_ours_is_taken(approved: Path, mode: int) -> None:
    approved.chmod(mode)
    assert made(approved).exists()


def test_a_missing_target_is_named(approved: Path) -> None:
    with pytest.raises(TargetRefusedError) as refused:
        open_beneath([str(approved)], str(approved / "not/mounted"))
    assert refused.value.code == "target_missing"
    assert str(approved / "not") in str(refused.value)


def test_space_is_need_and_a_tenth_or_the_reserve(approved: Path) -> None:
    space = os.statvfs(approved)
    free_bytes = space.f_bavail * space.f_frsize
    made(approved, bytes_needed=free_bytes // 2)
    for needed, reserve in ((free_bytes, 0), (free_bytes // 2, free_bytes * 2 // 3)):
        with pytest.raises(TargetRefusedError) as refused:
            made(approved, bytes_needed=needed, reserve_bytes=reserve)
        assert refused.value.code == "no_space"
        assert f"needs {needed}" in str(refused.value)


def test_a_read_only_directory_is_refused_with_the_kernels_word(tmp_path: Path) -> None:
    image, mount_point = tmp_path / "image", tmp_path / "mounted"
    mount_point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", str(mount_point)], check=True)
    try:
        with pytest.raises(TargetRefusedError) as refused:
            made(mount_point)
    finally:
        subprocess.run(["umount", str(mount_point)], check=True)
    assert refused.value.code == "not_writable"
    assert "Read-only file system" in str(refused.value)
    assert not image.exists()


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN])
@pytest.mark.parametrize("call", ["fstat", "statvfs", "mkdir"])
def test_an_error_of_a_mount_that_lost_its_server_is_no_wrong_setting(
    approved: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """A network file system without its server may answer so at the first read or at the first change."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    target = target_card(approved)
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(TargetRefusedError, match=os.strerror(number)) as refused:
        make_place(card(approved, target), target)
    monkeypatch.undo()
    assert refused.value.code == "target_fails"
    assert str(refused.value).endswith("restore its server or device, then remount it")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.ENOSPC])
def test_a_failure_that_an_administrator_has_to_correct_keeps_its_own_code(
    approved: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    target = target_card(approved)
    monkeypatch.setattr(os, "mkdir", fail)
    with pytest.raises(TargetRefusedError) as refused:
        make_place(card(approved, target), target)
    assert refused.value.code == "not_writable"


def test_an_unmounted_target_is_not_taken_for_the_root_disk(approved: Path) -> None:
    mount_point = approved / "scratch"
    mount_point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "iotide-test", str(mount_point)], check=True)
    try:
        target = target_card(mount_point)
        assert (target.fstype, target.source) == ("tmpfs", "iotide-test")
        directory = Path(make_place(card(approved, target), target).directory)
        expected = directory.stat()
        verify(str(directory), expected)
    finally:
        subprocess.run(["umount", "--lazy", str(mount_point)], check=True)
    with pytest.raises(TargetRefusedError, match="disappeared"):
        verify(str(directory), expected)
    descriptor, _ = open_beneath([str(approved)], str(mount_point))
    with pytest.raises(TargetRefusedError) as refused:
        check_mount(descriptor, target)
    os.close(descriptor)
    assert refused.value.code == "wrong_mount"


def test_removal_follows_no_link_and_takes_everything_below(approved: Path, outside: Path, parent: int) -> None:
    directory = made(approved)
    (directory / "a/b/c").mkdir(parents=True)
    (directory / "a/b/data").write_bytes(b"x")
    (directory / "to-outside").symlink_to(outside)
    (directory / "dangling").symlink_to("/nowhere")
    os.mkfifo(directory / "pipe")
    assert remove_marked(parent, card(approved))
    assert list(approved.iterdir()) == []
    assert (outside / "precious").read_text() == "kept"


def test_a_directory_without_our_mark_is_left_alone(approved: Path, parent: int) -> None:
    (approved / NAME).mkdir()
    (approved / NAME / "precious").write_text("kept")
    with pytest.raises(TargetRefusedError) as refused:
        remove_marked(parent, card(approved))
    assert refused.value.code == "directory_not_marked"
    assert (approved / NAME / "precious").exists()


def test_the_mark_of_another_order_is_not_ours(approved: Path, parent: int) -> None:
    made(approved)
    with pytest.raises(TargetRefusedError):
        remove_marked(parent, card(approved, fence=71))
    assert (approved / NAME / MARKER).exists()


@pytest.mark.parametrize("kept_bytes", [0, 20, 60, 75])
def test_a_mark_that_a_quota_cut_short_is_still_ours(approved: Path, parent: int, kept_bytes: int) -> None:
    directory = made(approved)
    os.truncate(directory / MARKER, kept_bytes)
    assert remove_marked(parent, card(approved))
    assert list(approved.iterdir()) == []


def test_a_mark_of_the_old_format_is_still_ours(approved: Path, parent: int) -> None:
    marker = made(approved) / MARKER
    marker.write_text(
        json.dumps({key: value for key, value in json.loads(marker.read_text()).items() if key != "parent"})
    )
    assert remove_marked(parent, card(approved))
    assert list(approved.iterdir()) == []


def test_a_directory_without_room_for_its_mark_is_not_used(approved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, text: write(descriptor, text[:20]))
    with pytest.raises(TargetRefusedError) as refused:
        made(approved)
    assert refused.value.code == "not_writable"
    assert "No space left" in str(refused.value)


def test_an_unrecorded_directory_that_cannot_be_removed_is_reported(approved: Path) -> None:
    mount_point = approved / "scratch"
    mount_point.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "iotide-test", str(mount_point)], check=True)
    try:
        target = target_card(mount_point)
        directory = Path(make_place(card(approved, target), target).directory)
        subprocess.run(["mount", "-o", "remount,ro", str(mount_point)], check=True)
        settled = Places(card(approved, target)).settle(Hands(Loop()), HandLimits(10.0, 10.0))
    finally:
        subprocess.run(["umount", str(mount_point)], check=True)
    assert settled.leftovers == [str(directory)]


def test_a_link_in_the_place_of_the_directory_is_not_entered(approved: Path, outside: Path, parent: int) -> None:
    (approved / NAME).symlink_to(outside)
    with pytest.raises(OSError, match="Not a directory"):
        remove_marked(parent, card(approved))
    assert (outside / "precious").exists()


def test_nothing_to_remove_is_no_error(approved: Path, parent: int) -> None:
    assert not remove_marked(parent, card(approved))


def is_direct_taken(approved: Path) -> bool:
    try:
        os.close(os.open(approved / "own-trial", os.O_WRONLY | os.O_CREAT | os.O_DIRECT))
    except OSError:
        return False
    return True


def test_direct_io_is_tried_and_leaves_no_trace(approved: Path) -> None:
    target = target_card(approved)
    place = make_place(card(approved, target), target)
    assert place.direct_works == is_direct_taken(approved)
    assert [path.name for path in Path(place.directory).iterdir()] == [MARKER]


def test_direct_io_does_not_work_where_direct_reads_fail(approved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(os, "readv", refuse)
    place = make_place(card(approved, target_card(approved)), target_card(approved))
    assert not place.direct_works
    assert [path.name for path in Path(place.directory).iterdir()] == [MARKER]


def test_direct_io_works_on_a_device_that_answers_at_once(approved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory devices do so: a non-blocking read finds the data there although no cache holds it."""
    monkeypatch.setattr(os, "preadv", lambda *_: 1)
    target = target_card(approved)
    place = make_place(card(approved, target), target)
    # The page of a tmpfs is in the cache. Only its refusal of such reads distinguishes it from a file system that
    # caches.
    assert place.direct_works == (is_direct_taken(approved) and place.mount.fstype != "tmpfs")
