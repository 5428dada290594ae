"""Changes to this machine that a repeated setup finds done; in a dry run they are only printed."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

READABLE: Final = 0o644
_DIRECTORY_MODE: Final = 0o755
_SYSTEM_PATH: Final = f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"
"""Root's PATH lacks these directories after `su` without `-`."""


class SetupError(Exception):
    """Setup cannot continue; the text ends with the remedy."""


class Changes:
    """Makes changes, or prints them if `is_dry`. `count` is the number of necessary changes."""

    def __init__(self, say: Callable[[str], None], *, is_dry: bool) -> None:
        self.say = say
        self.is_dry = is_dry
        self.count = 0

    def make(self, what: str, act: Callable[[], object], shown: str = "") -> None:
        """Do `act`, announced as `what`; `shown` is the content that a dry run prints."""
        self.count += 1
        if self.is_dry:
            self.say("\n".join([f"would {what}", *(f"    {line}" for line in shown.splitlines())]))
            return
        self.say(what)
        act()

    def write(self, file: Path, text: str, *, mode: int = READABLE) -> bool:
        """Write a file, by default for every user to read, unless it has this content. Return whether it differed."""
        if has_content(file, text):
            return False
        self.make(f"write {file}", lambda: write_whole(file, text, mode), text)
        return True

    def run(self, *command: str) -> None:
        self.make(f"run {' '.join(command)}", lambda: run(command))


def has_content(file: Path, text: str) -> bool:
    try:
        return file.read_bytes() == text.encode()
    except FileNotFoundError:
        return False


def write_whole(file: Path, text: str, mode: int) -> None:
    """Replace the file in one step; raise OSError and keep the old one."""
    file.parent.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.new")
    try:
        with draft.open("w", encoding="utf-8") as opened:
            os.fchmod(opened.fileno(), mode)
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(file)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise


def program_path(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{_SYSTEM_PATH}")


def run(command: Sequence[str]) -> None:
    """Raise SetupError if the command does not exist or fails."""
    if program_path(command[0]) is None:
        raise SetupError(f"{command[0]} is not installed; install it, then run setup again")
    done = _done(command)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip() or f"exit status {done.returncode}"
        raise SetupError(f"`{' '.join(command)}` failed: {said}; correct this, then run setup again: it continues")


def succeeds(*command: str) -> bool:
    return _done(command).returncode == 0


def output(*command: str) -> str:
    """Return what the command prints; empty if it fails."""
    return _done(command).stdout.strip()


def _done(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    program = program_path(command[0])
    if program is None:
        return subprocess.CompletedProcess(command, 1, "", "")
    return subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
