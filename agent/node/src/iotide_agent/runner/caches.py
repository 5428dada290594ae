"""Preparation before each step, outside its timing: write dirty pages back and empty caches."""

import ctypes
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from iotide_agent.runner.card import Card
from iotide_agent.runner.files import closing
from iotide_agent.runner.users import acting_as
from iotide_agent.runner.walls import OpenToOthersError, program_of

DROP_SOCKET: Final = Path("/run/iotide-agent/drop-caches")
"""`iotide-agent setup` installs a service here, which empties the page cache for an agent that is an ordinary user."""
_DROP: Final = Path("/proc/sys/vm/drop_caches")
_DROPPED: Final = b"dropped\n"
_DROP_SECONDS: Final = 120.0
_DROP_PAGES_AND_INODES: Final = b"3\n"
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def prepare_caches(wanted: str, card: Card, directories: Sequence[str], files: Sequence[str]) -> str:
    """Prepare the caches, without remounting; return the applied policy, also `drop_files` (own files) or `sync`."""
    if wanted == "none":
        return "none"
    with acting_as(card.run_as):
        for directory in directories:
            _sync_file_system(directory)
    if wanted != "drop":
        return wanted
    if card.drop_caches and (_run_helper(card.drop_command) or _drop_all() or _ask_service()):
        return "drop"
    with acting_as(card.run_as):
        return "drop_files" if _drop_files(files) else "sync"


def run_command(command: Sequence[str]) -> bool:
    """Return true if a command of agent.toml succeeded; raise OpenToOthersError if other users could change it."""
    if not command:
        return False
    program = program_of(command, os.environ)
    return os.spawnv(os.P_WAIT, program, tuple(command)) == 0  # noqa: S606 - an argument list from agent.toml


def _run_helper(command: Sequence[str]) -> bool:
    try:
        return run_command(command)
    except OpenToOthersError as error:
        sys.stderr.write(f"helper_refused command={command[0]} because={error}\n")
        return False


def _sync_file_system(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with closing(descriptor):
        if _LIBC.syncfs(descriptor) != 0:
            error = ctypes.get_errno()
            raise OSError(error, f"syncfs of {directory}: {os.strerror(error)}")


def _drop_all() -> bool:
    try:
        descriptor = os.open(_DROP, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.write(descriptor, _DROP_PAGES_AND_INODES) > 0
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _ask_service() -> bool:
    """Return true once the service has emptied the page cache; false where it is not installed, or fails."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            asking.settimeout(_DROP_SECONDS)
            asking.connect(str(DROP_SOCKET))
            return asking.recv(len(_DROPPED)) == _DROPPED
    except OSError:
        return False


def _drop_files(files: Sequence[str]) -> bool:
    dropped = False
    for name in files:
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        with closing(descriptor):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            dropped = True
    return dropped
