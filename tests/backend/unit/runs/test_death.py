from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.runs.death import (
    DoomedOrder,
    DoomedRun,
    describe_end,
    describe_risk,
    following,
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
    also_held=["target nfs", "cluster blade"],
)


@pytest.mark.parametrize(
    ("run", "state", "becomes"),
    [
        (RUN, RunState.WAITING, "waits again (this was attempt 1 of 2)"),
        (replace(RUN, tries=Tries(2, 2, 0)), RunState.FAILED, "fails (this was attempt 2 of 2)"),
        (replace(RUN, is_cancelled=True), RunState.CANCELLED, "is cancelled, as requested before"),
        (replace(RUN, ended=[OrderEnd.FAILED]), RunState.FAILED, "fails because it failed on another node"),
        (replace(RUN, orders=[OFFERED]), RunState.WAITING, "waits again (no attempt is counted)"),
        (
            replace(RUN, orders=[OFFERED], tries=Tries(1, 2, DECLINES_FORGIVEN)),
            RunState.FAILED,
            "fails because it was declined too often",
        ),
        (replace(RUN, ended=[OrderEnd.FINISHED]), RunState.WAITING, "waits again (this was attempt 1 of 2)"),
    ],
)
def test_the_future_of_the_run_is_reported(run: DoomedRun, state: RunState, becomes: str) -> None:
    assert following(run).state is state
    assert describe_end("n1", run).endswith(f"; the run {becomes}")


def test_other_resources_of_the_attempt_are_free_when_its_last_node_has_stopped() -> None:
    assert describe_end("n1", RUN).startswith(
        "order 12 (last state: running) ends as lost; node n1, target nfs and cluster blade are free at once"
    )
    assert describe_end("n1", replace(RUN, others=["n2", "n3"])) == (
        "order 12 (last state: running) ends as lost; node n1 is free at once; the server asks n2 and n3 to stop, and"
        " then the run waits again (this was attempt 1 of 2) and frees target nfs and cluster blade"
    )


@pytest.mark.parametrize(
    ("run", "risk"),
    [
        (RUN, "While it runs, it may affect the results of other runs on target nfs."),
        (RUN, "may run there until 2026-11-21 11:00:00 UTC"),
        (
            replace(RUN, targets=["disk", "shm"], shared=[]),
            "It loads disk and shm, which no other node has.",
        ),
        (replace(RUN, go_at=None), "Its load never got the start signal, so no load runs on n1."),
        (replace(RUN, orders=[OFFERED]), "Its load never got the start signal, so no load runs on n1."),
        (
            replace(RUN, orders=[DoomedOrder(12, OrderState.READY, None)], go_at=NOW + timedelta(minutes=1)),
            "may run there until 2026-11-21 11:01:00 UTC",
        ),
        (replace(RUN, orders=[DoomedOrder(12, OrderState.UPLOADING, NOW)]), "Its load had ended"),
    ],
)
def test_the_risk_of_a_hanging_load_is_reported(run: DoomedRun, risk: str) -> None:
    assert risk in describe_risk("n1", run)
