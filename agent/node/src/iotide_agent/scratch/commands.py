"""Tools that the steps run: argument lists, a fixed environment, and the lock inherited by each child."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from iotide_agent.runner.processes import die_with_parent
from iotide_agent.scratch.journal import Journal
from iotide_agent.scratch.refusals import CommandFailedError
from iotide_wire.units import format_seconds

PATH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT: Final = {"PATH": PATH, "LC_ALL": "C"}
USUAL_SECONDS: Final = 120.0
LONG_SECONDS: Final = 4 * 3600.0
"""ext writes all inode tables: seven minutes for 18 TB, longer on several slow disks."""
_SUCCEEDED: Final = (0,)
_MOST_SHOWN: Final = 500


def is_installed(program: str) -> bool:
    return shutil.which(program, path=PATH) is not None


class Commands:
    """Runs commands and writes each into the journal, before and after.

    A child inherits the lock as its standard input, so that nothing else begins while it lives. The kernel ends it with
    this process.
    """

    def __init__(self, journal: Journal, lock: int) -> None:
        self.journal = journal
        self._lock = lock

    def run(
        self, argv: Sequence[str], *, ok: Collection[int] = _SUCCEEDED, limit_seconds: float = USUAL_SECONDS
    ) -> str:
        """Return what the command printed; raise CommandFailedError."""
        self.journal.write("command_started", argv=list(argv))
        began = time.monotonic()
        status, printed, said = self._ended(argv, limit_seconds)
        seconds = round(time.monotonic() - began, 3)
        self.journal.write("command_ended", argv=list(argv), rc=status, seconds=seconds)
        if status not in ok:
            words = (said or printed).strip()[-_MOST_SHOWN:]
            raise CommandFailedError(f"`{' '.join(argv)}` ended with status {status}: {words}")
        return printed

    def _ended(self, argv: Sequence[str], limit_seconds: float) -> tuple[int, str, str]:
        program = shutil.which(argv[0], path=PATH)
        if program is None:
            raise CommandFailedError(f"{argv[0]} is not installed on this node; install it")
        child = subprocess.Popen(
            [program, *argv[1:]],
            stdin=self._lock,  # an empty file; LVM closes every descriptor but the three standard ones
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=ENVIRONMENT,
            cwd="/",
            process_group=0,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - this process has one thread
        )
        try:
            printed, said = child.communicate(timeout=limit_seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            # A child that no signal ends keeps the lock, and with it its disks.
            raise CommandFailedError(
                f"`{' '.join(argv)}` took longer than {format_seconds(limit_seconds)} (process {child.pid})"
            ) from None
        return child.returncode, printed, said
