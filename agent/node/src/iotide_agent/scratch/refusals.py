"""Errors of scratch devices."""


class ScratchRefusedError(Exception):
    """A check found a reason not to write; nothing was written since."""


class DirtyError(Exception):
    """Undoing or wiping did not reach its proof; the disk stays dirty."""


class CommandFailedError(Exception):
    """A command of a step failed, or took longer than its limit."""
