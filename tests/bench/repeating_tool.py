"""Wrapper in an agent's PATH that repeats a tool's call until it is switched off, and counts the bytes moved."""

import shutil
from pathlib import Path

from bring_up import wait_for

_SCRIPT = """#!/bin/sh
again=$(cat {directory}/again 2>/dev/null) || exec {tool} "$@"
case "$*" in *"$again"*) ;; *) exec {tool} "$@" ;; esac
printf '%s\\n' "$@" >{directory}/arguments
echo $$ >{directory}/repeater
while :; do
  {tool} "$@" &
  echo $! >{directory}/current
  wait $!
done
"""


class RepeatingTool:
    """While `repeating`, one call of the tool becomes many, one after another, as children of one process.

    Attributes:
        name: of the program.
        bin_directory: first directory of the agent's PATH.
    """

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self._directory = directory
        self.bin_directory = directory / "bin"
        self.bin_directory.mkdir(parents=True)
        script = self.bin_directory / name
        script.write_text(_SCRIPT.format(tool=shutil.which(name), directory=directory))
        script.chmod(0o755)

    def repeat(self, mark: str) -> None:
        """Make the agent's calls with `mark` in their arguments repeat until they are ended."""
        (self._directory / "again").write_text(mark)

    def repeat_no_more(self) -> None:
        """Make a call a single call again."""
        for name in ("again", "repeater", "current"):
            (self._directory / name).unlink(missing_ok=True)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the repeated tool's arguments, its own name first."""
        return (self.name, *(self._directory / "arguments").read_text().splitlines())

    @property
    def pid(self) -> int:
        """Wait for the start of the repeating process, a child of iotide's runner, and return its id."""
        return wait_for(f"the repeated {self.name}", lambda: self._number("repeater"))

    def moved_bytes(self) -> int:
        """Return the bytes of all write(2) and similar calls; the kernel adds those of ended children to their
        parent.
        """
        while True:
            ended_bytes = _written_bytes(self.pid)
            current = self._number("current")
            try:
                current_bytes = _written_bytes(current) if current else 0
            except OSError:  # it ended between the two readings
                continue
            if _written_bytes(self.pid) == ended_bytes:
                return ended_bytes + current_bytes

    def _number(self, name: str) -> int | None:
        file = self._directory / name
        text = file.read_text() if file.exists() else ""
        return int(text) if text.endswith("\n") else None


def _written_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar:"))
