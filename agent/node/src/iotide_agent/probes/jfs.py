"""JFS: block size and where its journal is."""

import re
from typing import ClassVar

from iotide_agent.probes.base import CommandProbe, known, labelled, number
from iotide_wire.facts import Facts


class JfsProbe(CommandProbe):
    """JFS, by its superblock."""

    name: ClassVar[str] = "jfs"
    package: ClassVar[str] = "jfsutils"
    argv: ClassVar[tuple[str, ...]] = ("jfs_tune", "-l", "{0.source}")
    fact: ClassVar[str] = "jfs.block_bytes"

    def read(self, printed: str) -> Facts:
        found = labelled(printed)
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


def _leading(text: str | None) -> int | None:
    found = re.match(r"\d+", text or "", re.ASCII)
    return number(found[0]) if found else None
