"""The first moment of every child: it will die with its parent, it takes its user, and becomes the wanted program.

A process of its own, because code between fork and exec is not safe in a parent with threads. Standard library only.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from iotide_server.embedded.privileges import Account, account_of, become_bare, die_with_parent


def launch_command(
    command: Sequence[str], *, stop_signal: signal.Signals, account: Account, is_bare: bool
) -> tuple[str, ...]:
    """The argument list that starts the command as a child of this process.

    Args:
        stop_signal: what the kernel sends the child when this process ends, however it ends.
        account: whom the child runs as.
        is_bare: strip the child of every capability; without it, it keeps what this process has.
    """
    bare = ("--bare", str(account.uid)) if is_bare else ()
    # -P keeps the working directory off the import path.
    interpreter = (sys.executable, "-P", "-m", "iotide_server.embedded.launch")
    return (*interpreter, *bare, str(os.getpid()), str(int(stop_signal)), "--", *command)


def can_execute(program: Path, *, account: Account, is_bare: bool) -> bool:
    """Whether a child launched like this could run the program; only the kernel knows all rules, so it is asked."""
    question = ("test", "-x", str(program))
    command = launch_command(question, stop_signal=signal.SIGKILL, account=account, is_bare=is_bare)
    return subprocess.run(command, check=False).returncode == 0


def main() -> None:
    """Become the program named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bare", type=int)
    parser.add_argument("parent_pid", type=int)
    parser.add_argument("stop_signal", type=int)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if options.bare is not None:
        become_bare(account_of(options.bare))
    # After the change of user, which makes the kernel forget the parent's death signal.
    die_with_parent(options.parent_pid, options.stop_signal)
    os.execvp(options.command[0], options.command)  # noqa: S606 - no shell is the point


if __name__ == "__main__":
    main()
