"""fio job files as people paste them: read by the rules of fio's manual, checked key by key, and written anew.

What fio is given is never the text itself but what was understood of it, so that nothing can be read in two ways.
See "Job File Format" in https://fio.readthedocs.io/en/latest/fio_doc.html.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Final, Literal

from iotide_wire.units import GIB, KIB, MIB, TIB, format_bytes

Operation = Literal["read", "write"]
Check = Callable[[str], str]
"""Gives the value back as fio is to get it; raises ValueError with the remedy."""

MOST_CLONES: Final = 256
"""Threads that all jobs together may have."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}")
_SECTION: Final = re.compile(r"\[(?P<name>[^\]]*)\]")
_SIZE: Final = re.compile(r"([0-9]{1,18})([kmgt]?)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_POWERS: Final = {"": 1, "k": KIB, "m": MIB, "g": GIB, "t": TIB}
_TIME: Final = re.compile(r"[0-9]{1,12}(us|ms|s|m|h|d)?")
_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_OPERATIONS: Final[Mapping[str, tuple[Operation, ...]]] = {
    "read": ("read",),
    "write": ("write",),
    "randread": ("read",),
    "randwrite": ("write",),
    "rw": ("read", "write"),
    "readwrite": ("read", "write"),
    "randrw": ("read", "write"),
}
_ENGINES: Final = ("psync", "sync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap")


class JobFileError(ValueError):
    """A job file that is not run; names section, key, value and remedy."""

    def __init__(self, section: str, key: str, value: str, remedy: str) -> None:
        super().__init__(f"job file, section [{section}], {key} = {value!r}: {remedy}")


@dataclass(frozen=True, slots=True)
class JobSection:
    """One section with what it takes over from [global]; keys that have no value have an empty one."""

    name: str
    keys: Mapping[str, str]

    @property
    def operations(self) -> tuple[Operation, ...]:
        return _OPERATIONS[self.keys.get("rw", "read")]

    @property
    def clones(self) -> int:
        return int(self.keys.get("numjobs", 1))

    @property
    def size_bytes(self) -> int:
        return int(self.keys["size"])

    @property
    def is_direct(self) -> bool:
        return self.keys.get("direct") == "1"

    @property
    def unflushed_writes(self) -> float:
        """So many writes of each clone may still be in the page cache when its time ends; infinite where all may.

        With `fsync` or `fdatasync` none follows the last writes; with several files it need not be of the one that
        was written.
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
        """The key by which its data can be compressed or deduped; empty where none asks for that.

        Blocks are random and differ then, but for small ones without `refill_buffers`, in which data recurs.
        """
        if "zero_buffers" in self.keys:
            return "zero_buffers"
        for key in ("buffer_compress_percentage", "dedupe_percentage"):
            if self.keys.get(key, "0") != "0":
                return f"{key}={self.keys[key]}"
        is_repeated = self.keys.get("scramble_buffers") == "0" and "refill_buffers" not in self.keys
        return "scramble_buffers=0" if is_repeated else ""

    @property
    def timed_seconds(self) -> float:
        """How long it goes on whatever it moved; 0 where its bytes end it."""
        return seconds_of(self.keys.get("runtime", "0")) if "time_based" in self.keys else 0.0

    @property
    def uncounted_operations(self) -> int:
        """So many operations may have a latency and not be counted: those in flight when the ramp ended."""
        return int(self.keys.get("iodepth", 1)) if "ramp_time" in self.keys else 0

    @property
    def block_bytes(self) -> int:
        """Return the size of the largest block; each operation in flight holds one."""
        return max(self._block_sizes)

    @property
    def _block_sizes(self) -> list[int]:
        sizes = [int(size) for size in self.keys.get("bs", "4096").split(",")]
        split = re.findall(r"(\d+)([kKmM]?)/", self.keys.get("bssplit", ""))
        return sizes + [int(number) * _POWERS[power.lower()] for number, power in split]

    @property
    def mapped_blocks(self) -> int:
        """Return how many blocks fio remembers, so that random order meets each once; 0 where it does not."""
        if not self.keys.get("rw", "read").startswith("rand") or "norandommap" in self.keys:
            return 0
        return -(-self.size_bytes // min(self._block_sizes))

    @property
    def depth(self) -> int:
        return int(self.keys.get("iodepth", 1))

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files that its clones make, without those that `nrfiles` adds."""
        shared = self.keys.get("filename")
        return (shared,) if shared else tuple(f"{self.name}.{clone}.0" for clone in range(self.clones))


def read_job_file(text: str, space_bytes: int) -> tuple[JobSection, ...]:
    """Return the jobs of a file, each with what it took over; raise JobFileError where that is not allowed."""
    shared: dict[str, str] = {}
    jobs: dict[str, dict[str, str]] = {}
    for name, key, value in _entries(text):
        keys = shared if name == "global" else jobs.setdefault(name, dict(shared))
        if key:
            keys |= _checked(name, key, value)
    if not jobs:
        raise JobFileError("global", "sections", "", "name at least one job below it, for instance [write]")
    found = tuple(JobSection(name, keys) for name, keys in jobs.items())
    _check_sizes(found, space_bytes)
    return found


def write_job_file(jobs: tuple[JobSection, ...], *, direct_works: bool) -> str:
    """The file that fio is given; where O_DIRECT does not work everything goes through the cache."""
    lines = []
    for job in jobs:
        lines.append(f"[{job.name}]")
        for key, value in job.keys.items():
            kept = "0" if key == "direct" and not direct_works else value
            lines.append(f"{key}={kept}" if kept else key)
    return "\n".join(lines) + "\n"


def largest_buffers(jobs: tuple[JobSection, ...]) -> tuple[int, str]:
    """Return the bytes that jobs hold in buffers at once at most, and the keys of the largest of these jobs."""
    groups: list[list[JobSection]] = [[]]
    for job in jobs:
        if "stonewall" in job.keys:
            groups.append([])
        groups[-1].append(job)
    group = max(groups, key=lambda group: sum(map(_buffers_bytes, group)))
    largest = max(group, key=_buffers_bytes)
    others = f" and {len(group) - 1} more at the same time" if len(group) > 1 else ""
    keys = f"a block of {format_bytes(largest.block_bytes)} x iodepth {largest.depth} x numjobs {largest.clones}"
    if largest.mapped_blocks:
        keys += f", with a map of {largest.mapped_blocks} blocks each"
    return sum(map(_buffers_bytes, group)), f"job_file, section [{largest.name}], {keys}{others}"


def _buffers_bytes(job: JobSection) -> int:
    return (job.block_bytes * job.depth + map_bytes(job.mapped_blocks)) * job.clones


def map_bytes(blocks: int) -> int:
    """Return the memory of fio's map of random blocks: a bit for each."""
    return -(-blocks // 8)


def files_bytes(jobs: tuple[JobSection, ...]) -> int:
    """What the files of all jobs take together; a file of several jobs counts once."""
    sizes: dict[str, int] = {}
    for job in jobs:
        for file in job.files:
            sizes[file] = max(sizes.get(file, 0), job.size_bytes)
    return sum(sizes.values())


def seconds_of(text: str) -> float:
    """A time as fio writes it, in seconds."""
    match = re.fullmatch(r"([0-9]+)([a-z]*)", text)
    if match is None:
        raise ValueError(f"{text!r} is no time")
    return int(match[1]) * _SECONDS[match[2] or "s"]


def _entries(text: str) -> Iterator[tuple[str, str, str]]:
    """Section, key and value of each line; key and value are empty for the line that begins a section."""
    section, seen = "", set()
    for line in text.splitlines():
        told = re.split(r"[;#]", line, maxsplit=1)[0].strip()
        if not told:
            continue
        heading = _SECTION.fullmatch(told)
        if heading:
            section = heading["name"]
            if not _NAME.fullmatch(section):
                raise JobFileError(section, "name", section, "take letters, digits, '_', '.' and '-'")
            if section != "global" and section in seen:
                raise JobFileError(section, "name", section, "give each job another name: its numbers bear it")
            seen.add(section)
            yield section, "", ""
        elif not section:
            raise JobFileError("", "line", told, "begin with a section, for instance [write]")
        else:
            key, _, value = told.partition("=")
            yield section, key.strip(), value.strip()


def _checked(section: str, key: str, value: str) -> dict[str, str]:
    name = _ALIASES.get(key, key)
    check = _ALLOWED.get(name)
    if check is None:
        remedy = _REMEDIES.get(name, f"leave it out; what may be said is {', '.join(sorted(_ALLOWED))}")
        raise JobFileError(section, key, value, remedy)
    try:
        checked = check(value)
    except ValueError as error:
        raise JobFileError(section, key, value, str(error)) from error
    if name == "buffered":
        return {"direct": str(1 - int(checked))}
    return {name: checked}


def _check_sizes(jobs: tuple[JobSection, ...], space_bytes: int) -> None:
    for job in jobs:
        if "size" not in job.keys:
            raise JobFileError(job.name, "size", "", "say how large its file is; nothing else bounds what it takes")
    clones = sum(job.clones for job in jobs)
    if clones > MOST_CLONES:
        raise JobFileError(jobs[-1].name, "numjobs", str(jobs[-1].clones), f"{clones} threads; take {MOST_CLONES}")
    total_bytes = files_bytes(jobs)
    if total_bytes > space_bytes:
        last = jobs[-1]
        remedy = f"all files take {total_bytes} bytes; raise space_bytes from {space_bytes}, or make them smaller"
        raise JobFileError(last.name, "size", last.keys["size"], remedy)


def _one_of(*choices: str) -> Check:
    def check(value: str) -> str:
        if value not in choices:
            raise ValueError(f"take one of {', '.join(choices)}")
        return value

    return check


def _whole(least: int, most: int) -> Check:
    def check(value: str) -> str:
        if not _NUMBER.fullmatch(value) or not least <= int(value) <= most:
            raise ValueError(f"take a whole number from {least} to {most}")
        return str(int(value))

    return check


def _size(value: str) -> str:
    """In bytes: by default fio takes k and KB as 1024 and KiB as 1000, which nobody means who writes it."""
    match = _SIZE.fullmatch(value)
    if match is None or int(match[1]) == 0:
        raise ValueError("take a number of bytes, or one with k, m, g or t for powers of 1024, for instance 64k")
    return str(int(match[1]) * _POWERS[match[2].lower()])


def _sizes(value: str) -> str:
    """One for all directions, or for reads and writes apart."""
    return ",".join(map(_size, value.split(",", maxsplit=1)))


def _time(value: str) -> str:
    if not _TIME.fullmatch(value):
        raise ValueError("take a whole number with us, ms, s, m, h or d, for instance 30s")
    return value


def _switch(value: str) -> str:
    return _one_of("0", "1")(value or "1")


def _bare(value: str) -> str:
    if value not in {"", "1"}:
        raise ValueError("write it without a value, or leave it out")
    return ""


def _form(pattern: str, example: str) -> Check:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError(f"write it like {example}")
        return value

    return check


_ALIASES: Final = {"readwrite": "rw", "blocksize": "bs", "io_limit": "io_size"}
_PERCENT: Final = _whole(0, 100)
_ALLOWED: Final[Mapping[str, Check]] = {
    **dict.fromkeys(("direct", "buffered", "invalidate", "overwrite"), _switch),
    **dict.fromkeys(("end_fsync", "fsync_on_close", "randrepeat", "scramble_buffers"), _switch),
    **dict.fromkeys(("time_based", "norandommap", "refill_buffers", "zero_buffers"), _bare),
    **dict.fromkeys(("stonewall", "wait_for_previous", "new_group"), _bare),
    **dict.fromkeys(("rwmixread", "rwmixwrite", "percentage_random"), _PERCENT),
    **dict.fromkeys(("buffer_compress_percentage", "dedupe_percentage"), _PERCENT),
    **dict.fromkeys(("runtime", "ramp_time", "startdelay", "thinktime"), _time),
    **dict.fromkeys(("size", "io_size"), _size),
    **dict.fromkeys(("bs", "rate"), _sizes),
    **dict.fromkeys(("fsync", "fdatasync"), _whole(0, 2**31 - 1)),
    **dict.fromkeys(("thinktime_blocks", "rate_iops"), _whole(1, 2**31 - 1)),
    **dict.fromkeys(("nrfiles", "loops"), _whole(1, 10_000)),
    **dict.fromkeys(("iodepth", "iodepth_batch"), _whole(1, 4096)),
    "numjobs": _whole(1, 64),
    "randseed": _whole(0, 2**63 - 1),
    "rw": _one_of(*_OPERATIONS),
    "ioengine": _one_of(*_ENGINES),
    "sync": _one_of("0", "1", "none", "sync", "dsync"),
    "bssplit": _form(r"\d+[kKmM]?/\d*(:\d+[kKmM]?/\d*)*", "4k/60:64k/40"),
    "filename": _form(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}", "data.1, a plain name in the run's own directory"),
    "random_distribution": _form(r"random|(zipf|pareto|normal):\d+(\.\d+)?", "zipf:1.2"),
}
_LOGS: Final = "leave it out: iotide keeps the curve of each second by itself"
_REMEDIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("directory", "filename_format", "opendir"),
        "leave it out: every file is made in the run's own directory on its target",
    ),
    **dict.fromkeys(("exec_prerun", "exec_postrun"), "leave it out: no program is started beside fio"),
    **dict.fromkeys(("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "log_avg_msec"), _LOGS),
    "group_reporting": "leave it out: each job's own numbers are read and added up",
    "thread": "leave it out: jobs are threads already",
    "fallocate": "leave it out: nothing is allocated before it is written",
    "filesize": "say size instead",
    "name": "the name of a job stands in its [section]",
}
