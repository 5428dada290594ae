from datetime import UTC, datetime

import pytest

from iotide_server.clusters.agents.stuck import StuckLoad, problem_of

SINCE = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
DD = "dd (pid 41) in state D, waiting in rpc_wait"


@pytest.mark.parametrize(
    ("load", "sentence"),
    [
        (
            StuckLoad(DD, SINCE, 12, 7, ["home", "nfs"]),
            f"{DD} cannot be killed since 2026-11-21 10:00:00 UTC (run 7, target home, target nfs)",
        ),
        (StuckLoad(DD, SINCE, None, None, ()), f"{DD} cannot be killed since 2026-11-21 10:00:00 UTC"),
    ],
)
def test_a_load_is_named_with_process_since_run_and_targets(load: StuckLoad, sentence: str) -> None:
    assert load.sentence == sentence


def test_where_nothing_is_stuck_there_is_no_problem() -> None:
    assert problem_of(None) is None


def test_what_is_stored_is_read_again() -> None:
    stored: dict[str, object] = {
        "process": DD,
        "since": SINCE.isoformat(),
        "order_id": None,
        "run_id": None,
        "targets": [],
    }
    assert problem_of([stored, stored | {"process": "fio"}]) == (
        f"stuck: {DD} cannot be killed since 2026-11-21 10:00:00 UTC; fio cannot be killed since"
        " 2026-11-21 10:00:00 UTC"
    )
