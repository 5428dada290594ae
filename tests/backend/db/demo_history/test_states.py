"""The overview of sample data: lost mounts, missing data and recoveries."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from factories.loaded import Loaded, to_be_loaded

from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.demo_history.loading import HistoryPlan, load_history
from iotide_server.demo_history.sites import narrowed

PERIODS = (7, 30, 90, 365)
PLAN = HistoryPlan(seed=1, days=180, sites=narrowed(["demo-hpc"], ["iozone", "dd"]))


@pytest.fixture(scope="module")
def sample(postgres_server: PrivatePostgres) -> Iterator[Loaded]:
    with to_be_loaded(postgres_server, "states") as site:
        load_history(site.database, PLAN, site.clock)
        yield site


def attention(board: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the items that need attention in the sample cluster, by kind."""
    (cluster,) = (one for one in board["clusters"] if one["name"] == "demo-hpc")
    return {item["kind"]: item for item in board["attention"] if item["cluster_id"] == cluster["id"]}


@pytest.mark.parametrize("days", PERIODS)
def test_the_overview_names_the_cluster_that_lost_its_home_and_the_series_without_data(
    sample: Loaded, days: int
) -> None:
    board = sample.get("/board", days=days)
    needed = attention(board)
    assert set(needed) == {"lost_mount", "failing_schedule", "stale_series", "outlier_node"}
    assert "c03" in needed["outlier_node"]["words"]
    assert needed["lost_mount"]["words"] == "/home (home) is not mounted on c02"
    failing = needed["failing_schedule"]
    assert failing["words"].startswith("weekly failed 4 times in a row since ")
    assert failing["words"].endswith(": /home is not mounted on c02 (1 of 5 configurations)")
    stale = needed["stale_series"]
    assert (stale["series"]["workload"], stale["series"]["node_names"]) == ("iozone", ["c02"])
    assert stale["words"].startswith("no data since ")
    assert stale["words"].endswith(": schedule weekly fails")
    assert stale["series"]["last_at"] == stale["since"]
    assert stale["since"] < needed["lost_mount"]["since"] < failing["since"], (
        "lost after the last data, before the failures"
    )
    (cell,) = (cell for cell in board["cells"] if cell["workload"] == "iozone")
    assert (cell["state"], cell["counts"]) == ("stale", [{"state": "stale", "series": stale["series_count"]}])
    known = sample.get("/series", cluster_id=cell["cluster_id"], workload="iozone", limit=500)["items"]
    assert len([one for one in known if one["better"] != "neither"]) == stale["series_count"]


@pytest.mark.parametrize("days", PERIODS)
def test_a_level_that_came_back_is_in_control_in_every_period(sample: Loaded, days: int) -> None:
    (cell,) = (cell for cell in sample.get("/board", days=days)["cells"] if cell["workload"] == "dd")
    assert [(cell["state"], one["state"]) for one in cell["counts"]] == [("in_control", "in_control")]
    is_reported = days > 180 * (1 - 0.62)
    assert ("recovered on " in cell["words"]) is is_reported


def test_sample_data_is_judged_at_its_own_end_and_does_not_go_stale_with_the_days(sample: Loaded) -> None:
    sample.clock.now += timedelta(days=40)
    try:
        board = sample.get("/board", days=365)
    finally:
        sample.clock.now -= timedelta(days=40)
    states = {cell["workload"]: cell["state"] for cell in board["cells"]}
    assert states == {"dd": "in_control", "iozone": "stale"}
