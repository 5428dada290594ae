"""Reader of files and short commands for probes and workloads; a hanging one never blocks it."""

import contextlib
import os
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from iotide_agent.runner.walls import why_program_changeable
from iotide_wire.units import format_seconds

_MAX_CHARACTERS: Final = 1_000_000
_LOG_STAMP: Final = re.compile(r"^\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)? +(?:[0-9a-f]{8,} +)?")
"""Time and thread in front of a message, as in ceph's; they would make each reason different."""
_SYSTEM_DIRECTORIES: Final = (
    "/usr/local/sbin:/usr/sbin:/sbin:/opt/MegaRAID/storcli:/opt/MegaRAID/perccli:/opt/MegaRAID/MegaCli:/opt/AMCC/CLI"
)
"""Programs of RAID controllers are installed in /opt."""


@dataclass(frozen=True, slots=True)
class FileWant:
    path: str


@dataclass(frozen=True, slots=True)
class DirectoryWant:
    path: str


@dataclass(frozen=True, slots=True)
class CommandWant:
    """Output of a short command on stdout.

    Attributes:
        argv: Exact argument list.
        package: Package to install if the program is missing.
        any_status: Also accept stderr and any exit status: some tools print their version only in a usage error.
        run_as: User, group and all groups to run as; empty for the agent's user.
    """

    argv: tuple[str, ...]
    package: str
    any_status: bool = False
    run_as: tuple[int, ...] = ()


Want = FileWant | DirectoryWant | CommandWant


@dataclass(frozen=True, slots=True)
class Unavailable:
    because: str


class Reader(ABC):
    @abstractmethod
    def read(self, want: Want) -> str | Unavailable:
        """Return the text, or the reason for its absence. Never raise for what the system lacks."""


class SystemReader(Reader):
    def __init__(self, *, command_seconds: float = 10.0) -> None:
        self._command_seconds = command_seconds

    def read(self, want: Want) -> str | Unavailable:
        """Run commands with LC_ALL=C and without a terminal."""
        match want:
            case FileWant(path=path):
                return _read_file(Path(path))
            case DirectoryWant(path=path):
                return _list_directory(Path(path))
            case CommandWant():
                return _run(want, self._command_seconds)


def find_program(name: str) -> str | None:
    """Return the path of a program on PATH or in directories that a service's PATH often lacks."""
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_DIRECTORIES}")


def _read_file(path: Path) -> str | Unavailable:
    try:
        # Without newline translation: a mounted directory's name may contain a carriage return.
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            return file.read(_MAX_CHARACTERS)
    except OSError as error:
        return Unavailable(f"{path} cannot be read: {error.strerror}")


def _list_directory(path: Path) -> str | Unavailable:
    try:
        return "\n".join(sorted(entry.name for entry in path.iterdir()))
    except OSError as error:
        return Unavailable(f"{path} cannot be listed: {error.strerror}")


def _run(want: CommandWant, timeout_seconds: float) -> str | Unavailable:
    name, *arguments = want.argv
    program = find_program(name)
    if program is None:
        return Unavailable(f"{name} is not installed; install the package {want.package} on this node")
    try:
        changeable = why_program_changeable(program)
    except OSError as error:
        changeable = f"{error.filename} cannot be entered: {error.strerror}"
    if changeable is not None:
        return Unavailable(f"{name} is not run: {changeable}")
    try:
        process = _start([program, *arguments], want.run_as)
    except OSError as error:
        who = _by(want.run_as) or " by the agent's user"
        return Unavailable(f"{program} cannot be started{who}: {error.strerror}; let that user execute it")
    try:
        stdout, stderr = process.communicate(timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        _give_up(process)
        return Unavailable(
            f"{name} did not answer within {format_seconds(timeout_seconds)}; check that its file system is reachable"
        )
    if process.returncode == 0 or want.any_status:
        return (stdout + stderr * want.any_status)[:_MAX_CHARACTERS]
    last_line = (stderr.strip().splitlines() or ["nothing on stderr"])[-1]
    ended = f"{name} ended with status {process.returncode}{_by(want.run_as)}"
    return Unavailable(f"{ended}: {_LOG_STAMP.sub('', last_line)}")


def _start(argv: list[str], run_as: tuple[int, ...]) -> subprocess.Popen[str]:
    environment = {**os.environ, "LC_ALL": "C"}
    rights: dict[str, Any] = {}
    if run_as:
        user, group, *groups = run_as
        rights = {"user": user, "group": group, "extra_groups": groups, "cwd": "/"}
        # Loads have no home either, and root's is closed to the user.
        environment.pop("HOME", None)
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        **rights,
    )


def _by(run_as: tuple[int, ...]) -> str:
    return f" by user {run_as[0]}, who runs the loads" if run_as else ""


def _give_up(process: subprocess.Popen[str]) -> None:
    """Kill a command without waiting: on a dead mount it stays in state D."""
    process.kill()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
