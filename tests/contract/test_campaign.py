"""Campaign of every workload on the real tools, from the plan to the point on the trend."""

import csv
import hashlib
import io
import os
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from bring_up import wait_for
from rig import FIO_SMALL, NODE, Rig
from submitting import TARGET
from watched_loads import LoadStart

REPEATS = 2
FIO_SECONDS = 3
DD_BYTES = 16 * 1024**2
WORKLOADS = [
    {"workload": "dd", "options": {"file_size_bytes": "16 MiB", "block_size_bytes": "1 MiB"}},
    {"workload": "create", "options": {"file_count": 500}},
    {"workload": "fio", "options": {**FIO_SMALL, "rw": "write", "runtime_seconds": FIO_SECONDS}},
]


@dataclass(frozen=True)
class Measured:
    rig: Rig
    campaign: dict[str, Any]
    runs: list[dict[str, Any]]
    starts: list[LoadStart]

    def runs_of(self, workload: str) -> list[dict[str, Any]]:
        return [run for run in self.runs if run["workload"] == workload]

    def steps_of(self, run: dict[str, Any]) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = run["attempts"][0]["orders"][0]["steps"]
        return steps

    def artefact_texts(self, run: dict[str, Any]) -> dict[str, str]:
        artefacts = self.rig.stack.get(f"/runs/{run['id']}/artefacts")["items"]
        texts = {}
        for artefact in artefacts:
            response = self.rig.stack.api.get(f"/artefacts/{artefact['id']}")
            assert hashlib.sha256(response.content).hexdigest() == artefact["sha256"]
            assert len(response.content) == artefact["size_bytes"]
            texts[artefact["name"]] = response.text
        return texts

    def samples_of(self, run: dict[str, Any]) -> list[dict[str, Any]]:
        samples: list[dict[str, Any]] = self.rig.stack.get("/samples", run_id=run["id"], limit=500)["items"]
        return samples


@pytest.fixture(scope="module")
def measured(rig: Rig) -> Measured:
    before = len(rig.loads.starts())
    plan = rig.plan("dd", {}, name="every-workload", workloads=WORKLOADS, repeats=REPEATS)
    campaign = rig.stack.wait_campaign(rig.stack.post("/campaigns", plan)["id"])
    return Measured(rig, campaign, rig.runs(campaign["id"]), rig.loads.starts()[before:])


def test_every_run_finishes_at_its_first_attempt(measured: Measured) -> None:
    assert measured.campaign["state"] == "finished"
    assert measured.campaign["counts"]["finished"] == REPEATS * len(WORKLOADS)
    assert measured.campaign["progress"] == 1
    assert {(run["state"], run["attempts_made"], run["reason"]) for run in measured.runs} == {("finished", 1, None)}
    assert {(tuple(run["node_names"]), tuple(run["target_names"])) for run in measured.runs} == {((NODE,), (TARGET,))}


def test_no_loads_overlap_and_each_runs_once(measured: Measured) -> None:
    tools = [start.arguments[0] for start in measured.starts]
    assert all(start.is_alone for start in measured.starts)
    assert (tools.count("dd"), tools.count("fio")) == (2 * REPEATS, REPEATS)


def test_repeats_of_a_cell_are_interleaved_with_other_cells(measured: Measured) -> None:
    by_start = sorted(measured.runs, key=lambda run: run["started_at"])
    assert [run["repeat"] for run in by_start] == sorted(run["repeat"] for run in measured.runs)


def test_the_run_shows_the_exact_argument_list(measured: Measured) -> None:
    shown = [
        tuple(step["argv"])
        for run in sorted(measured.runs, key=lambda run: run["started_at"])
        for step in measured.steps_of(run)
        if step["argv"][0] in {"dd", "fio"}
    ]
    assert shown == [start.arguments for start in measured.starts]


def test_throughput_of_dd_is_what_its_raw_output_says(measured: Measured) -> None:
    for run in measured.runs_of("dd"):
        texts = measured.artefact_texts(run)
        rates = {}
        for step in ("write", "read"):
            text = next(text for name, text in texts.items() if step in name and "records in" in text)
            found = re.search(r"(\d+) bytes .* copied, ([\d.e-]+) s", text)
            assert found
            assert int(found[1]) == DD_BYTES
            rates[step] = DD_BYTES / float(found[2])
        samples = {
            sample["labels"]["operation"]: sample["value"]
            for sample in measured.samples_of(run)
            if sample["metric"] == "throughput"
        }
        assert samples == pytest.approx(rates)


def test_the_parts_of_a_duration_add_up_to_the_time_that_passed(measured: Measured) -> None:
    for run in measured.runs_of("dd"):
        for step in measured.steps_of(run):
            parts = {
                sample["labels"]["part"]: sample["value"]
                for sample in measured.samples_of(run)
                if sample["metric"] == "duration" and sample["labels"]["operation"] == step["name"]
            }
            assert parts["real"] == pytest.approx(step["wall_seconds"])
            assert parts["user"] + parts["sys"] + parts["wait"] == pytest.approx(parts["real"], rel=0.05)


def test_a_run_keeps_the_facts_of_its_node(measured: Measured) -> None:
    memory = re.search(r"MemTotal: +(\d+) kB", Path("/proc/meminfo").read_text())
    assert memory
    for run in measured.runs:
        facts = run["environment"]
        assert facts["kernel.release"] == os.uname().release
        assert facts["memory.total_bytes"] == pytest.approx(int(memory[1]) * 1024, rel=0.01)  # rounded on the node


def test_the_curve_of_a_load_covers_its_time_and_its_bytes(measured: Measured) -> None:
    for run in measured.runs_of("fio"):
        curves = measured.rig.stack.get(f"/runs/{run['id']}/curves")["items"]
        written = next(curve for curve in curves if curve["counter"] == "write_bytes_per_second")
        assert FIO_SECONDS - 1 <= len(written["values"]) * written["step_seconds"] <= FIO_SECONDS + 2
        rate = next(sample["value"] for sample in measured.samples_of(run) if sample["metric"] == "throughput")
        moved_bytes = sum(value or 0 for value in written["values"]) * written["step_seconds"]
        assert moved_bytes == pytest.approx(rate * FIO_SECONDS, rel=0.35)


def test_each_series_has_the_median_of_its_runs_as_point(measured: Measured) -> None:
    stack = measured.rig.stack
    values: dict[int, list[float]] = {}
    for run in measured.runs:
        for sample in measured.samples_of(run):
            values.setdefault(sample["series_id"], []).append(sample["value"])
    assert {len(found) for found in values.values()} == {REPEATS}
    for series_id, found in values.items():
        points = wait_for(f"the point of series {series_id}", lambda: drawn(stack.get(f"/series/{series_id}/points")))  # noqa: B023 - called at once
        assert points["campaign_id"] == [measured.campaign["id"]]
        assert points["n"] == [REPEATS]
        assert points["median"] == pytest.approx([median(found)])
        assert [*points["low"], *points["high"]] == pytest.approx([min(found), max(found)])


def drawn(points: dict[str, Any]) -> dict[str, Any] | None:
    return points if points["n"] == [REPEATS] else None


def test_each_series_is_analysed_soon_after_its_points(measured: Measured) -> None:
    stack = measured.rig.stack
    series_id = measured.samples_of(measured.runs_of("dd")[0])[0]["series_id"]

    def analysed() -> dict[str, Any] | None:
        found: dict[str, Any] = stack.get(f"/series/{series_id}/analysis")
        return found if found["analysed_at"] is not None else None

    analysis = wait_for(f"the analysis of series {series_id}", analysed)
    assert (analysis["course"], analysis["n"] + analysis["missing_points"]) == ("too_short", 14)


def test_a_campaign_is_compared_with_itself(measured: Measured) -> None:
    campaign_id = measured.campaign["id"]
    pairs = measured.rig.stack.get("/comparison", a=campaign_id, b=campaign_id)["pairs"]
    assert [pair["a"]["workload"] for pair in pairs] == ["dd", "create", "fio"]
    verdicts = {metric["verdict"] for pair in pairs for metric in pair["metrics"]}
    assert "few_runs" in verdicts
    assert verdicts <= {"few_runs", "no_ratio"}


def test_cells_show_their_results(measured: Measured) -> None:
    cells = measured.rig.stack.get(f"/campaigns/{measured.campaign['id']}/cells")["items"]
    assert [cell["workload"] for cell in sorted(cells, key=lambda cell: cell["ordinal"])] == ["dd", "create", "fio"]
    for cell in cells:
        assert len(cell["runs"]) == REPEATS
        assert cell["results"]
        for result in cell["results"]:
            assert result["n"] == REPEATS
            assert result["low"] <= result["median"] <= result["high"]


def test_the_table_of_samples_has_a_line_for_each(measured: Measured) -> None:
    response = measured.rig.stack.api.get(f"/campaigns/{measured.campaign['id']}/samples.csv")
    assert response.headers["content-type"].startswith("text/csv")
    lines = list(csv.DictReader(io.StringIO(response.text)))
    assert len(lines) == sum(len(measured.samples_of(run)) for run in measured.runs)


def test_nothing_stays_on_the_target(measured: Measured) -> None:
    measured.rig.wait_clean()
    assert measured.rig.leftovers() == []
    orders = Path(measured.rig.agent.directory / "state/orders")
    assert list(orders.glob("*")) == []


def test_the_log_of_a_run_shows_its_steps(measured: Measured) -> None:
    events = measured.rig.stack.get(f"/runs/{measured.runs[0]['id']}/events")["items"]
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    assert len(events) >= 3
    assert all(event["text"] for event in events)
