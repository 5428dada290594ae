"""Outcomes of steps: run for real, or built from captured outputs."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from socket import socket
from time import monotonic

from iotide_agent.orders.plan import write_input_files
from iotide_agent.workloads.base import Before, Group, OptionsT, Parsed, Place, Step, StepOutcome, Workload

DATA = Path(__file__).parents[1] / "data"
MEMORY_BYTES = 8 * 1024**3


def make_place(directory: Path) -> Place:
    """Return a run's own working directory below `directory`, which is the target."""
    run, scratch = directory / "target" / "run", directory / "scratch"
    run.mkdir(parents=True)
    scratch.mkdir()
    return Place(
        target_id=7,
        directory=run,
        scratch=scratch,
        fstype="ext4",
        direct_works=_direct_works(run),
        total_bytes=10 * MEMORY_BYTES,
        free_bytes=5 * MEMORY_BYTES,
        facts={"memory.total_bytes": MEMORY_BYTES},
        source="/dev/iotide-test",
    )


def steps_of(workload: Workload[OptionsT], options: OptionsT, place: Place) -> list[Step]:
    """Return every step of a run on one target, in order of start."""
    return list(chain.from_iterable(workload.plan(options, [place])))


def read_all(workload: Workload[OptionsT], options: OptionsT, place: Place, outcomes: Sequence[StepOutcome]) -> Parsed:
    """Return the readings of the steps' outputs, each separately and, if the run is complete, all together."""
    parts = [workload.read(options, place, outcome) for outcome in outcomes]
    if len(outcomes) == len(steps_of(workload, options, place)):
        parts.append(workload.conclude(options, [place], outcomes))
    return Parsed.of_all(parts)


def run_together(workload: Workload[OptionsT], options: OptionsT, places: Sequence[Place]) -> Parsed:
    """Return the readings of a real run on several targets at once."""
    outcomes = run_groups(workload.plan(options, places), places[0])
    assert [workload.failure(outcome) for outcome in outcomes] == [None] * len(outcomes)
    place_of = {place.target_id: place for place in places}
    reads = [workload.read(options, place_of[outcome.step.target_id], outcome) for outcome in outcomes]
    return Parsed.of_all([*reads, workload.conclude(options, places, outcomes)])


def two_places(place: Place) -> list[Place]:
    """Return two directories of a working directory, as if each were a separate target."""
    found = []
    first = place.target_id or 0
    for target_id in (first, first + 1):
        own = replace(
            place,
            target_id=target_id,
            directory=place.directory / f"target-{target_id}",
            scratch=place.scratch / f"target-{target_id}",
            target_count=2,
        )
        own.directory.mkdir()
        own.scratch.mkdir()
        found.append(own)
    return found


def run_steps(steps: Sequence[Step], place: Place) -> list[StepOutcome]:
    """Run every step to its end, as the runner does, but without a deadline and without dropping caches."""
    return [_run(step, place.scratch) for step in steps]


def run_groups(groups: Sequence[Group], place: Place, sockets: Sequence[socket] = ()) -> list[StepOutcome]:
    """Run the groups one after another and the steps of each in parallel, each with a socket if it needs one."""
    with ThreadPoolExecutor(max_workers=max(map(len, groups))) as side_by_side:
        return [
            outcome
            for group in groups
            for outcome in side_by_side.map(lambda step: _run(step, place.scratch, sockets), group)
        ]


def as_step(outcome: StepOutcome, step: Step) -> StepOutcome:
    """Return the outcome as if it were of `step`: stdout becomes its first output file, if it has one."""
    files = {path.name: outcome.stdout for path in step.output_files[:1]}
    return replace(outcome, step=step, files=files, before_done=step.before)


def _direct_works(directory: Path) -> bool:
    trial = directory.parent / "trial"
    try:
        os.close(os.open(trial, os.O_CREAT | os.O_WRONLY | os.O_DIRECT))
    except OSError:
        return False
    else:
        return True
    finally:
        trial.unlink(missing_ok=True)


def _run(step: Step, scratch: Path, sockets: Sequence[socket] = ()) -> StepOutcome:
    write_input_files([(step,)], scratch.parent)
    stem = f"{step.target_id}-{step.name}"
    stdout, stderr = scratch / f"{stem}.stdout", scratch / f"{stem}.stderr"
    started_at, started = datetime.now(UTC), monotonic()
    with stdout.open("wb") as out, stderr.open("wb") as err:
        listening = None if step.socket is None else sockets[step.socket]
        stdin = None if listening is None else listening.fileno()
        environment = {**os.environ, "LC_ALL": "C"}
        process = subprocess.Popen(step.argv, stdin=stdin, stdout=out, stderr=err, cwd=scratch, env=environment)
        if listening is not None:
            listening.close()  # as the runner does: the port is released with the process
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return StepOutcome(
        step=step,
        stdout=stdout.read_text(errors="replace"),
        stderr=stderr.read_text(errors="replace"),
        truncated=False,
        files={path.name: path.read_text(errors="replace") for path in step.output_files if path.exists()},
        exit_status=process.returncode if process.returncode >= 0 else None,
        signal=-process.returncode if process.returncode < 0 else None,
        started_at=started_at,
        wall_seconds=monotonic() - started,
        user_seconds=usage.ru_utime,
        system_seconds=usage.ru_stime,
        max_rss_bytes=usage.ru_maxrss * 1024,
        before_done=Before.SYNC if step.before is Before.DROP else step.before,
    )


def captured(name: str) -> StepOutcome:
    """Return a capture of tests/data, named `tool/name`; its step is the command that was run."""
    meta = json.loads((DATA / f"{name}.meta.json").read_text())
    texts = {}
    for stream in ("stdout", "stderr"):
        with contextlib.suppress(FileNotFoundError):
            texts[stream] = (DATA / f"{name}.{stream}").read_text(errors="replace")
    step = Step(name="capture", phase="capture", argv=tuple(meta["cmd"].split()), target_id=7)
    return StepOutcome(
        step=step,
        stdout=texts.get("stdout", ""),
        stderr=texts.get("stderr", ""),
        truncated=False,
        files={},
        exit_status=meta["rc"] if meta["rc"] >= 0 else None,
        signal=signal.Signals(-meta["rc"]) if meta["rc"] < 0 else None,
        started_at=datetime(2026, 11, 21, tzinfo=UTC),
        wall_seconds=meta["wall_s"],
        user_seconds=meta["user_s"],
        system_seconds=meta["sys_s"],
        max_rss_bytes=meta["maxrss_kib"] * 1024,
        before_done=Before.DROP,
    )
