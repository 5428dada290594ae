"""Errors of scratch devices."""

from collections.abc import Sequence
from typing import Final

from iotide_wire.visible import visible

_MOST_CHARACTERS: Final = 800
_MOST_SHOWN: Final = 8
"""Any user can have thousands of processes and namespaces."""


def joined(reasons: Sequence[str], separator: str = "; ") -> str:
    """Return reasons as one text of some 800 characters at most, with the number of those left out."""
    shown: list[str] = []
    left = _MOST_CHARACTERS
    for reason in reasons[:_MOST_SHOWN]:
        left -= len(reason)
        if shown and left < 0:
            break
        # Any user chooses names of processes and paths.
        shown.append(visible(reason[:_MOST_CHARACTERS]))
    left_out = len(reasons) - len(shown)
    return separator.join([*shown, f"{left_out} more"] if left_out else shown)


class ScratchRefusedError(Exception):
    """A check found a reason not to write; nothing was written since."""


class DirtyError(Exception):
    """Undoing or wiping did not reach its proof; the disk stays dirty."""


class CommandFailedError(Exception):
    """A command of a step failed, or took longer than its limit."""
