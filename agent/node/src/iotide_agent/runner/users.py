"""The ordinary user as whom a root agent touches targets and runs loads; root's rights stay with the runner."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from iotide_agent.runner import processes

Ids = Sequence[int]
"""User, group and all groups of the user; empty where the agent's own user does everything."""

_GROUP_MAY_PASS: Final = 0o710


@contextmanager
def acting_as(ids: Ids) -> Iterator[None]:
    """Have the kernel judge this process by the rights of that user until the block ends.

    A file server that squashes root sees the user, too. Only for processes of one thread.
    """
    if not ids or os.geteuid() == ids[0]:
        yield
        return
    uid, gid, *groups = ids
    own_groups, own_gid = os.getgroups(), os.getegid()
    dies_with_parent = processes.dies_with_parent()
    os.setgroups(groups)
    os.setegid(gid)
    os.seteuid(uid)
    # With the user the kernel changes both.
    processes.stay_readable()
    if dies_with_parent:
        processes.die_with_parent()
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(own_gid)
        os.setgroups(own_groups)
        if dies_with_parent:
            processes.die_with_parent()


def become(ids: Ids) -> None:
    """Give up all rights but the user's, for good: also those that a program with the set-user-id bit would give."""
    if not ids:
        return
    uid, gid, *groups = ids
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    processes.gain_no_rights()


def hand_over(directory: Path, names: Sequence[str], ids: Ids) -> None:
    """Give the user these files and trees of an order's directory, and its group the way to them.

    Nothing of the user's has run there yet. Whoever may pass can neither list the directories on the way nor read what
    lies in them, since all of it is closed to the group.
    """
    if not ids:
        return
    uid, gid, *_ = ids
    for on_the_way in (directory, directory.parent, directory.parent.parent):
        os.chown(on_the_way, -1, gid)
        on_the_way.chmod(_GROUP_MAY_PASS)
    for name in names:
        tree = os.fwalk(directory / name, topdown=False) if (directory / name).is_dir() else ()
        # Each directory after what lies in it: once it is the user's, other loads of that user may exchange that.
        for _, directories, files, above in tree:
            for below in directories + files:
                os.chown(below, uid, gid, dir_fd=above, follow_symlinks=False)
        with suppress(FileNotFoundError):
            os.chown(directory / name, uid, gid, follow_symlinks=False)
