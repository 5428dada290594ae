"""Parser of fio job files, by the rules of fio's manual.

fio gets a new file of the checked keys, so that both understand the same. See "Job File Format" in
https://fio.readthedocs.io/en/latest/fio_doc.html.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple

from iotide_agent.workloads.fio_job_keys import (
    ALLOWED,
    OPERATIONS,
    REMOVE,
    Operation,
    checked,
    is_left_out,
    seconds_of,
    sizes_of,
)
from iotide_wire.units import MIB, format_bytes

MOST_CLONES: Final = 256
"""Maximum number of threads of all jobs together."""
MOST_GROUPS: Final = 50
"""Maximum number of groups of jobs, each a step of the run."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+,%() -]{0,60}")
_SECTION: Final = re.compile(r"\[(?P<name>[^\]]*)\]")


class KeyProblem(NamedTuple):
    section: str
    key: str
    value: str
    remedy: str


class JobFileError(ValueError):
    """Names all problems of a job file; sections with the same one are named together."""

    def __init__(self, problems: Sequence[KeyProblem]) -> None:
        sections: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for section, key, value, remedy in dict.fromkeys(problems):
            sections[key, value, remedy].append(f"[{section}]")
        said = [
            f"section{'s' * (len(names) > 1)} {', '.join(names)}, {key} = {value!r}: {remedy}"
            for (key, value, remedy), names in sections.items()
        ]
        known = f"; allowed keys: {ALLOWED}" if any(one.remedy == REMOVE for one in problems) else ""
        super().__init__(f"job file, {'; '.join(said)}{known}")


DISTINCT_BYTES: Final = MIB
"""fio changes a few bytes of a buffer between writes. In records of 128 KiB, zstd compresses blocks of 4 KiB to 7 %,
those of 128 KiB to 93 % and those of 1 MiB to 96 %.
"""


@dataclass(frozen=True, slots=True)
class JobSection:
    """Section with the keys of [global]; keys without a value have an empty one."""

    name: str
    keys: Mapping[str, str]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Return what it may do: a share of 100 % leaves one direction of a mixed load."""
        found = OPERATIONS[self._pattern]
        if len(found) == 1:
            return found
        read_percent = int(self.keys.get("rwmixread", 100 - int(self.keys.get("rwmixwrite", 50))))
        return ("read",) if read_percent == 100 else ("write",) if read_percent == 0 else found  # noqa: PLR2004 - all

    @property
    def _pattern(self) -> str:
        return self.keys.get("rw", "read").partition(":")[0]

    @property
    def clones(self) -> int:
        return int(self.keys.get("numjobs", 1))

    @property
    def size_bytes(self) -> int:
        """Return the bytes of each clone's files, up to where it may read or write."""
        files_bytes = int(self.keys.get("filesize", 0)) * int(self.keys.get("nrfiles", 1))
        shift_bytes = int(self.keys.get("offset_increment", 0)) * (self.clones - 1)
        return max(int(self.keys.get("size", 0)), files_bytes) + int(self.keys.get("offset", 0)) + shift_bytes

    @property
    def is_direct(self) -> bool:
        return self.keys.get("direct") == "1"

    @property
    def needs_layout(self) -> bool:
        """Return true if fio writes missing files before the job begins."""
        return "read" in self.operations or self.keys.get("overwrite") == "1"

    @property
    def unflushed_writes(self) -> float:
        """Return how many writes of each clone may still be in the page cache at the end.

        `fsync` and `fdatasync` flush nothing after the last writes. With several files they may flush another file.
        """
        if self.keys.get("sync", "0") not in {"0", "none"}:
            return 0
        if any(self.keys.get(key, "0") != "0" for key in ("end_fsync", "fsync_on_close")):
            return 0
        intervals = [int(self.keys[key]) for key in ("fsync", "fdatasync") if self.keys.get(key, "0") != "0"]
        if not intervals or self.keys.get("nrfiles", "1") != "1":
            return inf
        return min(intervals) + int(self.keys.get("iodepth", 1)) - 1

    @property
    def reducible_by(self) -> str:
        """Return the key that makes its data compressible, if any.

        Blocks are otherwise random, but without `refill_buffers` they recur.
        """
        if "zero_buffers" in self.keys:
            return "zero_buffers"
        for key in ("buffer_compress_percentage", "dedupe_percentage", "buffer_pattern", "verify_pattern"):
            if self.keys.get(key, "0") != "0":
                return f"{key}={self.keys[key]}"
        if "refill_buffers" in self.keys or "write" not in self.operations:
            return ""
        if self.keys.get("scramble_buffers") == "0":
            return "scramble_buffers=0"
        is_small = min(self._block_sizes) < DISTINCT_BYTES
        return "blocks below 1 MiB without refill_buffers" if is_small else ""

    @property
    def timed_seconds(self) -> float:
        is_timed = "time_based" in self.keys and "number_ios" not in self.keys
        return seconds_of(self.keys.get("runtime", "0")) if is_timed else 0.0

    @property
    def uncounted_operations(self) -> int:
        """Return how many operations may have a latency uncounted: those in flight at the ramp's end."""
        return int(self.keys.get("iodepth", 1)) if "ramp_time" in self.keys else 0

    @property
    def block_bytes(self) -> int:
        return max(self._block_sizes)

    @property
    def _block_sizes(self) -> list[int]:
        return [size for key in ("bs", "bssplit", "bsrange") for size in sizes_of(self.keys.get(key, ""))] or [4096]

    @property
    def mapped_blocks(self) -> int:
        """Return how many blocks fio tracks to visit each once in random order."""
        if not self._pattern.startswith("rand") or "norandommap" in self.keys:
            return 0
        return -(-self.size_bytes // min(self._block_sizes))

    @property
    def depth(self) -> int:
        return int(self.keys.get("iodepth", 1))

    @property
    def files(self) -> tuple[str, ...]:
        shared = self.keys.get("filename")
        return (shared,) if shared else tuple(f"{self.name}.{clone}.0" for clone in range(self.clones))


def read_job_file(text: str, space_bytes: int) -> tuple[JobSection, ...]:
    """Return the jobs; raise JobFileError with all that is refused."""
    shared: dict[str, str] = {}
    jobs: dict[str, dict[str, str]] = {}
    problems: list[KeyProblem] = []
    for name, key, value in _entries(text, problems):
        keys = shared if name == "global" else jobs.setdefault(name, dict(shared))
        try:
            found = checked(key, value) if key else {}
        except ValueError as error:
            problems.append(KeyProblem(name, key, value, str(error)))
            continue
        for name_for_fio, value_for_fio in found.items():
            if value_for_fio is None:
                keys.pop(name_for_fio, None)
            else:
                keys[name_for_fio] = value_for_fio
    if not jobs:
        problems.append(KeyProblem("global", "sections", "", "add at least one job, for instance [write]"))
    jobs_found = tuple(JobSection(name, keys) for name, keys in jobs.items())
    problems += _job_problems(jobs_found, {one.section for one in problems if one.key in _SIZES})
    problems += _size_problems(jobs_found, space_bytes) if jobs_found else ()
    if problems:
        raise JobFileError(problems)
    return jobs_found


def left_out_keys(text: str) -> tuple[str, ...]:
    """Return the keys of a file that fio does not get, because they change nothing here."""
    return tuple(dict.fromkeys(key for _, key, _ in _entries(text, []) if is_left_out(key)))


def write_job_file(jobs: tuple[JobSection, ...], *, direct_works: bool) -> str:
    lines, names = [], {job.name for job in jobs}
    for job in jobs:
        lines.append(f"[{job.name}]")
        for key, value in job.keys.items():
            kept = "0" if key == "direct" and not direct_works else value
            if key == "wait_for" and value not in names:
                continue  # a job of an earlier group, which has ended
            lines.append(f"{key}={kept}" if kept else key)
        if "verify" in job.keys:
            lines.append("verify_state_save=0")
    return "\n".join(lines) + "\n"


def groups_of(jobs: Sequence[JobSection]) -> list[tuple[JobSection, ...]]:
    """Return the jobs that run together, in order: a stonewall waits for all jobs above it."""
    groups: list[tuple[JobSection, ...]] = []
    for job in jobs:
        if groups and "stonewall" not in job.keys:
            groups[-1] += (job,)
        else:
            groups.append((job,))
    return groups


def is_even(group: Sequence[JobSection]) -> bool:
    """Return true if the jobs keep the same rate together: they begin and end together, and none has phases."""
    if any(not _PHASED.isdisjoint(job.keys) for job in group):
        return False
    return len(group) == 1 or len({job.timed_seconds for job in group} | {0.0}) == 2  # noqa: PLR2004 - one run time


def largest_buffers(jobs: Sequence[JobSection]) -> tuple[int, str]:
    group = max(groups_of(jobs), key=lambda group: sum(map(_buffers_bytes, group)))
    largest = max(group, key=_buffers_bytes)
    others = f" and {len(group) - 1} more at the same time" if len(group) > 1 else ""
    keys = f"a block of {format_bytes(largest.block_bytes)} x iodepth {largest.depth} x numjobs {largest.clones}"
    if largest.mapped_blocks:
        keys += f", with a map of {largest.mapped_blocks} blocks each"
    return sum(map(_buffers_bytes, group)), f"job_file, section [{largest.name}], {keys}{others}"


def _buffers_bytes(job: JobSection) -> int:
    return (job.block_bytes * job.depth + map_bytes(job.mapped_blocks)) * job.clones


def map_bytes(blocks: int) -> int:
    return -(-blocks // 8)


def files_bytes(jobs: Sequence[JobSection]) -> int:
    sizes: dict[str, int] = {}
    for job in jobs:
        for file in job.files:
            sizes[file] = max(sizes.get(file, 0), job.size_bytes)
    return sum(sizes.values())


def _entries(text: str, problems: list[KeyProblem]) -> Iterator[tuple[str, str, str]]:
    """Yield section, key and value of each line; the start of a section has empty ones."""
    section, seen = "", set()
    for line in text.splitlines():
        content = re.split(r"[;#]", line, maxsplit=1)[0].strip()
        if not content:
            continue
        heading = _SECTION.fullmatch(content)
        if heading:
            section = heading["name"]
            if not _NAME.fullmatch(section):
                remedy = "use letters, digits, spaces, '_', '.', '+', ',', '%', '(', ')' and '-'"
                problems.append(KeyProblem(section, "name", section, remedy))
            if section != "global" and section in seen:
                remedy = "give each job its own name, which labels its results"
                problems.append(KeyProblem(section, "name", section, remedy))
            seen.add(section)
            yield section, "", ""
        elif not section:
            problems.append(KeyProblem("", "line", content, "begin with a section, for instance [write]"))
        else:
            key, _, value = content.partition("=")
            yield section, key.strip(), value.strip()


_SIZES: Final = frozenset({"size", "filesize"})
_PHASED: Final = frozenset({"startdelay", "ramp_time", "thinktime", "wait_for", "verify"})


def _job_problems(jobs: Sequence[JobSection], unsized: set[str]) -> Iterator[KeyProblem]:
    """Yield problems of keys that depend on others; the size of `unsized` sections has already been refused."""
    above: set[str] = set()
    for job in jobs:
        if _SIZES.isdisjoint(job.keys) and unsized.isdisjoint({job.name, "global"}):
            yield KeyProblem(job.name, "size", "", "give the size of its file, to limit its space")
        wanted = job.keys.get("wait_for", "")
        if wanted and wanted not in above:
            yield KeyProblem(job.name, "wait_for", wanted, "name a section above it")
        if "verify" in job.keys and len(job.operations) > 1:
            remedy = "use it with reads or writes alone: its own reads would count as the job's"
            yield KeyProblem(job.name, "verify", job.keys["verify"], remedy)
        above.add(job.name)


def _size_problems(jobs: Sequence[JobSection], space_bytes: int) -> Iterator[KeyProblem]:
    last = jobs[-1]
    clones = sum(job.clones for job in jobs)
    if clones > MOST_CLONES:
        remedy = f"all jobs have {clones} threads; use at most {MOST_CLONES}"
        yield KeyProblem(last.name, "numjobs", str(last.clones), remedy)
    groups = len(groups_of(jobs))
    if groups > MOST_GROUPS:
        remedy = f"the jobs run in {groups} groups, one after another; use at most {MOST_GROUPS}"
        yield KeyProblem(last.name, "stonewall", "", remedy)
    total_bytes = files_bytes(jobs)
    if total_bytes > space_bytes:
        remedy = f"all files need {total_bytes} bytes; raise space_bytes from {space_bytes}, or make them smaller"
        yield KeyProblem(last.name, "size", str(last.size_bytes), remedy)
