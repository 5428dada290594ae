"""File systems that are the node's memory: no size and no O_DIRECT takes their numbers out of it."""

from typing import Final

IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
"""As the kernel shows their types."""


def memory_words(target: str, fstype: str) -> str:
    """Say what the numbers of such a target are."""
    return f"target {target} is memory ({fstype}): its numbers are memory numbers"
