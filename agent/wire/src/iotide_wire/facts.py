"""Facts of a node and its mounts: flat attributes from an allow-list, never the environment."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from iotide_wire.base import Message, Text

LONGEST_FACT: Final = 4000
"""Maximum characters of a fact. Longer texts are cut, because a node without facts could do nothing."""
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
"""Flat attributes with dotted names, numbers in base units: `memory.total_bytes`, `mount.options`, `kernel.release`."""


class MountFacts(Message):
    """A mount, or the mount of an approved directory, as the node sees it now.

    Attributes:
        path: approved directory or mount point, absolute and without symbolic links.
        mount_point: where the file system of `path` is mounted.
        fstype, source: as in /proc/self/mountinfo, decoded.
        mount_options: per-mount and per-file-system options, sorted, joined by commas.
        total_inodes, free_inodes: null if the file system counts none, and from older agents.
        approved: the agent's configuration lets runs write below `path`.
        facts: of this file system.
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
