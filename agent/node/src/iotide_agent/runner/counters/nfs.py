"""Counters of the NFS client for the targets' mounts: /proc/self/mountstats, statistics version 1.1.

`bytes:` ends with the bytes read from and written to the server and two counts of pages. An operation's line begins
with operations and transmissions. See nfs_show_stats and rpc_count_iostats of the kernel.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner.counters.source import OpenFile, Source, Span, TargetMount, growth

LONGEST_BYTES: Final = 256 * 1024
"""Search limit: with hundreds of NFS mounts the kernel writes megabytes, which takes milliseconds."""
_SECTION: Final = b"\ndevice "
_BYTES: Final = re.compile(rb"\n\tbytes:\t(?:\d+ ){4}(\d+) (\d+) ")
_OPERATION: Final = re.compile(rb"\n\t *[A-Z_]+: (\d+) (\d+) ")
_MANGLED: Final = re.compile(r"[ \t\n\\]")


class Client(NamedTuple):
    read_bytes: int
    written_bytes: int
    operations: int
    transmissions: int


class NfsClient(Source[dict[bytes, Client]]):
    def __init__(self, proc: Path, targets: Iterable[TargetMount]) -> None:
        self._heads = {_head(target) for target in targets if target.fstype in {"nfs", "nfs4"}}
        if not self._heads:
            raise FileNotFoundError("no target is on NFS")
        self.files = (OpenFile(proc / "self/mountstats"),)

    def read(self) -> dict[bytes, Client]:
        (file,) = self.files
        text = b"\n"
        for piece in file.pieces():
            text += piece
            if len(text) > LONGEST_BYTES or all(_SECTION in text[text.find(head) :] for head in self._heads):
                break
        sections = ((head, _section(text, head)) for head in self._heads)
        return {head: _client(section) for head, section in sections if section}

    def rates(self, before: dict[bytes, Client], after: dict[bytes, Client], span: Span) -> Mapping[str, float]:
        """Return the sum over mounts in both readings; empty without one, as during a remount."""
        grown = [growth(before[mount], after[mount]) for mount in before.keys() & after.keys()]
        if not grown:
            return {}
        total = Client(*map(sum, zip(*grown, strict=True)))
        return {
            "nfs_read_bytes_per_second": total.read_bytes / span.seconds,
            "nfs_write_bytes_per_second": total.written_bytes / span.seconds,
            "nfs_operations_per_second": total.operations / span.seconds,
            "nfs_retransmissions_per_second": max(0, total.transmissions - total.operations) / span.seconds,
        }


def _head(target: TargetMount) -> bytes:
    mount_point = _MANGLED.sub(lambda found: f"\\{ord(found[0]):03o}", target.mount_point)
    return f" mounted on {mount_point} with fstype {target.fstype} ".encode()


def _section(text: bytes, head: bytes) -> bytes:
    begin = text.find(head)
    if begin < 0:
        return b""
    end = text.find(_SECTION, begin)
    return text[begin:] if end < 0 else text[begin:end]


def _client(section: bytes) -> Client:
    over_wire = _BYTES.search(section)
    if over_wire is None:
        raise ValueError("an NFS mount has no line `bytes:`")
    counts = _OPERATION.findall(section)
    return Client(
        int(over_wire[1]),
        int(over_wire[2]),
        sum(int(operations) for operations, _ in counts),
        sum(int(transmissions) for _, transmissions in counts),
    )
