"""Starts child processes that end with their parent and run as another user.

Code between fork and exec is unsafe in a multi-threaded parent, so this is a program. Standard library only.
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
    """The kernel sends `stop_signal` to the command when this process ends."""
    # -P: no imports from the working directory
    interpreter = (sys.executable, "-P", "-m", "iotide_server.bundled.launch")
    return (*interpreter, str(account.uid), str(os.getpid()), str(int(stop_signal)), "--", *command)


def can_execute(program: Path, *, account: Account) -> bool:
    """Return whether the account can run the program. Only trying shows this."""
    question = ("test", "-x", str(program))
    command = launch_command(question, stop_signal=signal.SIGKILL, account=account)
    return subprocess.run(command, check=False).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("uid", type=int)
    parser.add_argument("parent_pid", type=int)
    parser.add_argument("stop_signal", type=int)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    become(account_of(options.uid))
    die_with_parent(options.parent_pid, options.stop_signal)
    os.execvp(options.command[0], options.command)  # noqa: S606 - must not use a shell


if __name__ == "__main__":
    main()
