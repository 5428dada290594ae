"""What an agent reports about its node and mounts: flat attributes from an allow-list, never the environment."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from iotide_wire.base import Message, Text

LONGEST_FACT: Final = 4000
"""Characters of a text among facts; a longer one is cut, since a node without its facts could do nothing."""
_CUT: Final = " ..."

FactValue = str | int | float | bool | None


def _cut(facts: dict[str, FactValue]) -> dict[str, FactValue]:
    return {
        name: value[: LONGEST_FACT - len(_CUT)] + _CUT
        if isinstance(value, str) and len(value) > LONGEST_FACT
        else value
        for name, value in facts.items()
    }


Facts = Annotated[
    dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]{0,80}$")], FactValue],
    Field(max_length=400),
    AfterValidator(_cut),
]
"""Flat attributes; names are dotted, numbers in base units: `memory.total_bytes`, `mount.options`, `kernel.release`."""


class MountFacts(Message):
    """One mount, or the mount on which an approved directory stands, as the node sees it now.

    Attributes:
        path: the approved directory or mount point, absolute and without symbolic links.
        mount_point: where the file system that holds `path` is mounted.
        fstype, source: as in /proc/self/mountinfo, octal escapes decoded.
        mount_options: per-mount and per-file-system options, sorted, joined by commas.
        total_inodes, free_inodes: null where the file system counts none, and from agents that did not look.
        approved: whether the agent's own configuration lets runs write below `path`.
        facts: what the probe of this file system found.
    """

    path: Text
    mount_point: Text
    fstype: Text
    source: Text
    mount_options: Text
    total_bytes: Annotated[int, Field(ge=0)] | None
    free_bytes: Annotated[int, Field(ge=0)] | None
    total_inodes: Annotated[int, Field(ge=0)] | None = None
    free_inodes: Annotated[int, Field(ge=0)] | None = None
    approved: bool
    facts: Facts
