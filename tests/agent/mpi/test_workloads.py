"""ior and mdtest as one program of four tasks on two nodes, by a real MPICH and the product's start channel."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from agent.mpi.gang_rig import Gang
from factories.mpi import mpi_settings
from factories.outcomes import make_place

from iotide_agent.workloads.base import Parsed, Place, StepOutcome, Workload
from iotide_agent.workloads.ior import IorWorkload
from iotide_agent.workloads.mdtest import MdtestWorkload
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_wire.units import MIB

LAYOUT = RankLayout.of_nodes(("n1", "n2"), 2, ("127.0.0.1", "127.0.0.2"))
_SHARED: dict[str, object] = {"tasks": 2, "transfers_per_block": 4, "segments": 2, "file_per_process": False}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path / "place")


def outcomes_of(gang: Gang, workload: Workload[Any], given: dict[str, object], place: Place) -> Iterator[StepOutcome]:
    """Yield the outcome of each step, after a program on both nodes."""
    for [step] in workload.groups(workload.options_type.model_validate(given), place):
        member = gang.member()
        head = gang.head(member.said()["port"], step.argv)
        ended = head.ended()
        stdout, stderr = head.output("000-mpi.stdout"), head.output("000-mpi.stderr")
        assert (ended["code"], ended["status"]) == (None, 0), f"{ended} {stdout} {stderr}"
        member.ended()
        yield StepOutcome(
            step=step,
            stdout=stdout,
            stderr=stderr,
            truncated=False,
            files={file.name: file.read_text() for file in step.output_files},
            exit_status=0,
            signal=None,
            started_at=datetime(2026, 12, 1, tzinfo=UTC),
            wall_seconds=60.0,
            user_seconds=0.1,
            system_seconds=0.1,
            max_rss_bytes=1,
            before_done=step.before,
        )


def measured(gang: Gang, workload: Workload[Any], given: dict[str, object], place: Place) -> Parsed:
    on_nodes = replace(place, layout=LAYOUT)
    outcomes = [*outcomes_of(gang, workload, given, on_nodes)]
    assert [workload.failure(outcome) for outcome in outcomes] == [None] * len(outcomes)
    options = workload.options_type.model_validate(given)
    return Parsed.of_all(workload.read(options, on_nodes, outcome) for outcome in outcomes)


@pytest.mark.parametrize(
    "changed",
    [
        {"reorder": True},
        {"file_per_process": True, "random": True},
        {"api": "MPIIO-collective"},
        {"stonewall_seconds": 1, "transfers_per_block": 100_000, "segments": 1, "transfer_size_bytes": 4096},
    ],
    ids=["shifted", "own-files", "collective", "stonewall"],
)
def test_ior_writes_and_reads_over_two_nodes(gang: Gang, place: Place, changed: dict[str, object]) -> None:
    parsed = measured(gang, IorWorkload(mpi_settings("ior")), _SHARED | changed, place)
    for operation in ("write", "read"):
        own = [sample for sample in parsed.samples if sample.labels["operation"] == operation]
        rates = {sample.labels.get("writer"): sample.value for sample in own if sample.metric == "throughput"}
        values = {sample.metric: sample.value for sample in own if "writer" not in sample.labels}
        assert rates.keys() == {None, "n1", "n2"}
        assert rates["n1"] + rates["n2"] >= 0.99 * values["throughput"]
        assert 0 < values["first_done"] <= values["last_done"]
        assert values["start_skew"] >= 0
    if "stonewall_seconds" not in changed and not changed.get("file_per_process"):
        assert (place.directory / "ior").stat().st_size == 4 * 2 * 4 * MIB


@pytest.mark.parametrize("items", ["files", "both"])
def test_mdtest_makes_and_removes_items_over_two_nodes(gang: Gang, place: Place, items: str) -> None:
    given: dict[str, object] = {"tasks": 2, "item_count": 20, "items": items, "unique_directories": False}
    parsed = measured(gang, MdtestWorkload(mpi_settings("mdtest")), given, place)
    writers = {
        (sample.labels["operation"], sample.labels["item"], sample.labels.get("writer"))
        for sample in parsed.samples
        if sample.metric == "operation_rate"
    }
    kinds = [("create", "file"), ("stat", "file"), ("read", "file"), ("delete", "file")]
    kinds += [(operation, "directory") for operation in ("create", "stat", "delete")] if items == "both" else []
    assert writers == {(*kind, writer) for kind in kinds for writer in (None, "n1", "n2")}
    assert list(place.directory.iterdir()) == []
