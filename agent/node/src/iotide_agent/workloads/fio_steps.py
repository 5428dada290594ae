"""fio commands: from options, after a layout job if files must exist, or from a job file."""

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from iotide_agent.workloads.base import Before, InputFile, Place, Step
from iotide_agent.workloads.fio_job_file import (
    DISTINCT_BYTES,
    JobSection,
    groups_of,
    is_even,
    left_out_keys,
    write_job_file,
)
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.fio_report import LOG_ARGUMENTS, MILLISECONDS
from iotide_wire.units import MIB, format_bytes

JOB_NAME: Final = "iotide"
JOBS: Final = "jobs"
LAYOUT: Final = "layout"


def job_file_steps(options: FioOptions, place: Place) -> Iterator[Step]:
    """Yield a step for each group of jobs that run together, after another that lays out the files that it reads."""
    groups = groups_of(options.jobs())
    for number, jobs in enumerate(groups, start=1):
        end = f"-{number}" if len(groups) > 1 else ""
        file = InputFile(place.scratch / f"{JOBS}{end}.fio", write_job_file(jobs, direct_works=place.direct_works))
        if any(job.needs_layout for job in jobs):
            yield _jobs_layout(f"{LAYOUT}{end}", jobs, file, place)
        yield _jobs_step(f"{JOBS}{end}", jobs, file, place, left_out_keys(options.job_file) if number == 1 else ())


def jobs_of(options: FioOptions, step: Step) -> tuple[JobSection, ...]:
    """Return the jobs of a measured step; one without a number ran the whole file."""
    number = step.name.removeprefix(JOBS).removeprefix("-")
    return groups_of(options.jobs())[int(number) - 1] if number else options.jobs()


def is_layout(step: Step) -> bool:
    return step.name.startswith(LAYOUT)


def _jobs_layout(name: str, jobs: Sequence[JobSection], file: InputFile, place: Place) -> Step:
    output = place.scratch / f"fio-{name}.json"
    common = ("--name=global", "--create_only=1", *_common_arguments(place))
    return Step(
        name=name,
        phase=f"laying out files of fio's jobs {_names(jobs)}",
        argv=("fio", *common, f"--output={output}", str(file.path)),
        target_id=place.target_id,
        before=Before.SYNC,
        declared_files=_files(jobs, place),
        input_files=(file,),
        output_files=(output,),
        stop_signal=signal.SIGINT,
    )


def _jobs_step(name: str, jobs: Sequence[JobSection], file: InputFile, place: Place, left_out: Sequence[str]) -> Step:
    output = place.scratch / f"fio-{name}.json"
    common = ("--name=global", *_common_arguments(place), *_log_arguments(place, name))
    reads = any("read" in job.operations for job in jobs)
    return Step(
        name=name,
        phase=f"fio's jobs {_names(jobs)}" + (f"; left out: {', '.join(left_out)}" if left_out else ""),
        argv=("fio", *common, f"--output={output}", str(file.path)),
        target_id=place.target_id,
        before=Before.DROP if reads else Before.SYNC,
        declared_files=_files(jobs, place),
        input_files=(file,),
        output_files=(output, _log_file(place, name)),
        stop_signal=signal.SIGINT,
        is_even=is_even(jobs),
        direct_files=_files(jobs, place) if place.direct_works and all(map(_is_only_direct, jobs)) else (),
        threads=None if any(_job_adds_threads(job, place) for job in jobs) else sum(job.clones for job in jobs),
    )


def _names(jobs: Sequence[JobSection]) -> str:
    return ", ".join(job.name for job in jobs)


def _files(jobs: Sequence[JobSection], place: Place) -> tuple[Path, ...]:
    return tuple(place.directory / name for name in dict.fromkeys(name for job in jobs for name in job.files))


def _job_adds_threads(job: JobSection, place: Place) -> bool:
    helpers = "verify_async" in job.keys or job.keys.get("io_submit_mode") == "offload"
    return helpers or _adds_threads(job.keys.get("ioengine", ""), direct=job.is_direct and place.direct_works)


def _is_only_direct(job: JobSection) -> bool:
    # With invalidate=0, pages of fio's own layout stay in the cache.
    return job.is_direct and job.keys.get("invalidate", "1") != "0"


def option_step(name: Literal["layout", "measure"], options: FioOptions, place: Place) -> Step:
    total_bytes = options.file_size_bytes * options.num_jobs
    output = place.scratch / f"fio-{name}.json"
    measured = name == "measure"
    layout = (*_LAYOUT_ARGUMENTS, f"--bs={min(MIB, options.file_size_bytes)}")
    arguments = _measured_arguments(options, place) if measured else layout
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
        direct_files=(place.directory,) if measured and direct else (),
        threads=None if measured and _adds_threads(options.io_engine, direct=direct) else options.num_jobs,
    )


def _adds_threads(engine: str, *, direct: bool) -> bool:
    """Return true if the engine hands operations that would block to additional threads."""
    return engine == "posixaio" or (engine == "io_uring" and not direct)


def _common_arguments(place: Place) -> Iterator[str]:
    # fio splits lists of directories at colons. --directory, unlike --filename, creates no missing one.
    yield "--directory=" + str(place.directory).replace(":", r"\:")
    yield "--thread"
    yield "--fallocate=none"
    yield "--output-format=json+"
    yield "--eta=never"


_LAYOUT_ARGUMENTS: Final = ("--rw=write", "--ioengine=psync", "--direct=0", "--end_fsync=1")


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
    if options.refill_buffers or ("write" in options.operations and options.block_size_bytes < DISTINCT_BYTES):
        yield "--refill_buffers=1"
    if len(options.operations) > 1:
        yield f"--rwmixread={options.read_percent}"
    if options.runtime_seconds:
        yield "--time_based=1"
        yield f"--runtime={round(options.runtime_seconds / MILLISECONDS)}ms"
