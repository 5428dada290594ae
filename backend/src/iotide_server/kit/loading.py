"""Loads the modules of a process in half the time that Python takes by itself."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Import modules without the garbage collector, which finds next to nothing and takes half of the time.

    All that was made by the end of the block stays for good, and no later collection goes through it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
