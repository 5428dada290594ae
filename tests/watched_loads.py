"""Wrappers of tools, first on an agent's PATH, that write their own log before they start the real tools.

The tests do not trust what iotide believes about its loads: the log shows which loads started and when. A lock that
all processes of a load inherit shows whether one ran at the same time as another.
"""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_WITNESS = """#!/bin/bash
# Bash has a clock built in: a separate process would cause most of the delay between the starts of a gang.
at=${{EPOCHREALTIME/[^0-9]/}}000
case "$*" in *--version*) exec {tool} "$@" ;; esac
exec 9>>{directory}/running
if flock -n 9; then company=alone; else company=overlapping; fi
# One write a line, as the loads of a gang write at one moment into one log.
printf '%s\\n' "$(printf '%s\\t%s\\t%s\\t%s' "$at" "$company" $$ {name}; printf '\\t%s' "$@")" >>{directory}/log
{pace}
exec {tool} "$@" "${{pace[@]}}"
"""
_PACES = {"fio": "pace=(--rate_iops=500); [[ ${!#} == --* ]] || pace=()"}
"""By tool, additional arguments: at full speed fio keeps a third of a core busy. Job files stay unchanged."""


@dataclass(frozen=True)
class LoadStart:
    """A line of the log.

    Attributes:
        epoch_seconds: time of the wrapper's first statement.
        is_alone: whether no process of an earlier load of this log was alive.
        arguments: of the tool, its name first.
    """

    epoch_seconds: float
    is_alone: bool
    pid: int
    arguments: tuple[str, ...]


class WatchedLoads:
    """The wrappers of one agent: a directory for its PATH, and their log.

    Args:
        is_paced: fio does 500 operations a second, since most tests only wait for its end; False: at full speed.
    """

    def __init__(self, directory: Path, tools: Iterable[str] = ("dd", "fio"), *, is_paced: bool = True) -> None:
        self._directory = directory
        bin_directory = directory / "bin"
        bin_directory.mkdir(parents=True)
        for name in tools:
            tool = shutil.which(name)
            if tool is None:
                raise RuntimeError(f"{name} is not installed; ./dev installs what the tests need")
            witness = bin_directory / name
            pace = _PACES.get(name, "pace=()") if is_paced else "pace=()"
            witness.write_text(_WITNESS.format(tool=tool, directory=directory, name=name, pace=pace))
            witness.chmod(0o755)
        self.environment = {"PATH": f"{bin_directory}:{os.environ['PATH']}"}

    def starts(self) -> list[LoadStart]:
        """Return every load that started, oldest first."""
        log = self._directory / "log"
        return [_read(line) for line in log.read_text().splitlines()] if log.exists() else []

    def is_any_running(self) -> bool:
        """Return whether any process of any load is alive."""
        # From /proc, not by taking the lock: a load that starts meanwhile would look like a second one.
        lock = str(self._directory / "running")
        return any(_link_of(link) == lock for link in Path("/proc").glob("[0-9]*/fd/9"))


def _link_of(link: Path) -> str | None:
    try:
        return str(link.readlink())
    except OSError:  # it has ended since, or is another user's
        return None


def _read(line: str) -> LoadStart:
    at_nanoseconds, company, pid, *arguments = line.split("\t")
    return LoadStart(int(at_nanoseconds) / 1e9, company == "alone", int(pid), tuple(arguments))
