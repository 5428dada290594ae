"""The commands of fio: by options, after a job that lays files out where they must exist before, or by a job file."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from iotide_agent.workloads.base import Before, InputFile, Place, Step
from iotide_agent.workloads.fio_job_file import write_job_file
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.fio_report import LOG_ARGUMENTS, MILLISECONDS
from iotide_wire.units import format_bytes

JOB_NAME: Final = "iotide"
"""Of the job by options."""


def job_file_step(options: FioOptions, place: Place) -> Step:
    """All jobs of the file in one command."""
    output, jobs = place.scratch / "fio-jobs.json", options.jobs()
    file = InputFile(place.scratch / "jobs.fio", write_job_file(jobs, direct_works=place.direct_works))
    adds_threads = any(
        _adds_threads(job.keys.get("ioengine", ""), direct=job.is_direct and place.direct_works) for job in jobs
    )
    common = ("--name=global", *_common_arguments(place), *_log_arguments(place, "jobs"))
    return Step(
        name="jobs",
        phase=f"fio's jobs {', '.join(job.name for job in jobs)}",
        argv=("fio", *common, f"--output={output}", str(file.path)),
        target_id=place.target_id,
        before=Before.SYNC,
        threads=None if adds_threads else sum(job.clones for job in jobs),
        declared_files=tuple(
            place.directory / name for name in dict.fromkeys(name for job in jobs for name in job.files)
        ),
        input_files=(file,),
        output_files=(output, _log_file(place, "jobs")),
        stop_signal=signal.SIGINT,
    )


def option_step(name: Literal["layout", "measure"], options: FioOptions, place: Place) -> Step:
    """The job that is measured, or the one that lays its files out."""
    total_bytes = options.file_size_bytes * options.num_jobs
    output = place.scratch / f"fio-{name}.json"
    measured = name == "measure"
    arguments = _measured_arguments(options, place) if measured else _LAYOUT_ARGUMENTS
    reads, direct = "read" in options.operations, options.direct and place.direct_works
    sizes = (f"--size={options.file_size_bytes}", f"--numjobs={options.num_jobs}")
    return Step(
        name=name,
        phase=f"{options.rw if measured else 'laying out'} {format_bytes(total_bytes)}",
        argv=("fio", f"--name={JOB_NAME}", *_common_arguments(place), *sizes, *arguments, f"--output={output}"),
        target_id=place.target_id,
        bytes_moved=None if measured and options.runtime_seconds else total_bytes,
        before=Before.DROP if measured and reads else Before.SYNC,
        declared_files=tuple(place.directory / f"{JOB_NAME}.{number}.0" for number in range(options.num_jobs)),
        output_files=(output, _log_file(place, name)) if measured else (output,),
        stop_signal=signal.SIGINT,
        is_even=measured,
        threads=None if measured and _adds_threads(options.io_engine, direct=direct) else options.num_jobs,
    )


def _adds_threads(engine: str, *, direct: bool) -> bool:
    """Whether the engine leaves operations that would block to more threads than there are jobs."""
    return engine == "posixaio" or (engine == "io_uring" and not direct)


def _common_arguments(place: Place) -> Iterator[str]:
    """What all jobs share: their directory, one process with threads, no preallocation, JSON with latency bins."""
    # fio splits a list of directories at colons; --directory, unlike --filename, makes no missing one.
    yield "--directory=" + str(place.directory).replace(":", r"\:")
    yield "--thread"
    yield "--fallocate=none"
    yield "--output-format=json+"
    yield "--eta=never"


_LAYOUT_ARGUMENTS: Final = ("--rw=write", "--bs=1048576", "--ioengine=psync", "--direct=0", "--end_fsync=1")


def _log_arguments(place: Place, step: str) -> tuple[str, ...]:
    return (f"--write_bw_log={place.scratch / f'fio-{step}'}", *LOG_ARGUMENTS)


def _log_file(place: Place, step: str) -> Path:
    return place.scratch / f"fio-{step}_bw.log"


def _measured_arguments(options: FioOptions, place: Place) -> Iterator[str]:
    yield f"--rw={options.rw}"
    yield f"--bs={options.block_size_bytes}"
    yield f"--ioengine={options.io_engine}"
    yield f"--iodepth={options.io_depth}"
    yield f"--direct={int(options.direct and place.direct_works)}"
    yield f"--end_fsync={int(options.end_fsync)}"
    yield from _log_arguments(place, "measure")
    if options.refill_buffers:
        yield "--refill_buffers=1"
    if len(options.operations) > 1:
        yield f"--rwmixread={options.read_percent}"
    if options.runtime_seconds:
        yield "--time_based=1"
        yield f"--runtime={round(options.runtime_seconds / MILLISECONDS)}ms"
