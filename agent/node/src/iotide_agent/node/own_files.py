"""Protection of the agent's files against other users."""

import json
import logging
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from iotide_agent.probes.reader import CommandWant, Reader, Unavailable
from iotide_agent.runner import RUNNER, walls
from iotide_agent.runner.files import closing

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_PASSING: Final = stat.S_IXGRP
"""The load user's group may enter on the way to its own files; it can neither list nor read."""
_SECRETS: Final = ("identity.json", "identity-next.json")
_logger = logging.getLogger(__name__)


class StateOpenError(Exception):
    pass


def why_changeable(file: Path) -> str | None:
    """Return why a user other than this one and root could change or replace a file, or None.

    Like ssh, check the directories above too.
    """
    return walls.why_changeable(str(file.absolute()))


def why_exchangeable(paths: Sequence[str], reader: Reader, ids: Sequence[int] = ()) -> dict[str, str]:
    """Return by path why other users could exchange it, or the user `ids` not use it, with the remedy. Follow links.

    Paths that do not answer are left out.
    """
    user = ",".join(map(str, ids))
    found = {}
    for path in paths:
        # A dead mount would hang this process.
        printed = reader.read(CommandWant((sys.executable, "-I", "-S", str(RUNNER), "--walls", user, path), "python3"))
        reason = None if isinstance(printed, Unavailable) else json.loads(printed)[0]
        if reason is not None:
            found[path] = reason
    return found


def close_state(directory: Path) -> None:
    """Close the state directory to other users; raise StateOpenError if they could have its secrets."""
    try:
        descriptor, _ = walls.open_walled(str(directory.absolute()), judges_last=False)
    except FileNotFoundError:
        return  # it was created closed
    except walls.OpenToOthersError as error:
        raise StateOpenError(f"state_directory {directory}: {error}") from error
    with closing(descriptor):
        found = os.fstat(descriptor)
    if found.st_uid != os.geteuid():
        owner = f"state_directory {directory} belongs to user {found.st_uid}"
        raise StateOpenError(f"{owner}; run the agent as that user, or chown -R {os.geteuid()} {directory}")
    for name in _SECRETS:
        _require_secret(directory / name)
    if found.st_mode & _OTHERS & ~_PASSING:
        _logger.warning("state_closed directory=%s mode=%s", directory, f"{stat.S_IMODE(found.st_mode):04o}")
        directory.chmod(0o700)


def _require_secret(file: Path) -> None:
    try:
        found = file.stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    if found.st_uid != os.geteuid() or found.st_mode & _OTHERS or not stat.S_ISREG(found.st_mode):
        permissions = f"{stat.S_IMODE(found.st_mode):04o}"
        raise StateOpenError(
            f"{file} contains the node's token, belongs to user {found.st_uid} and has mode {permissions}; "
            f"chown {os.geteuid()} and chmod 600 it; if another user may have read it, retire the node "
            "and enrol it again"
        )
