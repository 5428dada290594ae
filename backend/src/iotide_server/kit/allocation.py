"""Limits the free memory that a process keeps."""

import ctypes
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

_KEPT_BYTES: Final = 131_072
_ARENAS: Final = 1
_TRIMMED_EVERY_SECONDS: Final = 30.0
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
_WHOLE_BLOCK_BYTES: Final = 32_768
"""PostgreSQL's memory blocks of this size or more are unmapped when freed. Most are 8 KiB."""

IN_ENVIRONMENT: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(_WHOLE_BLOCK_BYTES),
    "MALLOC_TRIM_THRESHOLD_": str(_KEPT_BYTES),
}
"""Environment for single-threaded programs of others, read at startup."""


def give_memory_back() -> None:
    """Make glibc return large free blocks at once, and fragments every 30 seconds."""
    # By default glibc keeps up to 64 MB per thread (mallopt(3)). MALLOC_* variables take precedence.
    if any(name.startswith("MALLOC_") for name in os.environ):
        return
    library = ctypes.CDLL(None)
    try:
        mallopt, trim = library.mallopt, library.malloc_trim
    except AttributeError:
        return
    for parameter, value in (
        (_M_ARENA_MAX, _ARENAS),
        (_M_MMAP_THRESHOLD, _KEPT_BYTES),
        (_M_TRIM_THRESHOLD, _KEPT_BYTES),
    ):
        mallopt(parameter, value)
    threading.Thread(target=_trim_for_ever, args=(trim,), name="malloc_trim", daemon=True).start()


def trim() -> None:
    """Return fragments now, after much was freed in small parts. Takes milliseconds."""
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _trim_for_ever(trim: Callable[[int], int]) -> None:
    while True:
        time.sleep(_TRIMMED_EVERY_SECONDS)
        trim(0)
