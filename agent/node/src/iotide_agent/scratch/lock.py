"""The lock of all operations on scratch devices of a node. Children inherit it, so it outlives a killed program."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from iotide_agent.runner.files import closing
from iotide_agent.scratch.disk import until
from iotide_agent.scratch.openers import openers_of
from iotide_agent.scratch.refusals import ScratchRefusedError

_PRIVATE: Final = 0o700


@contextmanager
def held_lock(file: Path, patience_seconds: float) -> Iterator[int]:
    """Hold the lock and yield its descriptor; raise ScratchRefusedError that names the processes that keep it."""
    file.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with closing(descriptor):
        if not until(lambda: _is_taken(descriptor), patience_seconds):
            raise ScratchRefusedError(f"another operation on scratch devices is running: {openers_of(descriptor)}")
        yield descriptor


def _is_taken(descriptor: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
