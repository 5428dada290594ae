"""Kills a worker with SIGKILL at each line of its journal, and recovers after each.

Usage: killed_program.py DIRECTORY MAKE, with the fields `layout` and `fs` as JSON. Prints a JSON list of rows: the
line, what recovery reported and what was left. A process of its own, since it forks.
"""

import io
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from agent.scratch.loops import Loops, made_loops, performed, run

from iotide_agent.scratch.journal import Journal
from iotide_wire.units import MIB

CANARY = b"canary" * 1000


class Deadly:
    """A journal's stream that kills the process when a given line was written."""

    def __init__(self, last: int) -> None:
        self._left = last

    def write(self, text: str) -> int:
        self._left -= text.count("\n")
        return len(text)

    def flush(self) -> None:
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


def cycle(loops: Loops, making: dict[str, Any], order: int, journal: Journal) -> None:
    head = {"order": order, "fence": order}
    for verb, words in (("make", making), ("mount", {"options": {"noatime": True}}), ("wipe", {})):
        record = performed(loops, verb, journal=journal, **head, **words)
        assert record["outcome"] == "done", record["reason"]


def killed_at(loops: Loops, making: dict[str, Any], line: int) -> bool:
    """Return whether the worker reached the line."""
    pid = os.fork()
    if pid == 0:
        try:
            cycle(loops, making, line, Journal(Deadly(line)))  # type: ignore[arg-type]
        except BaseException as error:  # noqa: BLE001 - the parent sees the status
            sys.stderr.write(repr(error))
            sys.stderr.flush()
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the cycle itself failed"
    return os.WIFSIGNALED(status)


def main() -> None:
    directory, making = Path(sys.argv[1]), json.loads(sys.argv[2])
    rows = []
    with made_loops(directory) as loops:
        devices = [loops.add(160 * MIB) for _ in range(making["layout"].get("disks", 1))]
        loops.list_in("bays", devices)
        loops.adopt(*devices)
        canary = loops.add(20 * MIB)
        Path(loops.path(canary)).write_bytes(CANARY)
        before = loops.content(canary)
        line = 1
        while killed_at(loops, making, line):
            record = performed(loops, "recover", journal=Journal(io.StringIO()))
            rows.append({"line": line, "reason": record["reason"], "left": [*left(loops, canary)]})
            line += 1
        assert loops.content(canary) == before
    sys.stdout.write(json.dumps(rows))


def left(loops: Loops, canary: str) -> list[str]:
    """Return what is left on the arenas, and mounts."""
    name = loops.name(canary)
    serial = loops.sysfs.serials.pop(name)
    try:
        mounts = [
            line for line in run("findmnt", "--raw", "--noheadings").splitlines() if str(loops.site.mounts) in line
        ]
        return [*loops.leftovers(), *mounts]
    finally:
        loops.sysfs.serials[name] = serial


if __name__ == "__main__":
    main()
