from dataclasses import replace
from datetime import timedelta

import pytest
from factories.announced import NOW

from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.runs.batch import (
    VANISHED,
    BatchSubmission,
    EndedJob,
    Gateway,
    end_of_order,
    gateway_obstacle,
    refused,
    waits_for_job,
)
from iotide_server.runs.lifecycle import OrderEnd
from iotide_wire.batch import BatchSystem, JobEnd
from iotide_wire.messages import OrderState

GATEWAY = Gateway("login1", NOW, None)
PENDING = BatchSubmission(BatchSystem.SLURM, GATEWAY, "pending", "12", "Resources")


def job(ending: str, words: str = "") -> EndedJob:
    return EndedJob(BatchSystem.SLURM, "12", ending, words)


@pytest.mark.parametrize(
    ("ending", "end", "code"),
    [
        (JobEnd.CANCELLED, OrderEnd.CANCELLED, "batch_cancelled"),
        (JobEnd.TIME_LIMIT, OrderEnd.WITHDRAWN, "batch_ended"),
        (JobEnd.FAILED, OrderEnd.WITHDRAWN, "batch_ended"),
        (JobEnd.DONE, OrderEnd.WITHDRAWN, "batch_ended"),
        (JobEnd.NODE_FAILED, OrderEnd.WITHDRAWN, "batch_ended"),
        (VANISHED, OrderEnd.WITHDRAWN, "batch_ended"),
    ],
)
def test_an_unclaimed_order_is_withdrawn_with_its_job_unless_the_job_was_cancelled(
    ending: str, end: OrderEnd, code: str
) -> None:
    ended = end_of_order(job(ending), OrderState.OFFERED, NOW, is_silent=False)
    assert ended is not None
    assert (ended.end, ended.code) == (end, code)


@pytest.mark.parametrize(
    ("ending", "end", "code"),
    [
        (JobEnd.CANCELLED, OrderEnd.CANCELLED, "batch_cancelled"),
        (JobEnd.TIME_LIMIT, OrderEnd.FAILED, "batch_time_limit"),
        (JobEnd.FAILED, OrderEnd.LOST, "batch_ended"),
        (VANISHED, OrderEnd.LOST, "batch_ended"),
    ],
)
def test_a_claimed_order_ends_with_its_job_once_its_node_is_silent(ending: str, end: OrderEnd, code: str) -> None:
    assert end_of_order(job(ending), OrderState.RUNNING, NOW, is_silent=False) is None
    ended = end_of_order(job(ending), OrderState.RUNNING, NOW, is_silent=True)
    assert ended is not None
    assert (ended.end, ended.code) == (end, code)


def test_a_job_that_lost_its_node_ends_no_load_that_may_still_run() -> None:
    assert end_of_order(job(JobEnd.NODE_FAILED), OrderState.RUNNING, NOW, is_silent=True) is None


def test_the_reason_names_the_job_its_end_and_the_message_of_the_batch_system() -> None:
    ended = end_of_order(job(JobEnd.CANCELLED, "CANCELLED by 0"), OrderState.OFFERED, NOW, is_silent=False)
    assert ended is not None
    assert ended.words == "Slurm job 12 was cancelled (CANCELLED by 0) before the node could claim the order"
    words = refused(BatchSystem.LSF, "no such queue", NOW).words
    assert words == "LSF refused the job: no such queue"


def test_a_waiting_job_is_shown_with_the_reason_of_the_batch_system() -> None:
    assert waits_for_job(PENDING, NOW) == "Slurm job 12 waits: Resources"
    assert waits_for_job(replace(PENDING, words=""), NOW) == "Slurm job 12 waits"


def test_a_started_job_no_longer_waits() -> None:
    assert waits_for_job(replace(PENDING, state="running"), NOW) is None
    assert waits_for_job(replace(PENDING, state=None), NOW) is None


def test_before_its_submission_a_run_waits_for_the_gateway() -> None:
    wanted = replace(PENDING, state="wanted", job_id=None)
    assert waits_for_job(wanted, NOW) == "about to be submitted to Slurm"
    silent = waits_for_job(wanted, NOW + 2 * SILENT_AFTER)
    assert silent is not None
    assert "gateway login1 has been silent since" in silent


def test_a_silent_gateway_makes_the_reason_an_old_one() -> None:
    words = waits_for_job(PENDING, NOW + 2 * SILENT_AFTER)
    assert words is not None
    assert words.startswith("Slurm job 12 waits: Resources; its state is not updated: gateway login1 has been silent")


@pytest.mark.parametrize(
    ("gateway", "words"),
    [
        (None, "the cluster has no gateway to Slurm; enroll one"),
        (Gateway("login1", None, None), "has never contacted the server"),
        (Gateway("login1", NOW - timedelta(minutes=5), None), "silent since 2026-"),
        (Gateway("login1", NOW, "squeue: no answer"), "gateway login1: squeue: no answer"),
    ],
)
def test_an_obstacle_to_every_submission_is_named(gateway: Gateway | None, words: str) -> None:
    found = gateway_obstacle(replace(PENDING, gateway=gateway), NOW)
    assert found is not None
    assert words in found


def test_a_gateway_that_is_well_is_no_obstacle() -> None:
    assert gateway_obstacle(PENDING, NOW) is None
