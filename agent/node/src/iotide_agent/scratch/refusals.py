"""Errors of scratch devices."""

from collections.abc import Sequence
from typing import Final

_MOST_SHOWN: Final = 8
"""Any user can have thousands of processes and namespaces."""


def joined(reasons: Sequence[str], separator: str = "; ") -> str:
    """Return reasons as one text, with the number of those left out."""
    left_out = len(reasons) - _MOST_SHOWN
    return separator.join(reasons if left_out <= 0 else [*reasons[:_MOST_SHOWN], f"{left_out} more"])


class ScratchRefusedError(Exception):
    """A check found a reason not to write; nothing was written since."""


class DirtyError(Exception):
    """Undoing or wiping did not reach its proof; the disk stays dirty."""


class CommandFailedError(Exception):
    """A command of a step failed, or took longer than its limit."""
