"""Pure functions of a gateway's report."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from iotide_server.agent_api.batch_repository import MovedJob
from iotide_server.runs.batch import VANISHED
from iotide_wire.batch import JobState, SeenJob

WANTED: Final = "wanted"

LINGERS: Final = timedelta(seconds=60)
"""A job may outlive its attempt by this time, to send its results."""

LISTED_AFTER: Final = timedelta(minutes=2)
"""Latest time for a submitted job to appear, including its gateway's minute, even after its attempt has ended."""

_LIVING_FIRST: Final = {JobState.RUNNING: 0, JobState.PENDING: 1, JobState.ENDED: 2}


@dataclass(frozen=True, slots=True)
class KnownJob(MovedJob):
    is_open: bool  # otherwise its attempt has ended at `attempt_ended_at`
    attempt_ended_at: datetime | None
    is_cancel_wanted: bool  # a user cancelled its run, or another node ended it
    has_offers: bool
    is_too_late: bool  # started now, it would run past its campaign's window or into a maintenance window


@dataclass(frozen=True, slots=True)
class Decided:
    moved: MovedJob | None
    cancel: tuple[str, ...]
    is_wanted: bool
    is_over: bool


def decide(known: KnownJob, seen: Sequence[SeenJob], now: datetime) -> Decided:
    # Several: one was submitted twice or requeued. Only one can claim the orders, so pending ones are cancelled.
    ranked = sorted(seen, key=lambda job: (_LIVING_FIRST[job.state], job.job_id != known.job_id, int(job.job_id)))
    moved = _moved(known, ranked[0] if ranked else None, now)
    doubles = tuple(job.job_id for job in ranked[1:] if job.state is JobState.PENDING)
    living = [job for job in ranked[:1] if job.state is not JobState.ENDED]
    cancel = tuple(job.job_id for job in living if _is_unwanted(known, job, now)) + doubles
    may_appear = moved.state == WANTED and _is_younger(known, LISTED_AFTER, now)
    return Decided(
        moved=moved if _differs(known, moved) else None,
        cancel=cancel,
        is_wanted=moved.state == WANTED and known.has_offers and not _is_given_up(known),
        is_over=not known.is_open and not living and not may_appear,
    )


def _moved(known: KnownJob, job: SeenJob | None, now: datetime) -> MovedJob:
    if job is None and known.state in {WANTED, JobState.ENDED}:
        return MovedJob(known.attempt_id, known.state, known.job_id, known.ending, known.words, known.started_at)
    if job is None:
        return MovedJob(known.attempt_id, JobState.ENDED, known.job_id, VANISHED, "", known.started_at)
    is_started = job.state is JobState.RUNNING and known.started_at is None
    started_at = now if is_started else known.started_at
    ending = None if job.end is None else job.end.value
    return MovedJob(known.attempt_id, job.state.value, job.job_id, ending, job.words, started_at)


def _differs(known: KnownJob, moved: MovedJob) -> bool:
    before = (known.state, known.job_id, known.ending, known.words, known.started_at)
    return before != (moved.state, moved.job_id, moved.ending, moved.words, moved.started_at)


def _is_unwanted(known: KnownJob, job: SeenJob, now: datetime) -> bool:
    if job.state is JobState.PENDING:
        return _is_given_up(known)
    return known.is_cancel_wanted if known.is_open else not _is_younger(known, LINGERS, now)


def _is_given_up(known: KnownJob) -> bool:
    return not known.is_open or known.is_cancel_wanted or known.is_too_late


def _is_younger(known: KnownJob, span: timedelta, now: datetime) -> bool:
    return known.attempt_ended_at is not None and now - known.attempt_ended_at < span
