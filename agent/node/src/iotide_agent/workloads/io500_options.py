"""Options of the IO500, bounded so that slow and fast targets end, and the ini file that it reads."""

from pathlib import Path
from typing import Final, Self

from pydantic import Field, model_validator

from iotide_agent.workloads.base import Options, Place, PlanRefusedError
from iotide_agent.workloads.bounds import TASK_BYTES, AtWork, MemoryNeed, product
from iotide_agent.workloads.ior_report import Api, Interface, api_of, is_collective
from iotide_agent.workloads.option_types import Bytes, WholeSeconds
from iotide_wire.expressions import Expression, Option
from iotide_wire.units import GIB, MIB

VALID_SECONDS: Final = 300
"""The IO500's rules accept no other stonewall time."""
HARD_TRANSFER_BYTES: Final = 47_008
EASY_FILE_BYTES: Final = 4096
"""An empty file's inode."""
HARD_FILE_BYTES: Final = 8192
"""A file of 3901 bytes, with its inode."""
STONEWALLS: Final = 20
"""Four writing phases wait for their slowest rank, the others take about as long."""
SPARE_SECONDS: Final = 900
_SPLIT: Final = frozenset("#;,@\"'\\")
"""Characters that its ini file, or an option of IOR, would not take as part of a path."""

_SWITCH: Final = {False: "FALSE", True: "TRUE"}


class Io500Options(Options):
    tasks: int = Field(default=4, ge=1, le=4096, title="Tasks")
    """Number of parallel processes on each node."""
    stonewall_seconds: WholeSeconds = Field(default=VALID_SECONDS, ge=1, le=3600, title="Stonewall time")
    """Time of each writing phase, which then waits for its slowest task. Only 300 is a valid run of the IO500; others
    are not compared with published scores.
    """
    easy_transfer_size_bytes: Bytes = Field(default=2 * MIB, ge=4096, le=GIB, multiple_of=4096, title="Transfer size")
    """Bytes per call of the easy IOR phases."""
    easy_block_size_bytes: Bytes = Field(default=64 * GIB, ge=4096, le=2**50, multiple_of=4096, title="Block size")
    """Most that each task writes in the easy IOR phases; a multiple of the transfer size. The stonewall should end the
    phase first.
    """
    easy_file_per_process: bool = Field(default=True, title="File per task")
    """One file per task in the easy IOR phases; otherwise all tasks share one file."""
    easy_api: Api = Field(default="POSIX", title="Interface of easy IOR")
    """MPIIO writes and reads through the MPI library, without O_DIRECT."""
    easy_direct: bool = Field(default=False, title="O_DIRECT in easy IOR")
    """Bypass the page cache in the easy IOR phases. POSIX only."""
    hard_segments: int = Field(default=1_000_000, ge=1, le=2**31 - 1, title="Segments")
    """Most transfers of 47,008 bytes that each task makes in the hard IOR phases."""
    hard_api: Interface = Field(default="POSIX", title="Interface of hard IOR")
    """MPIIO-collective: all tasks make each transfer together, so that the MPI library can combine them."""
    easy_files: int = Field(default=1_000_000, ge=1, le=2**40, title="Easy files")
    """Most empty files that each task creates in a directory of its own."""
    hard_files: int = Field(default=500_000, ge=1, le=2**40, title="Hard files")
    """Most files of 3901 bytes that each task creates in a directory of all."""
    find_tasks: int = Field(default=0, ge=0, le=4096 * 4096, title="Tasks of find")
    """Number of tasks that search. 0: all."""

    @property
    def is_mini(self) -> bool:
        """True if the IO500 marks the run as invalid because of its stonewall time."""
        return self.stonewall_seconds != VALID_SECONDS

    @property
    def series(self) -> str:
        return "io500-mini" if self.is_mini else "io500"

    def at_work(self) -> AtWork:
        """Return no process: `memory_needed` counts the tasks."""
        return AtWork(0)

    def memory_needed(self) -> MemoryNeed:
        own = product(self, "easy_transfer_size_bytes", "tasks")
        return own._replace(needed_bytes=own.needed_bytes + self.tasks * TASK_BYTES)

    @model_validator(mode="after")
    def _phases_are_possible(self) -> Self:
        if self.easy_block_size_bytes % self.easy_transfer_size_bytes:
            raise ValueError(
                f"easy_block_size_bytes = {self.easy_block_size_bytes}: use a multiple of easy_transfer_size_bytes = "
                f"{self.easy_transfer_size_bytes}"
            )
        if self.easy_direct and self.easy_api == "MPIIO":
            raise ValueError("easy_direct = true: MPIIO has no O_DIRECT; use easy_api = POSIX")
        return self


NODE_BYTES: Final[Expression] = Option.of("tasks") * (
    Option.of("easy_block_size_bytes")
    + Option.of("hard_segments") * HARD_TRANSFER_BYTES
    + Option.of("easy_files") * EASY_FILE_BYTES
    + Option.of("hard_files") * HARD_FILE_BYTES
)
"""Space for the tasks of one node."""
NODE_FILES: Final[Expression] = Option.of("tasks") * (Option.of("easy_files") + Option.of("hard_files") + 2)
RUN_SECONDS: Final[Expression] = Option.of("stonewall_seconds") * STONEWALLS + SPARE_SECONDS


def is_direct(options: Io500Options, place: Place) -> bool:
    """Return true if the easy IOR phases bypass the page cache."""
    return options.easy_direct and place.direct_works


def result_directory(place: Place) -> Path:
    """Return where the first rank writes its results; other ranks do not use it."""
    return place.scratch / "io500"


def ini_file(options: Io500Options, place: Place) -> str:
    """Return the file for a run in the place's directory; raise PlanRefusedError for a path that it would split.

    The directories have no time in their names, so that nothing is left elsewhere. The IO500 would drop caches by sudo.
    """
    for path in (place.directory, place.scratch):
        if any(character.isspace() or character in _SPLIT for character in str(path)):
            unusable = " ".join(sorted(_SPLIT))
            raise PlanRefusedError(f"the IO500 cannot use {path}: approve a directory without blanks and {unusable}")
    easy_api = f"{options.easy_api} --posix.odirect" if is_direct(options, place) else options.easy_api
    sections: dict[str, dict[str, str | int]] = {
        "global": {
            "datadir": str(place.directory / "data"),
            "timestamp-datadir": _SWITCH[False],
            "resultdir": str(result_directory(place)),
            "timestamp-resultdir": _SWITCH[False],
            "api": "POSIX",
            "drop-caches": _SWITCH[False],
            "verbosity": 1,
        },
        "debug": {"stonewall-time": options.stonewall_seconds},
        "ior-easy": {
            "API": easy_api,
            "transferSize": options.easy_transfer_size_bytes,
            "blockSize": options.easy_block_size_bytes,
            "filePerProc": _SWITCH[options.easy_file_per_process],
        },
        "mdtest-easy": {"n": options.easy_files},
        "ior-hard": {
            "API": api_of(options.hard_api),
            "segmentCount": options.hard_segments,
            "collective": _SWITCH[is_collective(options.hard_api)],
        },
        "mdtest-hard": {"n": options.hard_files},
        "find": {"nproc": options.find_tasks} if options.find_tasks else {},
    }
    return "\n".join(
        "".join([f"[{section}]\n", *(f"{key} = {value}\n" for key, value in pairs.items())])
        for section, pairs in sections.items()
    )
