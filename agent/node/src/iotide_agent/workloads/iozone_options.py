"""Options of iozone, and their file sizes and record sizes."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from iotide_agent.workloads.base import Options, Place
from iotide_agent.workloads.bounds import AtWork, MemoryNeed, product
from iotide_agent.workloads.iozone_report import MIXED
from iotide_agent.workloads.option_types import Bytes, choices, count_between, size_bytes
from iotide_wire.expressions import AUTO, Holds, Number, Operation, Option, evaluate
from iotide_wire.units import GIB, KIB

_RECORD_SIZES: Final = tuple(4096 << power for power in range(13))

# fmt: off
Test = Literal[
    "write", "read", "random", "backward-read", "record-rewrite", "stride-read", "fwrite", "fread",
    "pwrite", "pread", "pwritev", "preadv", "mixed",
]
# fmt: on
RecordSize = Annotated[
    Literal[4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 8388608, 16777216],
    Field(json_schema_extra={"x-unit": "bytes"}),
]
TESTS: Final[dict[Test, tuple[int, tuple[str, ...]]]] = {
    "write": (0, ("write", "rewrite")),
    "read": (1, ("read", "reread")),
    "random": (2, ("random_read", "random_write")),
    "backward-read": (3, ("backward_read",)),
    "record-rewrite": (4, ("record_rewrite",)),
    "stride-read": (5, ("stride_read",)),
    "fwrite": (6, ("fwrite", "frewrite")),
    "fread": (7, ("fread", "freread")),
    "pwrite": (9, ("pwrite", "repwrite")),
    "pread": (10, ("pread", "repread")),
    "pwritev": (11, ("pwritev", "repwritev")),
    "preadv": (12, ("preadv", "repreadv")),
    "mixed": (8, (MIXED,)),
}
"""iozone's number for each test, and the operations that it times."""
EXTENSIONS: Final = frozenset({"pwrite", "pread", "pwritev", "preadv"})
"""Tests that the table shows with -E only."""
_USUAL: Final = tuple(test for test in TESTS if test not in EXTENSIONS | {"mixed"})
_FileSize = Annotated[Bytes, Field(ge=64 * KIB, le=2**60, multiple_of=1024)]


class IozoneOptions(Options):
    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"tests": {"contains": {"const": "mixed"}}}, "required": ["tests"]},
            "then": {"properties": {"mode": {"const": "throughput"}}, "required": ["mode"]},
            "anyOf": [
                {"properties": {"cluster": {"const": False}}},
                {
                    "properties": {"mode": {"const": "throughput"}, "stone_walling": {"const": False}},
                    "required": ["mode"],
                },
            ],
        }
    )

    mode: Literal["auto", "records", "throughput"] = Field(default="records", title="Mode")
    """auto: all file sizes from the smallest, doubled up to the file size, with all record sizes. records: all record
    sizes at one file size. throughput: several processes at one file size and one record size.
    """
    file_size_bytes: Annotated[_FileSize | Literal["auto"], Field(union_mode="left_to_right", title="File size")] = GIB
    """The only file size, of each process in throughput mode; in auto mode the limit of doubling. auto: twice the
    node's memory, in auto mode the first size that reaches it. With smaller files, such as 1 GiB, all tests take
    minutes but measure the cache unless O_DIRECT bypasses it.
    """
    min_file_size_bytes: _FileSize = Field(default=64 * KIB, title="Smallest file size")
    """First size of auto mode, unless the smallest record size is larger."""
    min_record_size_bytes: RecordSize = Field(default=4096, title="Smallest record size")
    """Bytes per read or write call, doubled up to the largest record size. Not in throughput mode."""
    max_record_size_bytes: RecordSize = Field(default=16777216, title="Largest record size")
    """Largest record size, if the file is not smaller. The only one in throughput mode."""
    tests: tuple[Test, ...] = choices(*_USUAL, title="Tests", needs="write")
    """write creates the file that the others need. backward-read, record-rewrite and stride-read time one
    operation, the others two. Throughput mode skips record-rewrite, pwritev and preadv, and does fwrite, fread, pwrite
    and pread once. mixed needs throughput mode. Usual builds for Linux lack pwritev and preadv.
    """
    mixed_readers_percent: int = Field(default=50, ge=1, le=100, title="Readers in mixed")
    """Percent of the processes that read during mixed, rounded down. They have the first numbers; the others write."""
    mixed_sequential: bool = Field(default=False, title="Sequential mixed")
    """Read and write sequentially during mixed, instead of in random order."""
    flush: Literal["fsync", "direct", "none"] = Field(default="fsync", title="Flush")
    """fsync: through the page cache, flushed within the measured time. direct: bypass the cache with O_DIRECT, then
    flush; fwrite and fread stay buffered. none: into the page cache only; rejected as not comparable.
    """
    close: bool = Field(default=True, title="Timed close")
    """Include the close in the measured time. It matters where closing a file sends its data, as on NFS."""
    processes: int = Field(default=4, ge=1, le=256, title="Processes")
    """Number of parallel processes in throughput mode, each with its own file; on each node with several at once."""
    stone_walling: bool = Field(default=False, title="Stonewall")
    """In throughput mode the first process to finish stops the others, which is iozone's default. Slow processes then
    move less than their file. Without it, each process moves its whole file.
    """
    cluster: bool = Field(default=False, title="Over all nodes")
    """One iozone runs the processes of all nodes together, on several nodes at once. Needs throughput mode without
    stonewall. Otherwise each node starts its own iozone.
    """

    def memory_needed(self) -> MemoryNeed:
        return product(self, "max_record_size_bytes", *(["processes"] if self.mode == "throughput" else []))

    def at_work(self) -> AtWork:
        return AtWork(self.processes if self.mode == "throughput" else 1)

    @model_validator(mode="after")
    def _sizes_are_in_order(self) -> Self:
        if "write" not in self.tests or len(set(self.tests)) != len(self.tests):
            raise ValueError(
                f"tests = {list(self.tests)}: include write, which creates the file, and list each test only once"
            )
        if "mixed" in self.tests and self.mode != "throughput":
            raise ValueError(f"tests = {list(self.tests)}: mixed needs mode = throughput; change one of them")
        if self.cluster and (self.mode != "throughput" or self.stone_walling):
            raise ValueError("cluster = true needs mode = throughput and stone_walling = false; change one of them")
        if self.min_record_size_bytes > self.max_record_size_bytes:
            raise ValueError("min_record_size_bytes is larger than max_record_size_bytes")
        if self.file_size_bytes != "auto":
            self._check_file(self.file_size_bytes)
        return self

    def _check_file(self, file_bytes: int) -> None:
        record_bytes = self.max_record_size_bytes if self.mode == "throughput" else self.min_record_size_bytes
        if record_bytes > file_bytes:
            raise ValueError(f"file_size_bytes = {file_bytes} is smaller than a record of {record_bytes}")
        if self.mode == "auto" and self.min_file_size_bytes > file_bytes:
            raise ValueError(f"min_file_size_bytes is larger than file_size_bytes = {file_bytes}")


_THROUGHPUT: Final = Holds.of("mode", "throughput")
_RECORD_COUNT: Final = count_between("min_record_size_bytes", "max_record_size_bytes", _RECORD_SIZES)
_OPERATION_COUNT: Final = Operation(
    op="+", args=(Option.of("tests"), *(Holds.of("tests", test) for test, (_, own) in TESTS.items() if len(own) > 1))
)
_FILE_BYTES: Final = Option.of("file_size_bytes")
_FIRST_BYTES: Final = Operation(op="max", args=(Option.of("min_file_size_bytes"), Option.of("min_record_size_bytes")))
"""First size of auto mode: iozone refuses files smaller than the smallest record."""
_DOUBLED_BYTES: Final = Operation(
    op="double",
    # The last size is the first that reaches twice the memory, and below four times.
    args=(_FIRST_BYTES, _FILE_BYTES + Holds.of("file_size_bytes", AUTO) * (_FILE_BYTES - 1)),
)
_AUTO_MODE: Final = Holds.of("mode", "auto")
_LARGEST_BYTES: Final = _AUTO_MODE * _DOUBLED_BYTES + (Number.of(1) - _AUTO_MODE) * _FILE_BYTES
FILES_BYTES: Final = _LARGEST_BYTES * (_THROUGHPUT * (Option.of("processes") - 1) + 1)
# The sizes of auto mode double, so their sum is twice the largest minus the smallest.
MOVED_BYTES: Final = (
    (FILES_BYTES + _AUTO_MODE * (_DOUBLED_BYTES - _FIRST_BYTES))
    * (_THROUGHPUT + _RECORD_COUNT * (Number.of(1) - _THROUGHPUT))
    * _OPERATION_COUNT
)


def first_file_bytes(options: IozoneOptions) -> int:
    return max(options.min_file_size_bytes, options.min_record_size_bytes)


def largest_file_bytes(options: IozoneOptions, place: Place) -> int:
    """Return the only size, or the last of auto mode, by the server's expression."""
    if options.mode != "auto":
        return size_bytes(options.file_size_bytes, place)
    return int(evaluate(_DOUBLED_BYTES, {**place.facts, **options.model_dump()}))


def planned_rows(options: IozoneOptions, place: Place) -> Iterator[tuple[int, int]]:
    last_bytes = largest_file_bytes(options, place)
    file_bytes = first_file_bytes(options) if options.mode == "auto" else last_bytes
    while file_bytes <= last_bytes:
        for record_bytes in _RECORD_SIZES:
            if options.min_record_size_bytes <= record_bytes <= min(options.max_record_size_bytes, file_bytes):
                yield file_bytes // KIB, record_bytes // KIB
        file_bytes *= 2
