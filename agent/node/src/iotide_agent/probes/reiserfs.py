"""ReiserFS: format, hash and journal."""

import re
from typing import ClassVar, Final

from iotide_agent.probes.base import CommandProbe, known, labelled, number
from iotide_wire.facts import Facts

_HEAD: Final = re.compile(r"of format (\S+) with (\S+) journal")
_HASH: Final = re.compile(r'^Hash function used to sort names: "(\w+)"', re.MULTILINE)
_JOURNAL: Final = re.compile(r"^\s*Size (\d{1,12}) blocks", re.MULTILINE | re.ASCII)


class ReiserfsProbe(CommandProbe):
    """ReiserFS 3, by its superblock; reiserfstune refuses to look at what is mounted."""

    name: ClassVar[str] = "reiserfs"
    package: ClassVar[str] = "reiserfsprogs"
    argv: ClassVar[tuple[str, ...]] = ("debugreiserfs", "{0.source}")
    fact: ClassVar[str] = "reiserfs.block_bytes"

    def read(self, printed: str) -> Facts:
        fields = labelled(printed)
        head, names, journal = (found.search(printed) for found in (_HEAD, _HASH, _JOURNAL))
        return known(
            {
                "reiserfs.block_bytes": number(fields.get("Blocksize")),
                "reiserfs.block_count": number(fields.get("Count of blocks on the device")),
                "reiserfs.format": head[1] if head else None,
                "reiserfs.journal": head[2] if head else None,
                "reiserfs.journal_blocks": number(journal[1]) if journal else None,
                "reiserfs.hash": names[1] if names else None,
            }
        )
