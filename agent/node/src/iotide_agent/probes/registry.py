"""The agent's probes, and the facts that they find on the node."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import Final

from pydantic import TypeAdapter

from iotide_agent.plug_ins import with_plug_ins
from iotide_agent.probes import node
from iotide_agent.probes.base import Probe, gather, number, unavailable_fact
from iotide_agent.probes.bcachefs import BcachefsProbe
from iotide_agent.probes.beegfs import BeegfsProbe
from iotide_agent.probes.block import BlockProbe, stripe_fit
from iotide_agent.probes.ceph import CephProbe
from iotide_agent.probes.cifs import CifsProbe
from iotide_agent.probes.daos import DaosProbe
from iotide_agent.probes.fuse import FuseProbe
from iotide_agent.probes.generic import GenericProbe
from iotide_agent.probes.glusterfs import GlusterfsProbe
from iotide_agent.probes.gpfs import GpfsProbe
from iotide_agent.probes.identity import UuidProbe
from iotide_agent.probes.juicefs import JuicefsProbe
from iotide_agent.probes.local import BtrfsProbe, ExtProbe, JfsProbe, ReiserfsProbe, TmpfsProbe, XfsProbe
from iotide_agent.probes.lustre import LustreProbe
from iotide_agent.probes.moosefs import MoosefsProbe
from iotide_agent.probes.mounts import MOUNTINFO, PSEUDO_FSTYPES, Mount, holding, parse_mountinfo
from iotide_agent.probes.nfs import NfsProbe
from iotide_agent.probes.pvfs2 import Pvfs2Probe
from iotide_agent.probes.reader import CommandWant, Reader, SystemReader, Unavailable
from iotide_agent.probes.virtiofs import VirtiofsProbe
from iotide_agent.probes.weka import WekaProbe
from iotide_agent.probes.zfs import ZfsProbe
from iotide_wire.facts import Facts, MountFacts

MAX_MOUNTS: Final = 1000
MAX_FACTS: Final = 400
_SPACE_FIELDS: Final = 5

_MAX_TEXT: Final = 4000
_FACTS: Final[TypeAdapter[Facts]] = TypeAdapter(Facts)
_logger = logging.getLogger(__name__)
_OWN: Final[tuple[type[Probe], ...]] = (
    GenericProbe,
    UuidProbe,
    ExtProbe,
    XfsProbe,
    JfsProbe,
    ReiserfsProbe,
    BtrfsProbe,
    ZfsProbe,
    TmpfsProbe,
    BlockProbe,
    NfsProbe,
    FuseProbe,
    GlusterfsProbe,
    CephProbe,
    MoosefsProbe,
    LustreProbe,
    GpfsProbe,
    Pvfs2Probe,
    BeegfsProbe,
    BcachefsProbe,
    CifsProbe,
    DaosProbe,
    JuicefsProbe,
    VirtiofsProbe,
    WekaProbe,
)
"""From general to specific: if two probes name the same fact, the later one wins."""


class MountsUnknownError(RuntimeError):
    pass


@cache
def all_probes() -> Mapping[str, Probe]:
    """Return all probes by name, the agent's own first; broken plug-ins are logged and skipped."""
    return with_plug_ins("probe", Probe, _OWN, lambda made: _FACTS.validate_python({_failure_name(made): None}))


def collect_facts(approved_directories: Sequence[str], reader: Reader | None = None) -> tuple[Facts, list[MountFacts]]:
    """Return facts of the node, each approved directory and each mount with files.

    Only mounts at, above or below an approved directory are inspected: a dead mount elsewhere must not matter. Raise
    MountsUnknownError without /proc/self/mountinfo.
    """
    reader = reader or SystemReader()
    mounts = _mounts(reader)
    found = [
        *(_looked_at(path, mount, reader) for path in approved_directories if (mount := holding(mounts, path))),
        *(
            _looked_at(mount.mount_point, mount, reader) if _is_below(mount, approved_directories) else _listed(mount)
            for mount in _visible(mounts)
            if mount.mount_point not in approved_directories
        ),
    ]
    return node.facts(gather(reader, node.wants)), found[:MAX_MOUNTS]


def look_again(paths: Sequence[str], reader: Reader) -> dict[str, MountFacts]:
    """Raise MountsUnknownError."""
    mounts = _mounts(reader)
    return {path: _looked_at(path, mount, reader) for path in paths if (mount := holding(mounts, path))}


def mount_facts(mount: Mount, reader: Reader) -> Facts:
    facts: Facts = {}
    for probe in all_probes().values():
        facts |= _facts_of(probe, mount, reader)
    return dict(islice((facts | stripe_fit(facts)).items(), MAX_FACTS))


def _mounts(reader: Reader) -> list[Mount]:
    mountinfo = reader.read(MOUNTINFO)
    if isinstance(mountinfo, Unavailable):
        raise MountsUnknownError(mountinfo.because)
    return parse_mountinfo(mountinfo)


def _facts_of(probe: Probe, mount: Mount, reader: Reader) -> Facts:
    try:
        if not probe.matches(mount):
            return {}
        return _FACTS.validate_python(probe.facts(mount, gather(reader, partial(probe.wants, mount))))
    except Exception as error:
        _logger.exception("probe_failed probe=%s mount_point=%s", probe.name, mount.mount_point)
        return {_failure_name(probe): f"unavailable, because the probe failed: {error!r}"}


def _failure_name(probe: Probe) -> str:
    return f"{probe.name}.probe"


def _visible(mounts: Sequence[Mount]) -> list[Mount]:
    last = {mount.mount_point: mount for mount in mounts}
    points = (point for point in sorted(last) if len(point) <= _MAX_TEXT)
    return [last[point] for point in points if last[point].fstype not in PSEUDO_FSTYPES]


def _is_below(mount: Mount, directories: Sequence[str]) -> bool:
    return any(mount.mount_point.startswith(f"{directory.rstrip('/')}/") for directory in directories)


def _looked_at(path: str, mount: Mount, reader: Reader) -> MountFacts:
    # statvfs in this process would hang on a dead mount.
    answer = reader.read(CommandWant(("stat", "--file-system", "--format=%S %b %a %c %d", path), "coreutils"))
    if isinstance(answer, Unavailable):
        # Each further command would hang like this one.
        generic = all_probes()["generic"].facts(mount, {})
        return _as_message(path, mount, generic | {"mount.space": unavailable_fact(answer)}, approved=True)
    facts = mount_facts(replace(mount, directory=path), reader)
    space = [value for text in answer.split() if (value := number(text)) is not None]
    if len(space) != _SPACE_FIELDS:
        shown = Unavailable(f"stat printed {answer[:80]!r}")
        return _as_message(path, mount, facts | {"mount.space": unavailable_fact(shown)}, approved=True)
    block_bytes, blocks, free_blocks, inodes, free_inodes = space
    return _as_message(path, mount, facts, approved=True).model_copy(
        update={
            "total_bytes": block_bytes * blocks,
            "free_bytes": block_bytes * free_blocks,
            # Btrfs and others create inodes on demand and report none.
            "total_inodes": inodes or None,
            "free_inodes": free_inodes if inodes else None,
        }
    )


def _listed(mount: Mount) -> MountFacts:
    return _as_message(mount.mount_point, mount, all_probes()["generic"].facts(mount, {}), approved=False)


def _as_message(path: str, mount: Mount, facts: Facts, *, approved: bool) -> MountFacts:
    return MountFacts(
        path=path,
        mount_point=mount.mount_point,
        fstype=mount.fstype,
        source=mount.source[:_MAX_TEXT],
        mount_options=",".join(mount.options)[:_MAX_TEXT],
        total_bytes=None,
        free_bytes=None,
        approved=approved,
        facts=facts,
    )
