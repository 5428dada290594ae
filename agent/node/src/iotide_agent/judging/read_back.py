"""Reads of data that this node wrote shortly before on a network file system: the server may have it in memory."""

from collections.abc import Sequence
from typing import Final

from iotide_agent.judging.phases import ParallelSteps
from iotide_agent.workloads.base import Place
from iotide_wire.measured import Answer, Check
from iotide_wire.units import format_seconds

_SERVED: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "pvfs2", "orangefs", "glusterfs", "wekafs"}
    | {"fuse.glusterfs", "fuse.ceph-fuse", "fuse.sshfs", "fuse.fuse-nfs", "fuse.daos", "fuse.juicefs", "fuse.s3fs"}
    | {"virtiofs", "9p"}
)
"""File systems whose data is on other machines. Nothing on this node empties the memory there."""


def judge_read_back(phases: Sequence[ParallelSteps], places: Sequence[Place]) -> list[Answer]:
    """Return for each read phase how long before it which node wrote the data.

    The client's cache is judged elsewhere. A phase that also writes has no time in between.
    """
    served = {place.target_id: place for place in places if place.fstype in _SERVED}
    written: dict[int | None, float] = {}
    found: list[Answer] = []
    for phase in phases:
        begin, end = phase.began_at, phase.ended_at
        read, wrote = (_targets(phase, served, word) for word in ("read", "write"))
        for target_id in sorted(read & written.keys(), key=str):
            place = served[target_id]
            node = place.facts.get("host.name") or "this node"
            ago = format_seconds(max(begin - written[target_id], 0.0))
            because = f"{node} wrote the data {ago} before, so the memory of the server ({place.fstype}) may have it"
            found.append(phase.not_judged(Check.CACHE_DROP, because))
        written |= dict.fromkeys(wrote, end)
    return found


def _targets(phase: ParallelSteps, served: dict[int | None, Place], word: str) -> set[int | None]:
    """Return the served targets on which the phase has an operation such as `read` or `random_read`."""
    return {
        sample.target_id
        for sample in phase.samples
        if sample.target_id in served and word in str(sample.labels.get("operation", ""))
    }
