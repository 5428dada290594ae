"""Options of fio: one job, or a job file."""

from typing import Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from iotide_agent.workloads.base import Options
from iotide_agent.workloads.bounds import AtWork, MemoryNeed, product
from iotide_agent.workloads.fio_job_file import JobSection, largest_buffers, map_bytes, read_job_file
from iotide_agent.workloads.fio_job_keys import Operation
from iotide_agent.workloads.option_types import Bytes, Seconds
from iotide_wire.units import GIB, MIB

_SYNCHRONOUS: Final = ("psync", "sync", "mmap")


class FioOptions(Options):
    """One job with equal parallel clones, or a job file, which replaces all options but the space."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"io_engine": {"enum": list(_SYNCHRONOUS)}}},
            "then": {"properties": {"io_depth": {"maximum": 1}}},
        }
    )

    rw: Literal["write", "read", "randwrite", "randread", "rw", "randrw"] = Field(default="write", title="Pattern")
    """Operations and their order; rw and randrw mix reads with writes."""
    block_size_bytes: Bytes = Field(default=MIB, ge=512, le=GIB, multiple_of=512, title="Block size")
    """Bytes per operation, a multiple of 512."""
    file_size_bytes: Bytes = Field(default=GIB, ge=4096, le=2**60, title="File size")
    """Size of each job's file. Below twice the node's memory, only O_DIRECT, which is on by default, avoids measuring
    the cache. If the file system refuses O_DIRECT, the cache is measured.
    """
    io_engine: Literal["psync", "sync", "libaio", "io_uring", "mmap"] = Field(default="psync", title="I/O engine")
    """How operations reach the kernel; libaio and io_uring keep several in flight."""
    io_depth: int = Field(default=1, ge=1, le=4096, title="I/O depth")
    """Operations in flight per job. More than 1 needs libaio or io_uring."""
    num_jobs: int = Field(default=1, ge=1, le=64, title="Jobs")
    """Number of parallel threads, each with its own file."""
    direct: bool = Field(default=True, title="O_DIRECT")
    """Bypass the page cache."""
    end_fsync: bool = Field(default=True, title="Final flush")
    """Call fsync within the measured time. Buffered writes without it are rejected as not comparable."""
    refill_buffers: bool = Field(default=False, title="Buffer refill")
    """Fill the buffers with new data for each write. Blocks below 1 MiB always get new data: otherwise they repeat, and
    file systems that compress or deduplicate shrink them. It limits a thread to about 2 GB/s.
    """
    runtime_seconds: Seconds = Field(default=0, ge=0, le=30 * 86_400, title="Run time")
    """Repeat the same file for this long; 0: once over the file. With a job file, which has its own run times: expected
    duration of the whole file.
    """
    read_percent: int = Field(default=50, ge=1, le=99, title="Read share")
    """Share of reads with rw and randrw, in percent."""

    job_file: str = Field(
        default="",
        max_length=20_000,
        pattern=r"^$|\[[^\]]+\]",
        title="Job file",
        json_schema_extra={"x-multiline": True},
    )
    """Jobs in fio's own file format, instead of the options above. Each job must have a size. Keys that leave the run's
    own directory or start a program are refused. Keys that change nothing are left out; the first step lists them.
    """
    space_bytes: Bytes = Field(default=GIB, ge=4096, le=2**60, title="Job file space")
    """Maximum size of all files of a job file; the target must have this much free."""

    @model_validator(mode="after")
    def _depth_needs_an_engine(self) -> Self:
        if self.io_depth > 1 and self.io_engine in _SYNCHRONOUS:
            raise ValueError(
                f"io_depth {self.io_depth} needs io_engine libaio or io_uring; {self.io_engine} has depth 1"
            )
        return self

    @model_validator(mode="after")
    def _job_file_is_allowed(self) -> Self:
        self.jobs()
        return self

    def memory_needed(self) -> MemoryNeed:
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
