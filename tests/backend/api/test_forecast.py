"""The preview's time, size and warnings before anything runs."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database
from iotide_server.results.forecast.service import USUAL_TURNOVER_SECONDS
from iotide_wire.power import repeats_needed, smallest_difference
from iotide_wire.units import GIB

CAMPAIGNS = "/api/v1/campaigns"
DEMO: list[dict[str, Any]] = [
    {"workload": "dd", "options": {"block_size_bytes": "1 MiB"}, "sweep": {"file_size_bytes": ["16 MiB", "64 MiB"]}},
    {"workload": "create", "options": {"file_count": 2000}},
    {"workload": "fio", "options": {"file_size_bytes": "32 MiB", "runtime_seconds": "2 s"}},
]
RECORDED = {"dd": (0.07, 0.12), "create": (0.27,), "fio": (2.35,)}
"""How long the loads of `./dev demo` took, in seconds: dd with 16 and with 64 MiB."""
GAP = 0.24
"""Pause between two runs, in seconds."""


@pytest.fixture
def ready(database: Database, clock: Clock) -> ReadyCluster:
    with database.transaction() as session:
        return ReadyCluster(session, clock())


@pytest.fixture
def preview(client: TestClient, admin: Person) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def ask(plan: dict[str, Any]) -> dict[str, Any]:
        answer = client.post(f"{CAMPAIGNS}/preview", json=plan, headers=admin.headers)
        assert answer.status_code == 200, answer.json()
        shown: dict[str, Any] = answer.json()
        return shown

    return ask


@pytest.fixture
def measure(client: TestClient, admin: Person, database: Database, clock: Clock) -> Callable[..., float]:
    """Submit a plan and finish its runs in order with these timings, an hour ago; return their total time."""

    def run(plan: dict[str, Any], loads: Iterator[float] | Sequence[float], gap: float) -> float:
        campaign = client.post(CAMPAIGNS, json=plan, headers=admin.headers).json()
        begin = at = clock() - timedelta(hours=1)
        with database.transaction() as session:
            rows = text(
                "SELECT run.id FROM run JOIN cell ON cell.id = cell_id WHERE run.campaign_id = :id"
                " ORDER BY repeat, cell.ordinal"
            )
            for run_id, seconds in zip(session.scalars(rows, {"id": campaign["id"]}).all(), loads, strict=False):
                end = at + timedelta(seconds=seconds)
                session.execute(
                    text("UPDATE run SET state = 'finished', started_at = :begin, ended_at = :end WHERE id = :id"),
                    {"id": run_id, "begin": at, "end": end},
                )
                at = end + timedelta(seconds=gap + plan.get("cool_down_seconds", 0.0))
        return (at - begin).total_seconds()

    return run


def codes(shown: dict[str, Any]) -> set[str]:
    return {warning["code"] for warning in shown["warnings"]}


def message(shown: dict[str, Any], code: str) -> str:
    return next(str(warning["message"]) for warning in shown["warnings"] if warning["code"] == code)


def test_the_demos_campaign_is_estimated_within_a_factor_of_one_and_a_half(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]], measure: Callable[..., float]
) -> None:
    plan = ready.plan(workloads=DEMO, repeats=4)
    loads = [seconds for name in ("dd", "create", "fio") for seconds in RECORDED[name]] * 4
    took = measure(plan, loads, GAP)
    shown = preview(plan)
    assert shown["seconds_estimated"] == pytest.approx(took, rel=0.1)
    assert [cell["run_seconds_estimated"] for cell in shown["cells"]] == [0.07, 0.12, 0.27, 2.4]


def test_the_gap_between_runs_is_learned_and_else_the_usual_one(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]], measure: Callable[..., float]
) -> None:
    measure(ready.plan(repeats=1), [10.0], 0.0)
    plan = ready.plan(repeats=10, cool_down_seconds=2.0)
    assert preview(plan)["seconds_estimated"] == pytest.approx(10 * (10 + USUAL_TURNOVER_SECONDS + 2), rel=0.05)
    measure(plan, [10.0] * 10, 4.0)
    assert preview(plan)["seconds_estimated"] == pytest.approx(10 * (10 + 4 + 2), rel=0.05)


def test_a_policy_that_wants_a_quiet_node_takes_an_idle_sample_before_each_run(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]], measure: Callable[..., float]
) -> None:
    measure(ready.plan(repeats=4), [1.0] * 4, 0.2)
    assert preview(ready.plan(repeats=4))["seconds_estimated"] == 4.8
    assert preview(ready.plan(repeats=4, quiet="wait"))["seconds_estimated"] == 26


def test_runs_right_after_others_wait_for_an_idle_sample_of_their_node(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]], measure: Callable[..., float], database: Database
) -> None:
    measure(ready.plan(repeats=4), [1.0] * 4, 0.2)
    with database.transaction() as session:
        session.execute(
            text("UPDATE run SET ended_at = ended_at + interval '1 h', started_at = started_at + interval '1 h'")
        )
    assert preview(ready.plan(repeats=4))["seconds_estimated"] == 4.8 + 5.0
    assert preview(ready.plan(repeats=4, quiet="ignore"))["seconds_estimated"] == 4.8


def test_a_target_that_was_never_measured_is_marked(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]]
) -> None:
    shown = preview(ready.plan())
    assert shown["seconds_estimated"] is None
    assert shown["seconds_unknown_because"] == "target scratch was never measured with dd"


def test_runs_that_share_only_a_cluster_are_not_counted_as_concurrent(
    database: Database, clock: Clock, preview: Callable[..., dict[str, Any]], measure: Callable[..., float]
) -> None:
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=2)
    measure(ready.plan(nodes=["n1"], repeats=2), [10.0] * 2, 0.0)
    assert preview(ready.plan(repeats=2))["seconds_estimated"] == pytest.approx(20, rel=0.1)
    assert preview(ready.plan(repeats=2, exclusive="cluster"))["seconds_estimated"] == pytest.approx(40, rel=0.1)


@pytest.mark.parametrize(("seconds", "is_short"), [(12.0, True), (40.0, False)])
def test_runs_too_short_for_a_steady_state_are_warned_of(
    seconds: float,
    is_short: bool,  # noqa: FBT001 - of the parameters
    ready: ReadyCluster,
    preview: Callable[..., dict[str, Any]],
    measure: Callable[..., float],
) -> None:
    measure(ready.plan(repeats=4), [seconds] * 4, 0.2)
    shown = preview(ready.plan(repeats=4))
    assert ("runs_short" in codes(shown)) is is_short
    if is_short:
        assert "at most 12 s: data phases below 30 s do not" in message(shown, "runs_short")


def test_a_run_that_its_time_limit_would_end_is_warned_of(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]], measure: Callable[..., float]
) -> None:
    measure(ready.plan(repeats=1), [50.0], 0.0)
    assert "time_limit_short" not in codes(preview(ready.plan(time_limit_seconds=90)))
    assert message(preview(ready.plan(time_limit_seconds=60)), "time_limit_short") == (
        "a run of dd is expected to take about 50 s, with a time limit of 60 s: raise the limit or reduce the size"
    )


def test_the_default_size_of_dd_is_twice_the_memory_and_shown_with_its_space(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]], database: Database
) -> None:
    with database.transaction() as session:
        session.execute(text("UPDATE target_mount SET total_bytes = :all, free_bytes = :all"), {"all": 100 * GIB})
    shown = preview(ready.plan(workloads=[{"workload": "dd"}]))
    [cell] = shown["cells"]
    assert (cell["options"]["file_size_bytes"], cell["bytes_needed"]) == ("auto", 32 * GIB)
    assert "cache_measured" not in codes(shown)


def test_the_default_size_of_dd_is_refused_with_a_remedy_where_it_has_no_room(
    ready: ReadyCluster, client: TestClient, admin: Person
) -> None:
    plan = ready.plan(workloads=[{"workload": "dd"}])
    answer = client.post(f"{CAMPAIGNS}/preview", json=plan, headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (409, "not_enough_space")
    assert error["remedy"].startswith("set a size instead of auto, which is twice the memory, or another target")


@pytest.mark.parametrize(
    ("free", "room"), [(100 * GIB, "use larger files or"), (8 * GIB, "larger files do not fit: use")]
)
def test_a_small_size_is_warned_of_with_a_remedy_that_its_target_has_room_for(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]], database: Database, free: int, room: str
) -> None:
    with database.transaction() as session:
        session.execute(text("UPDATE target_mount SET free_bytes = :free"), {"free": free})
    assert f"; {room} O_DIRECT" in message(preview(ready.plan()), "cache_measured")


@pytest.mark.parametrize("options", [{"flush": "direct", "file_size_bytes": "1 GiB"}])
def test_a_small_size_past_the_cache_is_not_warned_of(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]], options: dict[str, Any]
) -> None:
    assert "cache_measured" not in codes(preview(ready.plan(workloads=[{"workload": "dd", "options": options}])))


def test_a_target_that_is_memory_is_named_once_and_has_no_remedy_by_size(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]], database: Database
) -> None:
    with database.transaction() as session:
        session.execute(text("UPDATE target_mount SET fstype = 'tmpfs'"))
    shown = preview(ready.plan())
    assert message(shown, "target_is_memory") == ("target scratch is in memory (tmpfs): runs measure the memory")
    assert "cache_measured" not in codes(shown)


def test_work_on_names_of_files_has_no_warning_of_a_size(
    ready: ReadyCluster, preview: Callable[..., dict[str, Any]]
) -> None:
    assert "cache_measured" not in codes(preview(ready.plan(workloads=[{"workload": "create"}])))


_POINTS = text(
    """
    WITH added AS (
        INSERT INTO series (key_sha256, cluster_id, node_ids, target_ids, workload, series_revision, options,
                            options_sha256, metric, title, unit, better, labels)
        SELECT operation, campaign.cluster_id, '{}', ARRAY[:target_id], 'dd', 1, '{}', cell.options_sha256,
               'throughput', 'Throughput', 'bytes_per_second', 'higher', jsonb_build_object('operation', operation)
        FROM cell JOIN campaign ON campaign.id = campaign_id CROSS JOIN unnest(ARRAY['read', 'write']) AS operation
        RETURNING id
    )
    INSERT INTO point (series_id, cell_id, campaign_id, at, median, low, high, run_count, variation_ratio)
    SELECT added.id, cell.id, campaign_id, :at, 100, 94, 106, 4, 0.06 FROM added, cell
    """
)


@pytest.fixture
def scattered(ready: ReadyCluster, measure: Callable[..., float], database: Database, clock: Clock) -> None:
    """Measure four repeats that scatter by 6 %, with a point each for reads and writes."""
    measure(ready.plan(repeats=4), [10.0] * 4, 0.0)
    with database.transaction() as session:
        session.execute(_POINTS, {"at": clock(), "target_id": ready.target.id})


@pytest.mark.usefixtures("scattered")
def test_the_scatter_of_earlier_runs_says_which_difference_the_repeats_show(
    ready: ReadyCluster,
    preview: Callable[..., dict[str, Any]],
) -> None:
    sizes = {"file_size_bytes": ["1 GiB", "2 GiB", "3 GiB"]}
    power = preview(ready.plan(repeats=4, workloads=[{"workload": "dd", "sweep": sizes}]))["power"]
    assert (power["repeats"], power["numbers"]) == (4, 6)
    [dd] = power["workloads"]
    assert (dd["workload"], dd["scatter_source"], dd["scatter_runs"]) == ("dd", "configurations", 8)
    difference = smallest_difference(0.06, 4)
    assert difference is not None
    needed = repeats_needed(difference, 0.06, 6)
    assert dd["rows"] == [
        {
            "scatter_ratio": pytest.approx(0.06),
            "difference_ratio": pytest.approx(difference),
            "shared_difference_ratio": pytest.approx(smallest_difference(0.06, 4, 6)),
            "repeats_needed": needed,
        }
    ]


@pytest.mark.usefixtures("scattered")
def test_the_scatter_of_other_configurations_of_the_cluster_is_used_else_the_usual_ones(
    ready: ReadyCluster,
    preview: Callable[..., dict[str, Any]],
) -> None:
    other = {"workload": "dd", "options": {"file_size_bytes": "2 GiB"}}
    dd, create = preview(ready.plan(repeats=4, workloads=[other, {"workload": "create"}]))["power"]["workloads"]
    assert (dd["scatter_source"], dd["rows"][0]["scatter_ratio"]) == ("workload", pytest.approx(0.06))
    assert (create["scatter_source"], create["scatter_runs"]) == (None, 0)
    assert [row["scatter_ratio"] for row in create["rows"]] == [0.03, 0.06, 0.10]


@pytest.mark.usefixtures("scattered")
def test_the_recommended_repeats_show_of_all_numbers_what_four_show_of_one_and_stay_when_taken(
    ready: ReadyCluster,
    preview: Callable[..., dict[str, Any]],
) -> None:
    workloads = [{"workload": "dd", "sweep": {"file_size_bytes": ["1 GiB", "2 GiB", "3 GiB"]}}]
    alone = smallest_difference(0.06, 4)
    assert alone is not None
    needed = repeats_needed(alone, 0.06, 6)
    assert needed is not None
    for repeats in (2, 4, needed):
        power = preview(ready.plan(repeats=repeats, workloads=workloads))["power"]
        assert power["repeats_recommended"] == needed
    [row] = power["workloads"][0]["rows"]
    assert row["shared_difference_ratio"] <= alone


def test_adaptive_repeats_have_no_recommended_number(
    preview: Callable[[dict[str, Any]], dict[str, Any]], ready: ReadyCluster
) -> None:
    assert preview(ready.plan(repeats={"until": "3 %", "most": 20}))["power"]["repeats_recommended"] is None


def test_an_adaptive_plan_is_previewed_at_its_maximum(
    preview: Callable[[dict[str, Any]], dict[str, Any]], ready: ReadyCluster
) -> None:
    shown = preview(ready.plan(repeats={"until": "3 %", "most": 20}))
    assert shown["run_count"] == 20 * shown["cell_count"]
    assert "ends after 8 runs if its scatter is well below 3 %" in message(shown, "adaptive_maximum")


def test_a_spread_plan_takes_until_its_last_release(
    preview: Callable[[dict[str, Any]], dict[str, Any]], measure: Callable[..., float], ready: ReadyCluster
) -> None:
    measure(ready.plan(repeats=1), iter(lambda: 1.0, None), GAP)
    assert preview(ready.plan(repeats=3, spread="3 days"))["seconds_estimated"] == pytest.approx(2 * 86_400, rel=0.05)
