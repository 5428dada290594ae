"""How much of the memory that one large answer took a process keeps afterwards: little, as it is many processes."""

import ctypes
import os
from typing import Final

_KEPT_BYTES: Final = 131_072
_ARENAS: Final = 2
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8

IN_ENVIRONMENT: Final = {"MALLOC_MMAP_THRESHOLD_": str(_KEPT_BYTES), "MALLOC_TRIM_THRESHOLD_": str(_KEPT_BYTES)}
"""The same for a program of one thread that is not ours, read when it begins."""


def give_memory_back() -> None:
    """Have glibc give memory back once it is free.

    By itself it keeps up to 64 MB after the first large answer, for each of several threads (mallopt(3)). Nothing is
    changed under another C library, nor where the environment says how it is to be.
    """
    if any(name.startswith("MALLOC_") for name in os.environ):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # not glibc
        return
    for parameter, value in (
        (_M_ARENA_MAX, _ARENAS),
        (_M_MMAP_THRESHOLD, _KEPT_BYTES),
        (_M_TRIM_THRESHOLD, _KEPT_BYTES),
    ):
        mallopt(parameter, value)
