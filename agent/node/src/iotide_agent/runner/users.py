"""User for targets and loads of a root agent; only the runner keeps root's rights."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from iotide_agent.runner import processes

Ids = Sequence[int]
"""User, group and all groups; empty if the agent's own user does everything."""

_GROUP_MAY_PASS: Final = 0o710


@contextmanager
def acting_as(ids: Ids) -> Iterator[None]:
    """Act with that user's rights until the block ends, also towards a server that squashes root.

    Only for a single-threaded process.
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
    """Permanently give up all rights but the user's, including those from set-user-id programs."""
    if not ids:
        return
    uid, gid, *groups = ids
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    processes.gain_no_rights()


def hand_over(directory: Path, names: Sequence[str], ids: Ids) -> None:
    """Give the user these files and trees of an order's directory, and let the group pass to them.

    The group can pass the directories on the way, but not list them or read other files in them. No process of the
    user has run there yet.
    """
    if not ids:
        return
    uid, gid, *_ = ids
    for on_the_way in (directory, directory.parent, directory.parent.parent):
        os.chown(on_the_way, -1, gid)
        on_the_way.chmod(_GROUP_MAY_PASS)
    for name in names:
        tree = os.fwalk(directory / name, topdown=False) if (directory / name).is_dir() else ()
        # Each directory after its content, which other loads of that user could exchange from then on.
        for _, directories, files, above in tree:
            for below in directories + files:
                os.chown(below, uid, gid, dir_fd=above, follow_symlinks=False)
        with suppress(FileNotFoundError):
            os.chown(directory / name, uid, gid, follow_symlinks=False)
