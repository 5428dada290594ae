"""The processes that runners are: started in a session of their own, or found again by their number."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iotide_agent.runner import RUNNER


@dataclass(frozen=True, slots=True)
class RunnerProcess:
    """A runner, or what cleans up after one; `child` where this agent process started it."""

    pid: int
    pidfd: int
    child: subprocess.Popen[bytes] | None

    def close(self) -> None:
        """Gives back what was held of it, once it has ended."""
        os.close(self.pidfd)
        if self.child is not None:
            self.child.wait()


def start_runner(directory: Path, arguments: tuple[str, ...], inherited: tuple[int, ...]) -> RunnerProcess:
    """Start a runner for the order in a directory, with descriptors to keep open; raise OSError."""
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
    """The runner of that number, started by an earlier agent process; None where it has ended."""
    with suppress(ProcessLookupError):
        return RunnerProcess(pid, os.pidfd_open(pid), None)
    return None
