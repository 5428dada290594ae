"""Feeds a parser with one input, within limits of time and memory, and shrinks inputs that fail."""

import os
import resource
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Final

from fuzzing.target import Target

DATA: Final = Path(__file__).parents[1] / "data/fuzz"
INPUT_SECONDS: Final = 5.0
"""CPU time for one input; a parser that needs more hangs."""
MEMORY_BYTES: Final = 3 * 1024**3
"""Address space of the process that feeds."""
_SHRINK_SECONDS: Final = 20.0
_OWN: Final = ("/iotide_", "/cronsim/")


class HangError(Exception):
    """An input took too long."""


@dataclass(frozen=True)
class Finding:
    """An error that a parser does not promise.

    Attributes:
        signature: kind of error and its origin in our code; two inputs with the same one are one finding.
        words: message and traceback for people.
    """

    signature: str
    words: str


def limit_memory() -> None:
    """Make excessive memory use raise MemoryError in this process only."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))


def try_input(target: Target, data: bytes, limit_seconds: float = INPUT_SECONDS) -> Finding | None:
    """Feed the target; return None if it kept its promise."""
    try:
        with _limited(limit_seconds):
            target.feed(data)
    except Exception as error:  # noqa: BLE001 - any error of a parser is a finding
        return _finding(error)
    return None


def shrink(target: Target, data: bytes, finding: Finding) -> bytes:
    """Return a shorter input with the same finding; parts are removed as long as the finding stays."""
    until = monotonic() + _SHRINK_SECONDS
    size = max(1, len(data) // 2)
    while size and monotonic() < until:
        begin = 0
        while begin < len(data) and monotonic() < until:
            shorter = data[:begin] + data[begin + size :]
            found = try_input(target, shorter)
            if found is not None and found.signature == finding.signature:
                data = shorter
            else:
                begin += size
        size //= 2
    return data


def keep(directory: Path, data: bytes) -> Path:
    """Write an input to a file named by its digest."""
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / sha256(data).hexdigest()[:16]
    file.write_bytes(data)
    return file


def kept(kind: str, name: str) -> list[Path]:
    """Return the kept inputs of a target, `findings` or `corpus`."""
    directory = DATA / kind / name
    return sorted(directory.iterdir()) if directory.is_dir() else []


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise HangError(f"no end within {seconds:g} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _finding(error: Exception) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if any(part in frame.filename for part in _OWN)] or list(frames)
    # A hang or a recursion can end anywhere: its caller identifies it better than the line where it ended.
    at = own[0] if isinstance(error, HangError | RecursionError | MemoryError) else own[-1]
    signature = f"{type(error).__name__} in {os.path.basename(at.filename)}:{at.name}"  # noqa: PTH119 - of a text
    words = "".join(traceback.format_exception(error, limit=-12))
    return Finding(signature, words[-4000:])
