"""How much of the memory that one large answer took a process keeps afterwards: little, as it is many processes."""

import ctypes
import os
import threading
import time
from collections.abc import Callable
from typing import Final

_KEPT_BYTES: Final = 131_072
_ARENAS: Final = 1
_TRIMMED_EVERY_SECONDS: Final = 30.0
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
_WHOLE_BLOCK_BYTES: Final = 32_768
"""From this size on a block of PostgreSQL's contexts is pages of its own, which go with it; most are of 8 KiB."""

IN_ENVIRONMENT: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(_WHOLE_BLOCK_BYTES),
    "MALLOC_TRIM_THRESHOLD_": str(_KEPT_BYTES),
}
"""The same for a program of one thread that is not ours, read when it begins."""


def give_memory_back() -> None:
    """Have glibc give memory back once it is free, and every half minute what lies between what is used."""
    # By itself it keeps up to 64 MB for each of several threads after a large answer (mallopt(3)), and all below the
    # last piece that is used (malloc_trim(3)). The environment's word goes before this.
    if any(name.startswith("MALLOC_") for name in os.environ):
        return
    library = ctypes.CDLL(None)
    try:
        mallopt, trim = library.mallopt, library.malloc_trim
    except AttributeError:  # not glibc
        return
    for parameter, value in (
        (_M_ARENA_MAX, _ARENAS),
        (_M_MMAP_THRESHOLD, _KEPT_BYTES),
        (_M_TRIM_THRESHOLD, _KEPT_BYTES),
    ):
        mallopt(parameter, value)
    threading.Thread(target=_trim_for_ever, args=(trim,), name="malloc_trim", daemon=True).start()


def _trim_for_ever(trim: Callable[[int], int]) -> None:
    while True:
        time.sleep(_TRIMMED_EVERY_SECONDS)  # in a thread of its own, that ends with the process
        trim(0)
