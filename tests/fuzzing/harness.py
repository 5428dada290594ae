"""Feeds a parser with one input, within limits of time and memory, and makes what it choked on small."""

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
"""Of processor time, for one input; a parser that needs more hangs."""
MEMORY_BYTES: Final = 3 * 1024**3
"""Of address space, for the process that feeds."""
_SHRINK_SECONDS: Final = 20.0
_OWN: Final = ("/iotide_", "/cronsim/")


class HangError(Exception):
    """An input took too long."""


@dataclass(frozen=True)
class Finding:
    """What a parser did not promise.

    Attributes:
        signature: kind of error and where in our code it arose; two inputs with the same one are one finding.
        words: for a person, with the way to it.
    """

    signature: str
    words: str


def limit_memory() -> None:
    """From now on too much memory is a MemoryError of this process alone."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))


def try_input(target: Target, data: bytes, limit_seconds: float = INPUT_SECONDS) -> Finding | None:
    """Feeds the target; None where it kept its promise."""
    try:
        with _limited(limit_seconds):
            target.feed(data)
    except Exception as error:  # noqa: BLE001 - whatever a parser raises is what is looked for
        return _finding(error)
    return None


def shrink(target: Target, data: bytes, finding: Finding) -> bytes:
    """A shorter input with the same finding: parts are left out as long as that is so."""
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
    """Writes an input under the name of its digest."""
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / sha256(data).hexdigest()[:16]
    file.write_bytes(data)
    return file


def kept(kind: str, name: str) -> list[Path]:
    """The kept inputs of a target, `findings` or `corpus`."""
    directory = DATA / kind / name
    return sorted(directory.iterdir()) if directory.is_dir() else []


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise HangError(f"no end within {seconds:g} s of processor time")

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
    # A hang and a recursion end anywhere, so where they came from says more than where they were met.
    at = own[0] if isinstance(error, HangError | RecursionError | MemoryError) else own[-1]
    signature = f"{type(error).__name__} in {os.path.basename(at.filename)}:{at.name}"  # noqa: PTH119 - of a text
    words = "".join(traceback.format_exception(error, limit=-12))
    return Finding(signature, words[-4000:])
