"""Who may change what the agent obeys, and who may read what it keeps: nobody but its own user and root."""

import logging
import os
import stat
from pathlib import Path
from typing import Final

from iotide_agent.runner.workspace import why_open_to_others

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_SECRETS: Final = ("identity.json", "identity-next.json")
_logger = logging.getLogger(__name__)


class StateOpenError(Exception):
    """The state directory is another user's, or others could read what it keeps; the text has the remedy."""


def why_changeable(file: Path) -> str | None:
    """Why somebody besides this user and root could change a file or put another in its place, with the remedy.

    None where nobody could. As ssh does it with its keys, the directories above count too.
    """
    real = Path(os.path.realpath(file))
    found = real.stat()
    if found.st_uid not in {0, os.geteuid()}:
        return f"{real} belongs to user {found.st_uid}, who could change it; chown root {real}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"{real} has mode {stat.S_IMODE(found.st_mode):04o}, so others could change it; chmod go-w {real}"
    for directory in dict.fromkeys((*real.parents, *Path(os.path.abspath(file)).parents)):  # noqa: PTH100 - no links
        above = directory.stat()
        if why_open_to_others(str(directory), above.st_uid, above.st_mode) is not None:
            return f"others could exchange {file}, since {directory} is open to them; chmod go-w {directory}"
    return None


def close_state(directory: Path) -> None:
    """Closes the state directory, whose files are the node's identity and results, to all but this user.

    Raises:
        StateOpenError: it is another user's, or others could read the node's token.
    """
    try:
        found = directory.stat()
    except FileNotFoundError:
        return  # whoever makes it closes it
    if found.st_uid != os.geteuid():
        owner = f"state_directory {directory} belongs to user {found.st_uid}"
        raise StateOpenError(f"{owner}; run the agent as that user, or chown -R {os.geteuid()} {directory}")
    for name in _SECRETS:
        _require_secret(directory / name)
    if found.st_mode & _OTHERS:
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
            f"{file} holds the node's token, belongs to user {found.st_uid} and has mode {permissions}; "
            f"chown {os.geteuid()} and chmod 600 it; if somebody may have read it, retire the node and enrol it again"
        )
