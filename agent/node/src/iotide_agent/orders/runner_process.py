"""Processes of runners: started in a new session, or found again by pid."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iotide_agent.runner import RUNNER


@dataclass(frozen=True, slots=True)
class RunnerProcess:
    pid: int
    pidfd: int
    child: subprocess.Popen[bytes] | None

    def close(self) -> None:
        os.close(self.pidfd)
        if self.child is not None:
            self.child.wait()


def start_runner(directory: Path, arguments: tuple[str, ...], inherited: tuple[int, ...]) -> RunnerProcess:
    """Keep the descriptors open; raise OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    with os.fdopen(os.open(directory / "runner.log", flags, 0o600), "ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(RUNNER), str(directory), *arguments],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=inherited,
        )
    return RunnerProcess(child.pid, os.pidfd_open(child.pid), child)


def adopted_runner(pid: int) -> RunnerProcess | None:
    """Return None if it has ended."""
    with suppress(ProcessLookupError):
        return RunnerProcess(pid, os.pidfd_open(pid), None)
    return None
