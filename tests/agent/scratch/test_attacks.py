"""Attacks on the root program: to reach a foreign disk or mount, or to act as root. docs/isolation.md lists them."""

import io
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from agent.scratch.loops import Loops, performed, run

from iotide_agent.scratch import stack
from iotide_agent.scratch.journal import Journal

ORDER: Final[dict[str, Any]] = {"order": 7, "fence": 11}
SINGLE: Final[Any] = {"kind": "single"}
EXT4: Final[Any] = {"type": "ext4"}
LOCAL_USER: Final = 12345
"""A user of the node who is neither root nor the agent."""


def made_and_mounted(loops: Loops) -> str:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    for verb, words in (("make", {"layout": SINGLE, "fs": EXT4}), ("mount", {})):
        record = performed(loops, verb, **ORDER, **words)
        assert record["outcome"] == "done", record["reason"]
    return device


@contextmanager
def as_local_user(directory: Path, script: str) -> Iterator[int]:
    """Run a shell script as root of a user and mount namespace that an ordinary user created; yield its process id."""
    for above in (directory, *directory.parents[:3]):
        above.chmod(0o711)
    identity = (f"--reuid={LOCAL_USER}", f"--regid={LOCAL_USER}", "--clear-groups")
    command = ("setpriv", *identity, "unshare", "--user", "--map-root-user", "--mount", "sh", "-ec")
    with subprocess.Popen(
        (*command, f"{script}\necho ready; read _"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/"
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process.pid
        finally:
            process.communicate("\n", timeout=30)


def recovered(loops: Loops) -> tuple[dict[str, Any], str]:
    stream = io.StringIO()
    return performed(loops, "recover", journal=Journal(stream)), stream.getvalue()


def test_a_program_that_a_local_user_placed_in_a_namespace_of_their_own_is_not_started(
    loops: Loops, tmp_path: Path
) -> None:
    made_and_mounted(loops)
    stolen = tmp_path / "stolen"
    umount = run("sh", "-c", "command -v umount").strip()
    script = f"""
        mount -t tmpfs tmpfs /mnt
        printf '#!/bin/sh\\nid -u > {stolen}\\n' > /mnt/umount
        chmod 755 /mnt/umount
        mount --bind /mnt/umount {umount}
        """
    with as_local_user(tmp_path, script) as pid:
        record, _ = recovered(loops)
        assert not stolen.exists(), f"user {LOCAL_USER} ran a program as user {stolen.read_text()}"
        assert record["outcome"] == "dirty"
        assert f"in the mount namespace of process {pid} (sh)" in record["reason"]
    assert recovered(loops)[0]["outcome"] == "done"


def test_an_export_of_others_is_not_stopped_because_of_a_path_in_another_namespace(
    loops: Loops, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_and_mounted(loops)
    exports = tmp_path / "etab"
    exports.write_text("/mnt/home\t10.0.0.9(rw,sync,root_squash)\n")
    monkeypatch.setattr(stack, "_EXPORTS", exports)
    point = loops.site.mounts / "bays"
    loops.site.mounts.chmod(0o711)
    script = f"mount -t tmpfs tmpfs /mnt; mkdir /mnt/home; mount --bind {point} /mnt/home"
    with as_local_user(tmp_path, script):
        _, journal = recovered(loops)
        assert "/mnt/home" in journal
        assert "exportfs" not in journal


def test_a_mount_that_only_claims_to_be_of_an_arena_is_left_alone(loops: Loops, tmp_path: Path) -> None:
    device = made_and_mounted(loops)
    point = tmp_path / "of others"
    point.mkdir()
    run("mount", "-t", "tmpfs", loops.arena(device), str(point))  # any user can: fusermount -o fsname=/dev/sdb1
    try:
        record, _ = recovered(loops)
        assert point.is_mount()
        assert record["outcome"] == "done", record["reason"]
    finally:
        run("umount", str(point), check=False)


def test_a_foreign_mount_over_ours_is_neither_unmounted_nor_handed_over(loops: Loops) -> None:
    made_and_mounted(loops)
    point = loops.site.mounts / "bays"
    run("mount", "-t", "tmpfs", "-o", "mode=755", "foreign", str(point))
    try:
        again = performed(loops, "mount", **ORDER)
        assert again["outcome"] == "refused"
        assert "another file system is mounted over it" in again["reason"]
        assert (point.stat().st_uid, point.stat().st_mode & 0o777) == (0, 0o755)
        for verb, words in (("unmount", ORDER), ("recover", {})):
            assert performed(loops, verb, **words)["outcome"] == "dirty"
        assert run("findmnt", "--noheadings", "--output", "FSTYPE", str(point)).split()[-1] == "tmpfs"
    finally:
        run("umount", str(point))
    assert recovered(loops)[0]["outcome"] == "done"


def test_a_wrong_node_in_dev_leads_no_command_to_a_foreign_disk(loops: Loops) -> None:
    device = loops.add()
    loops.list_in("bays", [device])
    loops.adopt(device)
    foreign = loops.add()
    before = loops.content(foreign)
    arena, aside = Path(loops.arena(device)), Path(f"{loops.arena(device)}.aside")
    arena.rename(aside)
    try:
        os.mknod(arena, 0o600 | 0o060000, os.stat(loops.path(foreign)).st_rdev)
        record = performed(loops, "make", **ORDER, layout=SINGLE, fs=EXT4)
        assert loops.content(foreign) == before
        assert record["outcome"] == "refused"
        assert "is another device than in /sys" in record["reason"]
    finally:
        aside.rename(arena)
