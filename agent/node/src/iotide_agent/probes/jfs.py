"""JFS: block size and where its journal is."""

import re
from collections.abc import Iterable
from typing import ClassVar

from iotide_agent.probes.base import Probe, Texts, known, labelled, number, unavailable_fact
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_wire.facts import Facts


class JfsProbe(Probe):
    """JFS, by its superblock."""

    name: ClassVar[str] = "jfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield _superblock(mount)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        superblock = texts.get(_superblock(mount), Unavailable("jfs_tune was not asked"))
        if isinstance(superblock, Unavailable):
            return {"jfs.block_bytes": unavailable_fact(superblock)}
        found = labelled(superblock)
        flags = found.get("JFS flags", "").split()
        return known(
            {
                "jfs.block_bytes": _leading(found.get("Aggregate block size")),
                "jfs.sector_bytes": _leading(found.get("Physical block size")),
                "jfs.block_count": _leading(found.get("Aggregate size")),
                "jfs.allocation_group_blocks": _leading(found.get("Allocation group size")),
                "jfs.log": ("internal" if "JFS_INLINELOG" in flags else "external") if flags else None,
                "jfs.flags": ",".join(sorted(flags))[:500],
            }
        )


def _superblock(mount: Mount) -> CommandWant:
    return CommandWant(("jfs_tune", "-l", mount.source), "jfsutils")


def _leading(text: str | None) -> int | None:
    found = re.match(r"\d+", text or "", re.ASCII)
    return number(found[0]) if found else None
