"""FOREIGN_LOAD: processor time and bytes on the target's device that the run did not cause, as far as that can be told.

Nobody counts whose bytes a disk moves, so only what the run cannot have caused is called foreign:

- Processor time in user mode. What the kernel does for a load (writeback, journals, RAID, interrupts, NFS) it does in
  system mode on threads of its own, which no counter splits by cause; so system time is never called foreign. Nor is
  anything where a file system is itself a program in user mode (FUSE, Spectrum Scale, OrangeFS).
- Bytes read from the device or server beyond what was read for the load. Read-ahead, page faults and the reading of a
  block before a part of it is written are counted as the load's own by the kernel (read_bytes of /proc/PID/io).
- Bytes written while a phase only read.
- Bytes written beyond a quarter more than the load wrote, where it wrote long runs of bytes once (`Step.is_bulk`) and
  all dirty pages had been written back before. A page cache writes them later but not twice, journals and trees add
  hundredths, and Btrfs writes each in as many copies as its profile says. With small writes that are flushed, names,
  data=journal and parity a file system makes many times more of the load's own bytes; nothing written is called foreign
  then. What others do to a server from other nodes is not in the client's counters.
"""

from math import inf
from typing import Final

from iotide_agent.judging.phases import ENOUGH_ROWS, LOAD, ParallelSteps
from iotide_agent.workloads.base import Before, Place
from iotide_wire.measured import Answer, Check, FlagCode
from iotide_wire.units import KIB, format_percent, format_rate

SHARE_LIMIT: Final = 0.10
"""Of all processors, or of the bytes on the device."""
NOTICED_BYTES_PER_SECOND: Final = 256 * KIB
"""Less disturbs no disk of today: 64 reads of 4 KiB, about half of what a hard disk can do."""
IN_KERNEL: Final = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "jfs", "reiserfs", "btrfs", "zfs", "tmpfs", "nfs", "nfs4", "lustre"}
)
"""File systems that are no programs in user mode: what they do is neither the load's processor time nor anybody's."""
_IN_MEMORY: Final = frozenset({"tmpfs"})
"""No device and no server is below these."""
_WRITE_ONCE: Final = frozenset({"ext2", "ext3", "ext4", "xfs", "jfs", "nfs", "nfs4", "lustre"})
_MAY_JOURNAL_DATA: Final = frozenset({"ext3", "ext4"})
_BTRFS_COPIES: Final = {"single": 1, "RAID0": 1, "DUP": 2, "RAID1": 2, "RAID10": 2, "RAID1C3": 3, "RAID1C4": 4}
_OVERHEAD: Final = 1.25
"""What a file system writes for each copy of a byte at most, with what it writes about it."""
_READ_ONLY_RATIO: Final = 0.01
_MOST_OF: Final = 0.5


def judge_foreign(phase: ParallelSteps, places: tuple[Place, ...]) -> list[Answer]:
    """Marks a phase in which a tenth of the processors or of the device's bytes were used by somebody else."""
    found = [_processors(phase, places), _bytes(phase, places)] if can_be_told(phase) else []
    limit = f"{format_percent(SHARE_LIMIT)} not caused by the run"
    flags: list[Answer] = [phase.marked(FlagCode.FOREIGN_LOAD, measured, limit) for measured in found if measured]
    why = "" if flags else _why_partial(phase, places)
    return [phase.not_judged(Check.LOAD_DURING, why)] if why else flags


def why_untold(phase: ParallelSteps, places: tuple[Place, ...]) -> str:
    """Return why nobody can tell whether others used the processors meanwhile; empty where that can be told."""
    if not can_be_told(phase):
        return phase.too_short or "the processes of the load were not seen; a launcher may have started them elsewhere"
    if foreign_processors(phase, places) is not None:
        return ""
    programs = sorted({place.fstype for place in places} - IN_KERNEL)
    if programs:
        return f"{', '.join(programs)} may be a program itself, whose CPU time is part of the load"
    return "the node does not count CPU time"


def _why_partial(phase: ParallelSteps, places: tuple[Place, ...]) -> str:
    why = why_untold(phase, places)
    is_stored = any(place.fstype not in _IN_MEMORY for place in places)
    if why or not is_stored or foreign_bytes(phase, places) is not None:
        return why
    is_counted = _at_storage(phase, "read") is not None and phase.values("read_bytes_per_second") is not None
    few = f"less than {format_rate(NOTICED_BYTES_PER_SECOND)} of its own"
    return f"traffic of the storage: {few if is_counted else 'not counted here'}"


def can_be_told(phase: ParallelSteps) -> bool:
    """Whether what the load used can be told apart from what others used.

    Where fewer than half of its bytes were seen, its processes are not the runner's (a launcher's daemon started them).
    """
    own = sum(phase.values(*LOAD) or [])
    return len(phase.rows) >= ENOUGH_ROWS and own >= _MOST_OF * (phase.expected_bytes or 0)


def foreign_processors(phase: ParallelSteps, places: tuple[Place, ...]) -> float | None:
    """Processor time of programs that are not of the run, of all processors; None where nobody can tell."""
    user = phase.mean("cpu_user_ratio")
    processors = next((place.facts.get("cpu.count") for place in places), None)
    if user is None or not isinstance(processors, int) or any(place.fstype not in IN_KERNEL for place in places):
        return None
    # As if all of it had been used in these whole seconds: the share of others is rather called too small.
    own = sum(outcome.user_seconds for outcome in phase.outcomes) / len(phase.rows) / processors
    return max(0.0, user - own)


def _processors(phase: ParallelSteps, places: tuple[Place, ...]) -> str:
    foreign = foreign_processors(phase, places)
    if foreign is None or foreign <= SHARE_LIMIT:
        return ""
    return f"{format_percent(foreign)} of the node's processor time was spent in programs that are not of the run"


def foreign_bytes(phase: ParallelSteps, places: tuple[Place, ...]) -> tuple[float, float] | None:
    """What others moved on the targets' devices and servers, and what all did; None where nobody can tell."""
    read, written = _at_storage(phase, "read"), _at_storage(phase, "write")
    own_read, own_written = phase.values("read_bytes_per_second"), phase.values("write_bytes_per_second")
    if read is None or written is None or own_read is None or own_written is None:
        return None
    # Where it moves names rather than bytes, all would seem foreign.
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
    return (
        f"{format_percent(foreign / total)} of the bytes on the target's device or server were not the run's: {rates}"
    )


def _most_written(phase: ParallelSteps, places: tuple[Place, ...]) -> float:
    """The most bytes that the storage may have got of the phase's own; infinite where that cannot be told."""
    is_bulk = all(done.step.is_bulk and done.before_done is not Before.NONE for done in phase.outcomes)
    if not is_bulk or phase.expected_bytes is None:
        return inf
    # By its own word rather than by what was seen: pages that were filled within the first, broken second are written
    # back in a later one.
    return phase.expected_bytes * max(map(_copies, places)) * _OVERHEAD


def _copies(place: Place) -> float:
    """How often the file system writes each byte of the load; infinite where that is not known."""
    if place.fstype == "btrfs":
        profiles = str(place.facts.get("btrfs.data_profile", "")).split(",")
        return max(_BTRFS_COPIES.get(profile, inf) for profile in profiles)
    # Data in the journal takes O_DIRECT away, also where not the mount but the superblock asks for it.
    is_journalled = place.fstype in _MAY_JOURNAL_DATA and not place.direct_works
    # Where the client itself writes to each mirror, its counters have the bytes of all.
    is_mirrored = "FLEX" in str(place.facts.get("nfs.pnfs", ""))
    return 1 if place.fstype in _WRITE_ONCE and not is_journalled and not is_mirrored else inf


def _at_storage(phase: ParallelSteps, direction: str) -> list[float] | None:
    return phase.values(*(f"{kind}_{direction}_bytes_per_second" for kind in ("disk", "nfs", "lustre")))
