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
            f"{DD}, unkillable since 2026-11-21 10:00:00 UTC (run 7, target home, target nfs)",
        ),
        (StuckLoad(DD, SINCE, None, None, ()), f"{DD}, unkillable since 2026-11-21 10:00:00 UTC"),
    ],
)
def test_a_load_is_named_with_process_since_run_and_targets(load: StuckLoad, sentence: str) -> None:
    assert load.sentence == sentence


def test_a_node_without_stuck_loads_has_no_problem() -> None:
    assert problem_of(None) is None


def test_stored_values_are_read_unchanged() -> None:
    stored: dict[str, object] = {
        "process": DD,
        "since": SINCE.isoformat(),
        "order_id": None,
        "run_id": None,
        "targets": [],
    }
    assert problem_of([stored, stored | {"process": "fio"}]) == (
        f"stuck: {DD}, unkillable since 2026-11-21 10:00:00 UTC; fio, unkillable since 2026-11-21 10:00:00 UTC"
    )
