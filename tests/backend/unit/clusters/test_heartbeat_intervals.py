from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.clusters.agents.heartbeats import beat_seconds, idle_heartbeat_seconds
from iotide_server.clusters.views import SILENT_AFTER

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("node_count", "seconds"), [(-1, 5.0), (0, 5.0), (1000, 5.0), (1600, 8.0), (2000, 10.0), (1_000_000, 10.0)]
)
def test_idle_heartbeats_of_all_nodes_together_are_bounded_up_to_the_longest_pause(
    node_count: float, seconds: float
) -> None:
    assert idle_heartbeat_seconds(node_count) == seconds


def test_three_of_the_longest_pauses_are_not_silence_yet() -> None:
    assert 3 * idle_heartbeat_seconds(1e9) <= SILENT_AFTER.total_seconds()


@pytest.mark.parametrize(
    ("starts", "seconds"),
    [
        ([], 7.0),
        ([None], 1.0),
        ([NOW - timedelta(seconds=9)], 1.0),
        ([NOW - timedelta(seconds=11)], 3.0),
        ([NOW - timedelta(seconds=29)], 3.0),
        ([NOW - timedelta(seconds=31)], 10.0),
        ([NOW - timedelta(seconds=31), None], 1.0),
    ],
)
def test_heartbeats_are_frequent_while_a_load_begins_for_any_number_of_nodes(
    starts: list[datetime | None], seconds: float
) -> None:
    assert beat_seconds(starts, NOW, idle_seconds=7.0) == seconds
