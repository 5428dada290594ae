"""ReiserFS: format, hash and journal."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes.base import Probe, Texts, known, labelled, number, unavailable_fact
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_wire.facts import Facts

_HEAD: Final = re.compile(r"of format (\S+) with (\S+) journal")
_HASH: Final = re.compile(r'^Hash function used to sort names: "(\w+)"', re.MULTILINE)
_JOURNAL: Final = re.compile(r"^\s*Size (\d{1,12}) blocks", re.MULTILINE | re.ASCII)


class ReiserfsProbe(Probe):
    """ReiserFS 3, by its superblock; reiserfstune refuses to look at what is mounted."""

    name: ClassVar[str] = "reiserfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield _superblock(mount)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        superblock = texts.get(_superblock(mount), Unavailable("debugreiserfs was not asked"))
        if isinstance(superblock, Unavailable):
            return {"reiserfs.block_bytes": unavailable_fact(superblock)}
        fields = labelled(superblock)
        head, names, journal = (found.search(superblock) for found in (_HEAD, _HASH, _JOURNAL))
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


def _superblock(mount: Mount) -> CommandWant:
    return CommandWant(("debugreiserfs", mount.source), "reiserfsprogs")
