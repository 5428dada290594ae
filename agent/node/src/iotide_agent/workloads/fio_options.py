"""The form of fio: one job by its options, or a job file as people paste them."""

from typing import Final, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from iotide_agent.workloads.base import Options
from iotide_agent.workloads.bounds import AtWork, MemoryNeed, product
from iotide_agent.workloads.fio_job_file import JobSection, Operation, largest_buffers, map_bytes, read_job_file
from iotide_agent.workloads.option_types import Bytes, Seconds
from iotide_wire.units import GIB, MIB

_SYNCHRONOUS: Final = ("psync", "sync", "mmap")
_ANY_SPACE_BYTES: Final = 2**63


class FioOptions(Options):
    """One fio job, or several alike side by side; or the jobs of a job file, which then says all but the space."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"io_engine": {"enum": list(_SYNCHRONOUS)}}},
            "then": {"properties": {"io_depth": {"maximum": 1}}},
        }
    )

    rw: Literal["write", "read", "randwrite", "randread", "rw", "randrw"] = Field(default="write", title="Pattern")
    """What is done and in which order; rw and randrw mix reads with writes."""
    block_size_bytes: Bytes = Field(default=MIB, ge=512, le=GIB, multiple_of=512, title="Block size")
    """What one operation moves, a multiple of 512 bytes."""
    file_size_bytes: Bytes = Field(default=GIB, ge=4096, le=2**60, title="File size")
    """Size of the file of each job. One below twice the node's memory is measured past the cache by O_DIRECT, which is
    on unless switched off; where the file system refuses it, the cache is measured."""
    io_engine: Literal["psync", "sync", "libaio", "io_uring", "mmap"] = Field(default="psync", title="Engine")
    """How operations reach the kernel; libaio and io_uring keep several in flight."""
    io_depth: int = Field(default=1, ge=1, le=4096, title="Depth")
    """Operations in flight for each job; above 1 with libaio or io_uring only."""
    num_jobs: int = Field(default=1, ge=1, le=64, title="Jobs")
    """Threads side by side, each on its own file."""
    direct: bool = Field(default=True, title="O_DIRECT")
    """Past the page cache."""
    end_fsync: bool = Field(default=True, title="Flush at the end")
    """fsync inside the time. A buffered write without it is rejected from comparison."""
    refill_buffers: bool = Field(default=False, title="New data for each write")
    """Without it small blocks repeat, which a file system that compresses or dedupes shrinks; with it one thread makes
    some 2 GB/s at the most."""
    runtime_seconds: Seconds = Field(default=0, ge=0, le=30 * 86_400, title="Run time")
    """Goes on over the same file for this long; 0 means once over the file. With a job file, which has its own run
    times: how long all of it is expected to take."""
    read_percent: int = Field(default=50, ge=1, le=99, title="Reads in a mix")
    """Share of reads with rw and randrw, in percent."""

    job_file: str = Field(
        default="",
        max_length=20_000,
        pattern=r"^$|\[[^\]]+\]",
        title="Job file",
        json_schema_extra={"x-multiline": True},
    )
    """Jobs as fio's own files name them, instead of the options above. What would leave the run's own directory or
    start a program is refused, and each job must say its size."""
    space_bytes: Bytes = Field(default=GIB, ge=4096, le=2**60, title="Space of the job file")
    """What the files of all jobs of a job file may take; the target must have so much free."""

    @model_validator(mode="after")
    def _depth_needs_an_engine(self) -> Self:
        if self.io_depth > 1 and self.io_engine in _SYNCHRONOUS:
            raise ValueError(
                f"io_depth {self.io_depth} needs io_engine libaio or io_uring; {self.io_engine} has depth 1"
            )
        return self

    @field_validator("job_file")
    @classmethod
    def _job_file_is_allowed(cls, text: str) -> str:
        if text:
            read_job_file(text, _ANY_SPACE_BYTES)
        return text

    @model_validator(mode="after")
    def _job_file_fits(self) -> Self:
        self.jobs()
        return self

    def memory_needed(self) -> MemoryNeed:
        """Return a block for each operation in flight and maps of blocks, of a job file for its largest group."""
        if self.job_file:
            return MemoryNeed(*largest_buffers(self.jobs()))
        own = product(self, "block_size_bytes", "io_depth", "num_jobs")
        if not self.rw.startswith("rand"):
            return own
        blocks = -(-self.file_size_bytes // self.block_size_bytes)
        because = f"{own.because} with a map of file_size_bytes / block_size_bytes = {blocks} blocks each"
        return MemoryNeed(own.needed_bytes + map_bytes(blocks) * self.num_jobs, because)

    def at_work(self) -> AtWork:
        return AtWork(sum(job.clones for job in self.jobs()) if self.job_file else self.num_jobs)

    def jobs(self) -> tuple[JobSection, ...]:
        """Return the jobs of the job file, none without one; raise JobFileError as `read_job_file`."""
        return read_job_file(self.job_file, self.space_bytes) if self.job_file else ()

    @property
    def operations(self) -> tuple[Operation, ...]:
        match self.rw:
            case "read" | "randread":
                return ("read",)
            case "write" | "randwrite":
                return ("write",)
            case "rw" | "randrw":
                return ("read", "write")
