"""fio: any mix of sequential or random reads and writes, with latencies."""

import errno
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar, Final

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import (
    Counters,
    Curve,
    Group,
    Labels,
    OptionsT,
    OutputRefusedError,
    Parsed,
    Place,
    Sample,
    Step,
    StepOutcome,
    Workload,
    in_turn,
)
from iotide_agent.workloads.fio_job_file import JobSection as Section
from iotide_agent.workloads.fio_job_file import files_bytes
from iotide_agent.workloads.fio_job_keys import Operation
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.fio_report import (
    MILLISECONDS,
    Direction,
    FioJob,
    latency_flags,
    latency_samples,
    read_report,
    read_series,
)
from iotide_agent.workloads.fio_steps import JOB_NAME, is_layout, job_file_steps, jobs_of, option_step
from iotide_agent.workloads.metrics import IOPS, LATENCY, THROUGHPUT, TOTAL_THROUGHPUT, race_by
from iotide_agent.workloads.releases import Releases
from iotide_agent.workloads.writers import Part, race, together
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Holds, Number, Option
from iotide_wire.measured import Answer
from iotide_wire.units import format_seconds

CLOCK_SECONDS: Final = MILLISECONDS
"""fio prints run times in whole milliseconds."""
INTERRUPTED_STATUS: Final = 128
ENDED_EARLY_RATIO: Final = 0.98
UNFLUSHED_RATIO: Final = 0.01
"""If at most this share of the writes may still be in the page cache, they count as flushed."""

_COMPLAINT: Final = re.compile(r"^fio: (?!pid=).*", re.MULTILINE)
_RUNTIME: Final = re.compile(r"--runtime=(\d+)ms")
_LABELS: Final = ("job", "operation", "direct")
_HAS_NO_FILE: Final = Holds.of("job_file", "")


@dataclass(frozen=True, slots=True)
class FioPlan:
    """Planned work of a job, from options or from a section of a job file.

    Attributes:
        labels: of its samples, except the operation.
        timed_seconds: fixed run time; 0 if its bytes end it.
        moved_bytes: bytes per clone, up to the last whole block; None if unknown.
        unflushed_writes, reducible_by, uncounted_operations: see `fio_job_file.JobSection`.
    """

    name: str
    clones: int
    operations: tuple[Operation, ...]
    labels: Labels
    data_bytes: int = 0
    unflushed_writes: float = 0
    timed_seconds: float = 0
    moved_bytes: int | None = None
    block_bytes: int = 0
    reducible_by: str = ""
    uncounted_operations: int = 0

    @property
    def is_direct(self) -> bool:
        return bool(self.labels["direct"])


class FioTool(Workload[OptionsT]):
    tool: ClassVar[str | None] = "fio"
    package: ClassVar[str] = "fio"
    version_argv: ClassVar[tuple[str, ...]] = ("fio", "--version")
    # fio 2 reports microseconds and KiB under other names.
    supported: ClassVar[tuple[Releases, ...]] = (Releases("fio", "3.0", "3.42"),)

    def failure(self, outcome: StepOutcome) -> str | None:
        """Return also errors in fio's JSON: if a job ignores errors, fio exits with status 0."""
        if outcome.signal is not None:
            return super().failure(outcome)
        text = output_of(outcome)
        complaint = _COMPLAINT.search(outcome.stderr) or _COMPLAINT.search(text.partition("{")[0])
        try:
            broken = next((job.error for job in read_report(outcome.step.name, text).jobs if job.error), None)
        except OutputRefusedError:
            broken = None
        if broken is not None:
            name = errno.errorcode.get(broken, "unknown")
            return f"fio reports {name}, {os.strerror(broken)}" + (f": {complaint[0]}" if complaint else "")
        # 128 failed jobs end with the same status, but they name their errors.
        if outcome.exit_status == INTERRUPTED_STATUS:
            return "fio was interrupted before its end (status 128)"
        if outcome.exit_status != 0 and complaint:
            return complaint[0]
        return super().failure(outcome)

    def progress(self, step: Step, counters: Counters, output_tail: str) -> float | None:
        runtime = next((match for argument in step.argv if (match := _RUNTIME.fullmatch(argument))), None)
        if runtime is None:
            return super().progress(step, counters, output_tail)
        return min(1.0, counters.elapsed_seconds / (int(runtime[1]) * MILLISECONDS))


class FioWorkload(FioTool[FioOptions]):
    name: ClassVar[str] = "fio"
    title: ClassVar[str] = "fio: reads and writes with latencies"
    description: ClassVar[str] = (
        "Runs sequential or random reads and writes, from options or a job file, with latency percentiles."
    )
    revision: ClassVar[int] = 4
    metrics: ClassVar[tuple[MetricSpec, ...]] = (
        TOTAL_THROUGHPUT.by(*_LABELS, primary=True),
        THROUGHPUT.by(
            *_LABELS, "writer", description="Of each writer or reader if several work in parallel.", primary=True
        ),
        IOPS.by(*_LABELS, description="Of all writers or readers of a job together."),
        LATENCY.by(*_LABELS, "percentile", description="Over the operations of all writers or readers of a job."),
        *race_by(*_LABELS),
    )
    bytes_needed: ClassVar[Expression] = _HAS_NO_FILE * Option.of("file_size_bytes") * Option.of("num_jobs") + (
        Number.of(1) - _HAS_NO_FILE
    ) * Option.of("space_bytes")
    bytes_moved: ClassVar[Expression] = bytes_needed * (Number.of(2) - Holds.of("rw", "write"))
    run_seconds: ClassVar[Expression] = Option.of("runtime_seconds")
    options_type = FioOptions

    def groups(self, options: FioOptions, place: Place) -> list[Group]:
        if options.job_file:
            return in_turn(*job_file_steps(options, place))
        measured = option_step("measure", options, place)
        return in_turn(measured) if options.rw == "write" else in_turn(option_step("layout", options, place), measured)

    def read(self, options: FioOptions, place: Place, outcome: StepOutcome) -> Parsed:
        if is_layout(outcome.step) and options.job_file:
            return Parsed()
        planned = _planned(options, place, outcome.step)
        if is_layout(outcome.step):
            checked_jobs((_layout(planned[0]),), outcome)
            return Parsed()
        reported = checked_jobs(planned, outcome)
        samples, flags = [], quality.judge_direct(place, wanted=_wants_direct(options, outcome.step))
        for job, clones in zip(planned, reported, strict=True):
            samples += samples_of(job, clones, place)
            flags += _flags(job, clones, place, outcome)
        return Parsed(samples, flags, _curves(outcome))

    def read_cut(self, options: FioOptions, place: Place, outcome: StepOutcome) -> Parsed:
        """Return what fio finished: its JSON is complete after errors and interruptions too."""
        if is_layout(outcome.step):
            return Parsed()
        planned = _planned(options, place, outcome.step)
        reported = _by_name(planned, read_report(outcome.step.name, output_of(outcome)).jobs)
        samples = [
            sample for job, clones in zip(planned, reported, strict=True) for sample in samples_of(job, clones, place)
        ]
        return Parsed(samples, (), _curves(outcome))

    def conclude(self, options: FioOptions, places: Sequence[Place], outcomes: Sequence[StepOutcome]) -> Parsed:
        """Return totals of a job's clones, on all targets together.

        Jobs of a job file run for different times, so their totals are per target.
        """
        steps: dict[str, list[StepOutcome]] = defaultdict(list)
        for outcome in outcomes:
            if not is_layout(outcome.step):
                steps[outcome.step.name].append(outcome)
        of_steps = [_of_step(options, places, measured) for measured in steps.values()]
        for measured in steps.values() if options.job_file and len(places) > 1 else ():
            names = ", ".join(job.name for job in jobs_of(options, measured[0].step))
            of_steps.append(race(measured, {"operation": "all"} | ({"job": names} if len(steps) > 1 else {})))
        return Parsed.of_all(of_steps)


def _of_step(options: FioOptions, places: Sequence[Place], measured: Sequence[StepOutcome]) -> Parsed:
    """Return totals of a step that ran on all targets at once."""
    by_target = {outcome.step.target_id: outcome for outcome in measured}
    found: list[Parsed] = []
    everywhere: dict[Operation, list[Part]] = defaultdict(list)
    for place in places:
        outcome = by_target[place.target_id]
        planned = _planned(options, place.seen_by(outcome), outcome.step)
        for job, clones in zip(planned, checked_jobs(planned, outcome), strict=True):
            for operation in _used(job, clones):
                parts = _parts(outcome, [_direction(clone, operation) for clone in clones])
                everywhere[operation] += parts
                if options.job_file:
                    found.append(together(parts, {"operation": operation} | job.labels))
    if not options.job_file:
        outcome = by_target[places[0].target_id]
        [job] = _planned(options, places[0].seen_by(outcome), outcome.step)
        found += [together(parts, {"operation": name} | job.labels) for name, parts in everywhere.items()]
    return Parsed.of_all(found)


def _parts(outcome: StepOutcome, directions: Sequence[Direction]) -> list[Part]:
    """Return a part for each clone that did something. fio starts them together and ends with the last."""
    directions = [direction for direction in directions if direction.total_ios]
    longest = max(direction.runtime for direction in directions)
    return [
        Part.at_end(
            outcome,
            direction.io_bytes,
            direction.runtime * MILLISECONDS,
            after_seconds=(longest - direction.runtime) * MILLISECONDS,
        )
        for direction in directions
    ]


def _curves(outcome: StepOutcome) -> list[Curve]:
    return read_series(outcome.files.get(outcome.step.output_files[-1].name, ""))


def _wants_direct(options: FioOptions, step: Step) -> bool:
    return any(job.is_direct for job in jobs_of(options, step)) if options.job_file else options.direct


def _planned(options: FioOptions, place: Place, step: Step) -> tuple[FioPlan, ...]:
    if options.job_file:
        return tuple(_planned_section(job, place) for job in jobs_of(options, step))
    direct = options.direct and place.direct_works
    return (
        FioPlan(
            name=JOB_NAME,
            clones=options.num_jobs,
            operations=options.operations,
            labels={"direct": direct},
            data_bytes=options.file_size_bytes * options.num_jobs,
            unflushed_writes=0 if direct or options.end_fsync else inf,
            timed_seconds=options.runtime_seconds,
            moved_bytes=None if options.runtime_seconds else options.file_size_bytes,
            block_bytes=options.block_size_bytes,
        ),
    )


def _planned_section(job: Section, place: Place) -> FioPlan:
    direct = job.is_direct and place.direct_works
    return FioPlan(
        name=job.name,
        clones=job.clones,
        operations=job.operations,
        labels={"job": job.name, "direct": direct},
        data_bytes=files_bytes((job,)),
        unflushed_writes=0 if direct else job.unflushed_writes,
        timed_seconds=job.timed_seconds,
        reducible_by=job.reducible_by,
        uncounted_operations=job.uncounted_operations,
    )


def _layout(measured: FioPlan) -> FioPlan:
    moved_bytes = measured.data_bytes // measured.clones
    return replace(measured, operations=("write",), timed_seconds=0.0, moved_bytes=moved_bytes)


def output_of(outcome: StepOutcome) -> str:
    return outcome.files.get(outcome.step.output_files[0].name, "")


def _by_name(planned: Sequence[FioPlan], jobs: Sequence[FioJob]) -> list[list[FioJob]]:
    if len(planned) == 1:
        return [list(jobs)]
    return [[job for job in jobs if job.jobname == plan.name] for plan in planned]


def checked_jobs(planned: Sequence[FioPlan], outcome: StepOutcome) -> list[list[FioJob]]:
    name, text = outcome.step.name, output_of(outcome)
    jobs = read_report(name, text).jobs
    clones = sum(plan.clones for plan in planned)
    if len(jobs) != clones:
        raise OutputRefusedError(name, f"{clones} jobs were planned, fio reports {len(jobs)}", text[-500:])
    reported = _by_name(planned, jobs)
    for plan, found in zip(planned, reported, strict=True):
        if len(found) != plan.clones:
            problem = f"{plan.clones} clones of job {plan.name} were planned, fio reports {len(found)}"
            raise OutputRefusedError(name, problem, text[-500:])
        for job in found:
            directions = [_direction(job, operation) for operation in plan.operations]
            wrong = _plan_problem(plan, job, directions) or _contradiction(plan, directions)
            if wrong:
                raise OutputRefusedError(name, f"job {job.jobname}: {wrong}", text[-500:])
    return reported


def _plan_problem(plan: FioPlan, job: FioJob, directions: Sequence[Direction]) -> str | None:
    if job.error or job.total_err:
        return f"error {job.error}, {job.total_err} errors ignored"
    # A mixed job may have had nothing to do in one direction.
    working = [direction for direction in directions if direction.total_ios]
    if not working or any(direction.runtime == 0 for direction in working):
        return "no operation, or a run time below 1 ms"
    ran_seconds = max(direction.runtime for direction in directions) * MILLISECONDS
    if ran_seconds < ENDED_EARLY_RATIO * plan.timed_seconds:
        return f"{format_seconds(plan.timed_seconds)} were planned, it ran {format_seconds(ran_seconds)}"
    moved_bytes = sum(direction.io_bytes for direction in directions)
    if plan.moved_bytes is not None and not 0 <= plan.moved_bytes - moved_bytes < plan.block_bytes:
        return f"{plan.moved_bytes} bytes were planned, it moved {moved_bytes}"
    return None


def _contradiction(plan: FioPlan, directions: Sequence[Direction]) -> str | None:
    if any(direction.short_ios or direction.drop_ios for direction in directions):
        return "some operations moved less than planned"
    for direction in directions:
        bins = direction.clat_ns.bins
        uncounted = sum(bins.values()) - direction.total_ios
        if bins and not 0 <= uncounted <= plan.uncounted_operations:
            return "the latency bins do not add up to the operations of the job"
    return None


def _direction(job: FioJob, operation: Operation) -> Direction:
    return job.write if operation == "write" else job.read


def _used(plan: FioPlan, clones: Sequence[FioJob]) -> list[Operation]:
    """Return the directions in which the job did something: one of 100 % reads never writes."""
    return [name for name in plan.operations if any(_direction(clone, name).total_ios for clone in clones)]


def samples_of(plan: FioPlan, clones: Sequence[FioJob], place: Place) -> list[Sample]:
    return [
        sample
        for operation in plan.operations
        for sample in _rates(
            [_direction(clone, operation) for clone in clones], {"operation": operation} | plan.labels, place
        )
    ]


def _rates(directions: Sequence[Direction], labels: Labels, place: Place) -> list[Sample]:
    measured = [(number, one) for number, one in enumerate(directions, start=1) if one.is_measured]
    if not measured:
        return []
    seconds = max(direction.runtime for _, direction in measured) * MILLISECONDS
    return [
        *(
            Sample(
                "throughput",
                direction.io_bytes / (direction.runtime * MILLISECONDS),
                labels | ({"writer": number} if len(directions) > 1 else {}),
                place.target_id,
            )
            for number, direction in measured
        ),
        Sample("iops", sum(direction.done_ios for _, direction in measured) / seconds, labels, place.target_id),
        *latency_samples(directions, labels, place.target_id),
    ]


def _flags(plan: FioPlan, clones: Sequence[FioJob], place: Place, outcome: StepOutcome) -> list[Answer]:
    operations = _used(plan, clones)
    runtimes = [_direction(clone, name).runtime * MILLISECONDS for clone in clones for name in operations]
    what = "/".join(plan.operations) if plan.name == JOB_NAME else f"job {plan.name}"
    flags = quality.judge_duration(what, max(runtimes), CLOCK_SECONDS) + quality.judge_clock(outcome, max(runtimes))
    flags += quality.judge_cache_size(place, plan.data_bytes, direct=plan.is_direct)
    if "read" in operations:
        flags += quality.judge_cache_drop(place, outcome, direct=plan.is_direct)
    if "write" in operations:
        fewest_writes = min(clone.write.total_ios for clone in clones if clone.write.total_ios)
        flags += quality.judge_flush(what, flushed=plan.unflushed_writes <= UNFLUSHED_RATIO * fewest_writes)
    if plan.reducible_by:
        flags += quality.judge_reducible(f"{what} moves data that compresses or deduplicates: {plan.reducible_by}")
    beyond = [
        flag
        for operation in operations
        for flag in latency_flags(
            [_direction(clone, operation) for clone in clones], {"operation": operation} | plan.labels, place.target_id
        )
    ]
    if "job" not in plan.labels:
        return flags + beyond
    return beyond + [quality.about(flag, {"job": plan.name}, place) for flag in flags]
