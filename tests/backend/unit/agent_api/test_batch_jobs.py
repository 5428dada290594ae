from dataclasses import replace
from datetime import timedelta

from factories.announced import NOW

from iotide_server.agent_api.batch_jobs import LINGERS, LISTED_AFTER, KnownJob, decide
from iotide_server.runs.batch import VANISHED
from iotide_wire.batch import JobEnd, JobState, SeenJob

WANTED = KnownJob(
    attempt_id=1,
    state="wanted",
    job_id=None,
    ending=None,
    words="",
    started_at=None,
    is_open=True,
    attempt_ended_at=None,
    is_cancel_wanted=False,
    has_offers=True,
    is_too_late=False,
)
RUNNING = replace(WANTED, state="running", job_id="12", started_at=NOW, has_offers=False)
CLOSED = replace(RUNNING, is_open=False, attempt_ended_at=NOW)


def seen(job_id: str = "12", state: JobState = JobState.PENDING, end: JobEnd | None = None, words: str = "") -> SeenJob:
    return SeenJob(run_id=7, fence=9, job_id=job_id, state=state, end=end, words=words)


def test_a_run_without_a_job_is_submitted() -> None:
    decided = decide(WANTED, [], NOW)
    assert (decided.is_wanted, decided.moved, decided.cancel, decided.is_over) == (True, None, (), False)


def test_a_job_that_is_found_by_its_name_is_not_submitted_again() -> None:
    decided = decide(WANTED, [seen(words="Resources")], NOW)
    assert not decided.is_wanted
    assert decided.moved is not None
    assert (decided.moved.state, decided.moved.job_id, decided.moved.words) == ("pending", "12", "Resources")


def test_an_order_that_was_claimed_without_a_known_job_is_not_submitted() -> None:
    assert not decide(replace(WANTED, has_offers=False), [], NOW).is_wanted


def test_the_moment_at_which_a_job_was_first_seen_to_run_stays() -> None:
    first = decide(WANTED, [seen(state=JobState.RUNNING)], NOW)
    later = decide(RUNNING, [seen(state=JobState.RUNNING)], NOW + timedelta(hours=1))
    assert first.moved is not None
    assert (first.moved.started_at, later.moved) == (NOW, None)


def test_a_job_that_is_no_longer_listed_has_vanished() -> None:
    moved = decide(RUNNING, [], NOW).moved
    assert moved is not None
    assert (moved.state, moved.ending, moved.job_id) == ("ended", VANISHED, "12")


def test_a_batch_system_may_forget_an_ended_job() -> None:
    ended = replace(RUNNING, state="ended", ending="cancelled", words="CANCELLED")
    assert decide(ended, [], NOW).moved is None


def test_the_waiting_one_of_two_jobs_for_one_attempt_is_cancelled() -> None:
    jobs = [seen("12"), seen("13", JobState.RUNNING)]
    decided = decide(replace(WANTED, state="pending", job_id="12"), jobs, NOW)
    assert decided.cancel == ("12",)
    assert decided.moved is not None
    assert (decided.moved.job_id, decided.moved.state) == ("13", "running")


def test_the_known_one_of_two_waiting_jobs_stays() -> None:
    decided = decide(replace(WANTED, state="pending", job_id="13"), [seen("12"), seen("13")], NOW)
    assert decided.cancel == ("12",)


def test_an_ended_job_is_not_reported_while_another_one_runs() -> None:
    jobs = [seen("12", JobState.ENDED, JobEnd.FAILED), seen("13", JobState.RUNNING)]
    moved = decide(RUNNING, jobs, NOW).moved
    assert moved is not None
    assert (moved.job_id, moved.state, moved.ending) == ("13", "running", None)


def test_the_job_of_a_run_that_is_to_be_cancelled_is_cancelled() -> None:
    assert decide(replace(RUNNING, is_cancel_wanted=True), [seen(state=JobState.RUNNING)], NOW).cancel == ("12",)


def test_a_waiting_job_of_an_ended_attempt_is_cancelled_at_once() -> None:
    assert decide(replace(CLOSED, state="pending"), [seen()], NOW).cancel == ("12",)


def test_a_running_job_of_an_ended_attempt_has_time_to_end() -> None:
    running = [seen(state=JobState.RUNNING)]
    assert decide(CLOSED, running, NOW + LINGERS / 2).cancel == ()
    assert decide(CLOSED, running, NOW + LINGERS).cancel == ("12",)


def test_it_is_over_once_attempt_and_job_have_ended() -> None:
    assert not decide(CLOSED, [seen(state=JobState.RUNNING)], NOW).is_over
    assert decide(CLOSED, [seen(state=JobState.ENDED, end=JobEnd.DONE)], NOW).is_over
    assert decide(CLOSED, [], NOW).is_over
    assert not decide(RUNNING, [seen(state=JobState.ENDED, end=JobEnd.DONE)], NOW).is_over


def test_a_job_that_may_still_be_listed_is_not_over_and_is_cancelled_when_it_is() -> None:
    """A slow batch system may have accepted the job that its gateway submitted."""
    cancelled = replace(WANTED, is_open=False, attempt_ended_at=NOW)
    assert not decide(cancelled, [], NOW + LISTED_AFTER / 2).is_over
    assert decide(cancelled, [seen()], NOW + LISTED_AFTER / 2).cancel == ("12",)
    assert decide(cancelled, [], NOW + LISTED_AFTER).is_over


def test_a_late_job_is_neither_submitted_nor_kept_waiting_but_continues_once_it_runs() -> None:
    late = replace(WANTED, is_too_late=True)
    assert not decide(late, [], NOW).is_wanted
    assert decide(replace(late, state="pending", job_id="12"), [seen()], NOW).cancel == ("12",)
    assert decide(replace(RUNNING, is_too_late=True), [seen(state=JobState.RUNNING)], NOW).cancel == ()
