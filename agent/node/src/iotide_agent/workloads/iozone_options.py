"""What iozone goes through: its options, and the file sizes and record sizes that follow from them."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from iotide_agent.workloads.base import Options, Place
from iotide_agent.workloads.bounds import AtWork, MemoryNeed, product
from iotide_agent.workloads.option_types import Bytes, choices, count_between, size_bytes
from iotide_wire.expressions import AUTO, Holds, Number, Operation, Option, evaluate
from iotide_wire.units import GIB, KIB

_RECORD_SIZES: Final = tuple(4096 << power for power in range(13))

Test = Literal["write", "read", "random", "backward-read", "record-rewrite", "stride-read", "fwrite", "fread"]
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
}
"""iozone's number of each test, and the operations that it times."""
_FileSize = Annotated[Bytes, Field(ge=64 * KIB, le=2**60, multiple_of=1024)]


class IozoneOptions(Options):
    """Which sizes iozone goes through, and how honestly it times them."""

    mode: Literal["auto", "records", "throughput"] = Field(default="records", title="Mode")
    """auto: every file size from the smallest, doubled up to the file size, with every record size. records: every
    record size at one file size. throughput: several processes at one file size and one record size."""
    file_size_bytes: Annotated[_FileSize | Literal["auto"], Field(union_mode="left_to_right", title="File size")] = GIB
    """The only one, each process's in throughput mode; in auto mode doubling stops at it. auto is twice the node's
    memory, in auto mode the first size that reaches it. A smaller one, such as the 1 GiB with which all tests take
    minutes, is measured in the cache unless O_DIRECT goes around it."""
    min_file_size_bytes: _FileSize = Field(default=64 * KIB, title="Smallest file size")
    """Where auto mode begins, unless the smallest record size is larger."""
    min_record_size_bytes: RecordSize = Field(default=4096, title="Smallest record size")
    """What one read or write call moves, doubled up to the largest; not in throughput mode."""
    max_record_size_bytes: RecordSize = Field(default=16777216, title="Largest record size")
    """Where the record sizes end, or at the file size; the only one in throughput mode."""
    tests: tuple[Test, ...] = choices(*TESTS, title="Tests", needs="write")
    """write makes the file that the others need. Each but backward-read, record-rewrite and stride-read times two
    operations. Throughput mode has no record-rewrite and does fwrite and fread once."""
    flush: Literal["fsync", "direct", "none"] = Field(default="fsync", title="Flush")
    """fsync: through the page cache, flushed inside the time. direct: past the cache with O_DIRECT, then flushed;
    fwrite and fread stay buffered. none: into the page cache only; rejected from comparison."""
    close: bool = Field(default=True, title="Time the close")
    """The close is inside the time, which matters where closing a file sends its data away, as on NFS."""
    processes: int = Field(default=4, ge=1, le=256, title="Processes")
    """Side by side in throughput mode, each on its own file."""
    stone_walling: bool = Field(default=False, title="Stone-walling")
    """In throughput mode the first process to finish stops the others, as iozone does by itself: slow processes then
    move less than their file. Without it each moves its whole file."""

    def memory_needed(self) -> MemoryNeed:
        return product(self, "max_record_size_bytes", *(["processes"] if self.mode == "throughput" else []))

    def at_work(self) -> AtWork:
        return AtWork(self.processes if self.mode == "throughput" else 1)

    @model_validator(mode="after")
    def _sizes_are_in_order(self) -> Self:
        if "write" not in self.tests or len(set(self.tests)) != len(self.tests):
            raise ValueError(
                f"tests = {list(self.tests)}: name write, which makes the file, and each other once at most"
            )
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
"""Where auto mode begins: iozone refuses a file that is smaller than the smallest record."""
_DOUBLED_BYTES: Final = Operation(
    op="double",
    # The first size that reaches twice the memory is the last that is below four times.
    args=(_FIRST_BYTES, _FILE_BYTES + Holds.of("file_size_bytes", AUTO) * (_FILE_BYTES - 1)),
)
_AUTO_MODE: Final = Holds.of("mode", "auto")
_LARGEST_BYTES: Final = _AUTO_MODE * _DOUBLED_BYTES + (Number.of(1) - _AUTO_MODE) * _FILE_BYTES
FILES_BYTES: Final = _LARGEST_BYTES * (_THROUGHPUT * (Option.of("processes") - 1) + 1)
"""What lies on the target at most."""
# The sizes of auto mode double, so that their sum is twice the largest less the smallest.
MOVED_BYTES: Final = (
    (FILES_BYTES + _AUTO_MODE * (_DOUBLED_BYTES - _FIRST_BYTES))
    * (_THROUGHPUT + _RECORD_COUNT * (Number.of(1) - _THROUGHPUT))
    * _OPERATION_COUNT
)


def first_file_bytes(options: IozoneOptions) -> int:
    """Where auto mode begins."""
    return max(options.min_file_size_bytes, options.min_record_size_bytes)


def largest_file_bytes(options: IozoneOptions, place: Place) -> int:
    """The only size, or the last of auto mode, by the very expression by which the server foresees it."""
    if options.mode != "auto":
        return size_bytes(options.file_size_bytes, place)
    return int(evaluate(_DOUBLED_BYTES, {**place.facts, **options.model_dump()}))


def planned_rows(options: IozoneOptions, place: Place) -> Iterator[tuple[int, int]]:
    """File size and record size of each row, in KiB."""
    last_bytes = largest_file_bytes(options, place)
    file_bytes = first_file_bytes(options) if options.mode == "auto" else last_bytes
    while file_bytes <= last_bytes:
        for record_bytes in _RECORD_SIZES:
            if options.min_record_size_bytes <= record_bytes <= min(options.max_record_size_bytes, file_bytes):
                yield file_bytes // KIB, record_bytes // KIB
        file_bytes *= 2
