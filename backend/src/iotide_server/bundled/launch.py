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

from iotide_server.bundled.privileges import Account, account_of, become, die_with_parent


def launch_command(command: Sequence[str], *, stop_signal: signal.Signals, account: Account) -> tuple[str, ...]:
    """Return what starts the command as `account`; the kernel sends it `stop_signal` when this process ends."""
    # -P keeps the working directory off the import path.
    interpreter = (sys.executable, "-P", "-m", "iotide_server.bundled.launch")
    return (*interpreter, str(account.uid), str(os.getpid()), str(int(stop_signal)), "--", *command)


def can_execute(program: Path, *, account: Account) -> bool:
    """Return whether a child launched like this could run the program. Only the kernel knows all rules, so ask it."""
    question = ("test", "-x", str(program))
    command = launch_command(question, stop_signal=signal.SIGKILL, account=account)
    return subprocess.run(command, check=False).returncode == 0


def main() -> None:
    """Become the program named on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("uid", type=int)
    parser.add_argument("parent_pid", type=int)
    parser.add_argument("stop_signal", type=int)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    become(account_of(options.uid))
    # After the change of user, which makes the kernel forget the parent's death signal.
    die_with_parent(options.parent_pid, options.stop_signal)
    os.execvp(options.command[0], options.command)  # noqa: S606 - no shell is the point


if __name__ == "__main__":
    main()
