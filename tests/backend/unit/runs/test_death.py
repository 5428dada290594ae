from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.runs.death import (
    DoomedOrder,
    DoomedRun,
    following,
    what_ends,
    what_may_still_load,
)
from iotide_server.runs.lifecycle import DECLINES_FORGIVEN, OrderEnd, RunState, Tries
from iotide_wire.messages import OrderState

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
RUNNING = DoomedOrder(12, OrderState.RUNNING, NOW)
OFFERED = DoomedOrder(12, OrderState.OFFERED, None)
RUN = DoomedRun(
    run_id=7,
    campaign_id=1,
    campaign_name="nightly",
    workload="dd",
    orders=[RUNNING],
    ended=[],
    others=[],
    tries=Tries(made=1, allowed=2, declines=0),
    is_cancelled=False,
    go_at=NOW,
    time_limit=timedelta(hours=1),
    targets=["nfs"],
    shared=["nfs"],
    held_beside=["target nfs", "cluster blade"],
)


@pytest.mark.parametrize(
    ("run", "state", "becomes"),
    [
        (RUN, RunState.WAITING, "waits again, as this was attempt 1 of 2"),
        (replace(RUN, tries=Tries(2, 2, 0)), RunState.FAILED, "fails, as this was attempt 2 of 2"),
        (replace(RUN, is_cancelled=True), RunState.CANCELLED, "is cancelled, as somebody wanted before"),
        (replace(RUN, ended=[OrderEnd.FAILED]), RunState.FAILED, "fails, as it did on another node"),
        (replace(RUN, orders=[OFFERED]), RunState.WAITING, "waits again, with no attempt counted"),
        (
            replace(RUN, orders=[OFFERED], tries=Tries(1, 2, DECLINES_FORGIVEN)),
            RunState.FAILED,
            "fails, as it was declined too often",
        ),
        (replace(RUN, ended=[OrderEnd.FINISHED]), RunState.WAITING, "waits again, as this was attempt 1 of 2"),
    ],
)
def test_what_becomes_of_the_run_is_said_as_it_will_be(run: DoomedRun, state: RunState, becomes: str) -> None:
    assert following(run).state is state
    assert what_ends("n1", run).endswith(f"; the run {becomes}")


def test_what_the_attempt_holds_beside_its_nodes_is_free_when_the_last_of_them_has_stopped() -> None:
    assert what_ends("n1", RUN).startswith(
        "order 12, running by its last word, ends as lost; node n1, target nfs and cluster blade are free at once"
    )
    assert what_ends("n1", replace(RUN, others=["n2", "n3"])) == (
        "order 12, running by its last word, ends as lost; node n1 is free at once; n2 and n3 are told to stop, and"
        " then the run waits again, as this was attempt 1 of 2 and frees target nfs and cluster blade"
    )


@pytest.mark.parametrize(
    ("run", "risk"),
    [
        (RUN, "what other runs measure on target nfs until then may be measured beside it"),
        (RUN, "may run there until 2026-11-21 11:00:00 UTC"),
        (
            replace(RUN, targets=["disk", "shm"], shared=[]),
            "it loads disk and shm, which no other node has",
        ),
        (replace(RUN, go_at=None), "Its load was never told to start, so none runs on n1."),
        (replace(RUN, orders=[OFFERED]), "Its load was never told to start, so none runs on n1."),
        (
            replace(RUN, orders=[DoomedOrder(12, OrderState.READY, None)], go_at=NOW + timedelta(minutes=1)),
            "may run there until 2026-11-21 11:01:00 UTC",
        ),
        (replace(RUN, orders=[DoomedOrder(12, OrderState.UPLOADING, NOW)]), "Its load had ended"),
    ],
)
def test_what_a_load_that_still_hangs_there_could_do_is_said(run: DoomedRun, risk: str) -> None:
    assert risk in what_may_still_load("n1", run)
