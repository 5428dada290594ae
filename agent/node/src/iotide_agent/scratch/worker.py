"""The process of one operation: forked from the program, ended by the kernel with it, and followed by its journal."""

import json
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TextIO

from iotide_agent.runner.processes import die_with_parent
from iotide_agent.scratch.journal import Journal
from iotide_agent.scratch.operations import perform
from iotide_agent.scratch.requests import ScratchRequest
from iotide_agent.scratch.site import Site

_READ_BYTES: Final = 65536


class Worker:
    """A running operation. Its pipe becomes readable when the journal has a new line.

    `status` is that of waitpid; other than 0 for one that was killed before it stored its record.
    """

    def __init__(self, site: Site, request: ScratchRequest, packet: bytes, stream: TextIO) -> None:
        self.request = request
        self.since_s = int(time.time())
        self.step: dict[str, Any] | None = None
        self.commands: list[dict[str, Any]] = []
        self.status = 0
        self._buffer = b""
        reading, writing = os.pipe()
        program = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(reading)
            journal = Journal(stream, partial(_send, writing))
            _work(partial(perform, site, request, packet), journal, program)
        os.close(writing)
        self._pipe = reading
        os.set_blocking(reading, False)

    def fileno(self) -> int:
        return self._pipe

    def read(self) -> bool:
        """Take new lines of the journal; return whether the operation has ended."""
        data = os.read(self._pipe, _READ_BYTES)
        self._buffer += data
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            self._take(json.loads(line))
        if data:
            return False
        os.close(self._pipe)
        _, self.status = os.waitpid(self._pid, 0)
        return True

    def shown(self) -> dict[str, Any]:
        request = self.request
        return {
            "verb": str(request.verb),
            "set": request.set,
            "order": request.order,
            "fence": request.fence,
            "since_s": self.since_s,
            "step": self.step,
            "commands": len(self.commands),
        }

    def _take(self, event: dict[str, Any]) -> None:
        if event["event"] == "command_ended":
            self.commands.append(event)
            self.step = None
        elif event["event"] in {"command_started", "sync_started", "zeroing"}:
            self.step = event


def _work(run: Callable[[Journal], object], journal: Journal, program: int) -> None:
    """Perform the operation and leave; never returns."""
    status = 1
    try:
        die_with_parent()
        if os.getppid() == program:
            run(journal)
            status = 0
    except BaseException as error:  # noqa: BLE001 - the last chance to name it
        journal.write("broken", because=repr(error))
    finally:
        os._exit(status)


def _send(pipe: int, line: dict[str, Any]) -> None:
    os.write(pipe, json.dumps(line).encode() + b"\n")
