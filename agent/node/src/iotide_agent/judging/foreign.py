"""FOREIGN_LOAD: CPU time and device bytes that the run cannot have caused.

No counter attributes the bytes of a disk to processes. These amounts count as foreign:

- CPU time in user mode. Kernel work for a load (writeback, journals, RAID, interrupts, NFS) is system time that no
  counter splits by cause. With a file system in user mode (FUSE, Spectrum Scale, OrangeFS) no CPU time counts.
- Bytes read beyond those of the load. The kernel counts read-ahead, page faults and reads before partial writes as
  the load's own (read_bytes of /proc/PID/io).
- Bytes written while a phase only read.
- Bytes written beyond 125 % of the load's own, if it wrote long runs of bytes once (`Step.is_bulk`) and dirty pages
  had been written back before. Journals and trees add hundredths, and Btrfs writes as many copies as its profile has.

With small flushed writes, names, data=journal and parity a file system writes many times the load's own bytes, so
none count. Traffic of other nodes to a server is not in the client's counters.
"""

from math import inf
from typing import Final

from iotide_agent.judging.phases import ENOUGH_ROWS, LOAD, ParallelSteps
from iotide_agent.workloads.base import Before, Place
from iotide_wire.measured import Answer, Check, FlagCode
from iotide_wire.units import KIB, format_percent, format_rate

SHARE_LIMIT: Final = 0.10
"""Share of all CPUs, or of the bytes on the device."""
NOTICED_BYTES_PER_SECOND: Final = 256 * KIB
"""Less disturbs no current disk: it is 64 reads of 4 KiB, about half of a hard disk's maximum."""
IN_KERNEL: Final = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "jfs", "reiserfs", "btrfs", "zfs", "tmpfs", "nfs", "nfs4", "lustre"}
)
"""File systems that run no programs in user mode. Such programs would count neither as the load nor as foreign."""
_IN_MEMORY: Final = frozenset({"tmpfs"})
"""File systems without a device or server."""
_WRITE_ONCE: Final = frozenset({"ext2", "ext3", "ext4", "xfs", "jfs", "nfs", "nfs4", "lustre"})
_MAY_JOURNAL_DATA: Final = frozenset({"ext3", "ext4"})
_BTRFS_COPIES: Final = {"single": 1, "RAID0": 1, "DUP": 2, "RAID1": 2, "RAID10": 2, "RAID1C3": 3, "RAID1C4": 4}
_OVERHEAD: Final = 1.25
"""Maximum bytes that a file system writes per copy of a byte, with metadata."""
_READ_ONLY_RATIO: Final = 0.01
_MOST_OF: Final = 0.5


def judge_foreign(phase: ParallelSteps, places: tuple[Place, ...]) -> list[Answer]:
    found = [_processors(phase, places), _bytes(phase, places)] if is_distinguishable(phase) else []
    limit = f"{format_percent(SHARE_LIMIT)} not caused by the run"
    flags: list[Answer] = [phase.marked(FlagCode.FOREIGN_LOAD, measured, limit) for measured in found if measured]
    why = "" if flags else _why_partial(phase, places)
    return [phase.not_judged(Check.LOAD_DURING, why)] if why else flags


def why_cpu_unknown(phase: ParallelSteps, places: tuple[Place, ...]) -> str:
    """Return why the CPU use of others is unknown; empty if it is known."""
    if not is_distinguishable(phase):
        return phase.too_short or "the load's processes were not found; a launcher may have started them elsewhere"
    if foreign_processors(phase, places) is not None:
        return ""
    programs = sorted({place.fstype for place in places} - IN_KERNEL)
    if programs:
        return f"{', '.join(programs)} may run as a program, whose CPU time belongs to the load"
    return "the node does not count CPU time"


def _why_partial(phase: ParallelSteps, places: tuple[Place, ...]) -> str:
    why = why_cpu_unknown(phase, places)
    is_stored = any(place.fstype not in _IN_MEMORY for place in places)
    if why or not is_stored or foreign_bytes(phase, places) is not None:
        return why
    is_counted = _at_storage(phase, "read") is not None and phase.values("read_bytes_per_second") is not None
    few = f"the load moved less than {format_rate(NOTICED_BYTES_PER_SECOND)}"
    return f"storage traffic: {few if is_counted else 'not counted on this node'}"


def is_distinguishable(phase: ParallelSteps) -> bool:
    """Return true if the load can be distinguished from other processes.

    It cannot if fewer than half of its bytes were seen: a launcher's daemon then started its processes.
    """
    own = sum(phase.values(*LOAD) or [])
    return len(phase.rows) >= ENOUGH_ROWS and own >= _MOST_OF * (phase.expected_bytes or 0)


def foreign_processors(phase: ParallelSteps, places: tuple[Place, ...]) -> float | None:
    user = phase.mean("cpu_user_ratio")
    processors = next((place.facts.get("cpu.count") for place in places), None)
    if user is None or not isinstance(processors, int) or any(place.fstype not in IN_KERNEL for place in places):
        return None
    # These whole seconds count as fully used, which rather underestimates others.
    own = sum(outcome.user_seconds for outcome in phase.outcomes) / len(phase.rows) / processors
    return max(0.0, user - own)


def _processors(phase: ParallelSteps, places: tuple[Place, ...]) -> str:
    foreign = foreign_processors(phase, places)
    if foreign is None or foreign <= SHARE_LIMIT:
        return ""
    return f"programs outside the run used {format_percent(foreign)} of the node's CPU time"


def foreign_bytes(phase: ParallelSteps, places: tuple[Place, ...]) -> tuple[float, float] | None:
    read, written = _at_storage(phase, "read"), _at_storage(phase, "write")
    own_read, own_written = phase.values("read_bytes_per_second"), phase.values("write_bytes_per_second")
    if read is None or written is None or own_read is None or own_written is None:
        return None
    # If the load moves names instead of bytes, all bytes would seem foreign.
    if sum(own_read) + sum(own_written) < NOTICED_BYTES_PER_SECOND * len(phase.rows):
        return None
    only_reads = sum(own_written) <= _READ_ONLY_RATIO * sum(own_read)
    most_written = 0.0 if only_reads else _most_written(phase, places)
    foreign = max(0.0, sum(read) - sum(own_read)) + max(0.0, sum(written) - most_written)
    return foreign, sum(read) + sum(written)


def _bytes(phase: ParallelSteps, places: tuple[Place, ...]) -> str:
    moved = foreign_bytes(phase, places)
    if moved is None:
        return ""
    (foreign, total), seconds = moved, len(phase.rows)
    if foreign <= SHARE_LIMIT * total or foreign <= NOTICED_BYTES_PER_SECOND * seconds:
        return ""
    rates = f"{format_rate(foreign / seconds)} of {format_rate(total / seconds)}"
    return f"{format_percent(foreign / total)} of the bytes on the target's device or server were other load: {rates}"


def _most_written(phase: ParallelSteps, places: tuple[Place, ...]) -> float:
    """Return the maximum bytes of the phase that the storage may have received; infinite if unknown."""
    is_bulk = all(done.step.is_bulk and done.before_done is not Before.NONE for done in phase.outcomes)
    if not is_bulk or phase.expected_bytes is None:
        return inf
    # The planned bytes, not the seen ones: pages filled in the first, partial second are written back later.
    return phase.expected_bytes * max(map(_copies, places)) * _OVERHEAD


def _copies(place: Place) -> float:
    if place.fstype == "btrfs":
        profiles = str(place.facts.get("btrfs.data_profile", "")).split(",")
        return max(_BTRFS_COPIES.get(profile, inf) for profile in profiles)
    # data=journal disables O_DIRECT, also if the superblock instead of the mount sets it.
    is_journalled = place.fstype in _MAY_JOURNAL_DATA and not place.direct_works
    # If the client itself writes to each mirror, its counters have the bytes of all.
    is_mirrored = "FLEX" in str(place.facts.get("nfs.pnfs", ""))
    return 1 if place.fstype in _WRITE_ONCE and not is_journalled and not is_mirrored else inf


def _at_storage(phase: ParallelSteps, direction: str) -> list[float] | None:
    return phase.values(*(f"{kind}_{direction}_bytes_per_second" for kind in ("disk", "nfs", "lustre")))
