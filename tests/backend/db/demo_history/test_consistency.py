"""All sample data, recomputed from the stored rows: each number agrees with its time and its command."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

import pytest
from cronsim import CronSim
from factories.loaded import Loaded, to_be_loaded
from sqlalchemy import text

from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.demo_history.loading import HistoryPlan, load_history

pytestmark = pytest.mark.timeout(1200)  # loads all clusters of the sample data, on a machine that may be busy

DAYS: Final = 30
CURVE_DAYS: Final = 14
TOLERANCE: Final = 0.01
RUNS: Final = text("""
    SELECT run.id, run.state, run.reason_code, run.reason, run.flags, run.started_at, run.ended_at, series.workload,
           campaign.created_at, attempt.opened_at, attempt.go_at, attempt.ended_at AS attempt_ended_at,
           node_order.offered_at, node_order.claimed_at, node_order.started_at AS order_started_at,
           node_order.ended_at AS order_ended_at, node_order.steps, node_order.foreign_load, node_order.node_id,
           node.facts ->> 'memory.total_bytes' AS memory_bytes,
           coalesce(series.samples, '[]') AS samples, coalesce(series.options, '{}') AS options
    FROM run
    JOIN campaign ON campaign.id = run.campaign_id
    JOIN cluster ON cluster.id = campaign.cluster_id AND cluster.origin = 'made_up'
    JOIN attempt ON attempt.run_id = run.id
    JOIN node_order ON node_order.attempt_id = attempt.id
    JOIN node ON node.id = node_order.node_id
    LEFT JOIN LATERAL (
        SELECT max(series.workload) AS workload, (jsonb_agg(series.options) -> 0) AS options,
               jsonb_agg(jsonb_build_object('metric', metric, 'labels', labels, 'value', value)) AS samples
        FROM sample JOIN series ON series.id = sample.series_id WHERE sample.run_id = run.id
    ) AS series ON true
    ORDER BY run.id
""")


@dataclass(frozen=True)
class Step:
    name: str
    argv: list[str]
    began_at: datetime
    seconds: float

    @property
    def ended_at(self) -> datetime:
        return self.began_at + timedelta(seconds=self.seconds)


@dataclass(frozen=True)
class MadeRun:
    row: Any
    steps: dict[str, Step] = field(default_factory=dict)

    def values(self, metric: str) -> dict[str, list[tuple[dict[str, Any], float]]]:
        """Labels and values by operation."""
        found: dict[str, list[tuple[dict[str, Any], float]]] = defaultdict(list)
        for sample in self.row.samples:
            if sample["metric"] == metric:
                found[sample["labels"]["operation"]].append((sample["labels"], sample["value"]))
        return found


@pytest.fixture(scope="module")
def history(postgres_server: PrivatePostgres) -> Iterator[Loaded]:
    with to_be_loaded(postgres_server, "sample_data") as loaded:
        load_history(loaded.database, HistoryPlan(seed=2, days=DAYS), loaded.clock)
        yield loaded


@pytest.fixture(scope="module")
def runs(history: Loaded) -> list[MadeRun]:
    with history.database.transaction() as session:
        found = session.execute(RUNS).all()
    return [
        MadeRun(row, {
            step["name"]: Step(
                step["name"], step["argv"], datetime.fromisoformat(step["started_at"]), step["wall_seconds"]
            )
            for step in row.steps
        })
        for row in found
    ]  # fmt: skip


@pytest.fixture(scope="module")
def finished(runs: list[MadeRun]) -> list[MadeRun]:
    return [run for run in runs if run.row.state == "finished"]


def of(runs: list[MadeRun], *workloads: str) -> list[MadeRun]:
    found = [run for run in runs if run.row.workload in workloads]
    assert {run.row.workload for run in found} == set(workloads)
    return found


def word(argv: list[str], pattern: str) -> str:
    [match] = [match for match in (re.fullmatch(pattern, one) for one in argv) if match]
    return match[1]


def test_bytes_over_the_seconds_of_dd_are_its_throughput(finished: list[MadeRun]) -> None:
    for run in of(finished, "dd"):
        values = run.values("throughput")
        assert sorted(values) == sorted(run.steps)
        for operation, [(labels, value)] in values.items():
            step = run.steps[operation]
            if operation == "write":
                assert int(word(step.argv, r"count=(\d+)")) == labels["file_size_bytes"]
            assert labels["file_size_bytes"] / step.seconds == pytest.approx(value, rel=TOLERANCE)


def test_files_over_the_seconds_of_create_and_mdtest_are_their_rates(finished: list[MadeRun]) -> None:
    for run in of(finished, "create", "mdtest"):
        values = run.values("operation_rate")
        assert sorted(values) == sorted(run.steps)
        for operation, [(_, value)] in values.items():
            argv = run.steps[operation].argv
            files = int(argv[-1]) if run.row.workload == "create" else int(argv[2]) * int(argv[argv.index("-n", 3) + 1])
            assert files / run.steps[operation].seconds == pytest.approx(value, rel=TOLERANCE)


def test_the_files_of_iozone_over_their_rates_are_its_time(finished: list[MadeRun]) -> None:
    for run in of(finished, "iozone"):
        [step], cells = run.steps.values(), run.values("throughput")
        assert sorted(cells) == ["read", "reread", "rewrite", "write"]
        seconds = sum(labels["file_size_bytes"] / value for own in cells.values() for labels, value in own)
        assert step.seconds == pytest.approx(seconds, rel=TOLERANCE)


def test_the_operations_of_fio_times_their_size_are_its_throughput_and_its_depth_covers_its_latency(
    finished: list[MadeRun],
) -> None:
    for run in of(finished, "fio"):
        argv = run.steps["measure"].argv
        block, depth = int(word(argv, r"--bs=(\d+)")), int(word(argv, r"--iodepth=(\d+)"))
        [(operation, [(_, iops)])] = run.values("iops").items()
        [(_, throughput)], [(_, p99)] = run.values("throughput")[operation], run.values("latency")[operation]
        assert iops * block == pytest.approx(throughput, rel=TOLERANCE)
        assert depth / iops < p99, "the mean latency is below the 99th percentile"
        planned_seconds = int(word(argv, r"--runtime=(\d+)ms")) / 1000
        assert run.steps["measure"].seconds == pytest.approx(planned_seconds, rel=TOLERANCE)


def test_steps_lie_in_their_run_that_in_its_attempt_and_that_in_its_campaign(finished: list[MadeRun]) -> None:
    for run in finished:
        row, steps = run.row, list(run.steps.values())
        times = [row.created_at, row.opened_at, row.offered_at, row.claimed_at, row.go_at, row.order_started_at]
        times += [time for step in steps for time in (step.began_at, step.ended_at)]
        times += [row.order_ended_at, row.attempt_ended_at]
        assert times == sorted(times), run.row.id
        assert (row.started_at, row.ended_at) == (row.order_started_at, row.order_ended_at)
        worked = sum(step.seconds for step in steps)
        assert (row.ended_at - row.started_at).total_seconds() == pytest.approx(worked, abs=10)


def test_no_two_runs_use_a_node_at_once_and_none_lasts_longer_than_it_may(runs: list[MadeRun]) -> None:
    by_node = defaultdict(list)
    for run in runs:
        by_node[run.row.node_id].append((run.row.claimed_at, run.row.ended_at))
    for times in by_node.values():
        assert all(before[1] <= after[0] for before, after in pairwise(sorted(times)))


def test_a_failed_run_has_only_its_reason(runs: list[MadeRun]) -> None:
    failed = [run.row for run in runs if run.row.state != "finished"]
    assert failed
    for row in failed:
        assert (row.state, row.reason_code) == ("failed", "wrong_mount")
        assert "/home is on xfs" in row.reason
        assert (row.steps, row.samples, row.flags, row.order_started_at) == ([], [], [], None)
        assert row.created_at <= row.opened_at <= row.ended_at


def test_a_flag_of_the_cache_is_on_data_that_memory_could_hold_and_on_no_other(finished: list[MadeRun]) -> None:
    flagged = set()
    for run in finished:
        enough = 2 * int(run.row.memory_bytes)
        sizes = {sample["labels"].get("file_size_bytes", enough) for sample in run.row.samples}
        small = {size for size in sizes if size < enough}
        assert {flag["labels"]["file_size_bytes"] for flag in run.row.flags if flag["code"] == "CACHE_SIZE"} == small
        flagged |= small
    assert flagged


def test_the_use_by_others_was_measured_on_the_node_of_every_run(finished: list[MadeRun]) -> None:
    assert all(run.row.foreign_load["before"]["seconds"] >= 5 for run in finished)
    assert not any(flag["code"] == "LOAD_NOT_MEASURED" for run in finished for flag in run.row.flags)


def test_recent_runs_that_move_data_have_curves_as_high_as_their_throughput(
    history: Loaded, finished: list[MadeRun]
) -> None:
    newest = [run for run in of(finished, "dd") if run.row.created_at > history.clock() - timedelta(days=CURVE_DAYS)]
    assert newest
    for run in newest[:5]:
        curves = history.get(f"/runs/{run.row.id}/curves")["items"]
        highest = {curve["counter"]: max(curve["values"]) for curve in curves}
        assert highest == {
            f"{operation}_bytes_per_second": pytest.approx(value, rel=TOLERANCE)
            for operation, [(_, value)] in run.values("throughput").items()
        }


def test_a_campaign_of_a_schedule_was_submitted_at_a_time_of_its_schedule(history: Loaded) -> None:
    with history.database.transaction() as session:
        fired = session.execute(
            text("SELECT cron, firing.planned_at FROM firing JOIN schedule ON schedule.id = firing.schedule_id")
        ).all()
    assert fired
    for cron, planned_at in fired:
        assert next(CronSim(cron, planned_at - timedelta(minutes=1))) == planned_at


def test_a_node_was_last_seen_when_its_last_run_ended(history: Loaded, runs: list[MadeRun]) -> None:
    ended: dict[int, datetime] = {}
    for run in runs:
        ended[run.row.node_id] = max(run.row.ended_at, ended.get(run.row.node_id, run.row.ended_at))
    with history.database.transaction() as session:
        seen = {row.node_id: row.seen_at for row in session.execute(text("SELECT node_id, seen_at FROM node_beat"))}
    assert {node_id: seen[node_id] for node_id in ended} == ended


def test_only_the_node_that_lost_a_mount_reports_it(history: Loaded) -> None:
    with history.database.transaction() as session:
        problems = session.execute(
            text(
                "SELECT node.name, target.name, target_mount.problem FROM target_mount"
                " JOIN node ON node.id = node_id JOIN target ON target.id = target_id WHERE target_mount.problem <> ''"
            )
        ).all()
    assert [(node, target) for node, target, _ in problems] == [("c02", "home")]
    assert "nothing is mounted there" in problems[0][2]
