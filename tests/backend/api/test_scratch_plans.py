"""Plans with scratch disks: the preview shows every stage, and what no node does is rejected."""

from typing import Any

import pytest
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from factories.scratch_sets import disk, enable_set, scratch_set
from fastapi.testclient import TestClient

from iotide_server.campaigns.planning import cluster_of, foresee
from iotide_server.campaigns.resolved import resolve
from iotide_server.campaigns.scratch.estimate import DiskRates
from iotide_server.campaigns.scratch.pace import KnownDisks
from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database
from iotide_server.results.forecast.service import preview
from iotide_wire.plan import CampaignPlan

CAMPAIGNS = "/api/v1/campaigns"
SCRATCH: dict[str, Any] = {
    "node": "n1",
    "set": "bays",
    "layouts": ["single", {"raid": 5, "disks": 4, "chunk": "64 KiB"}],
    "filesystems": ["ext4"],
    "options": ["default", "aligned"],
    "mount": ["noatime"],
    "sync": "assume_clean",
    "except_impossible": True,
}


@pytest.fixture
def ready(database: Database, clock: Clock, admin: Person) -> ReadyCluster:
    with database.transaction() as session:
        made = ReadyCluster(session, clock())
        enable_set(session, made.nodes[0], scratch_set("bays", *map(disk, range(1, 5))), admin.principal, clock())
        return made


def test_a_preview_lists_stages_geometry_and_what_is_left_out(
    client: TestClient, admin: Person, ready: ReadyCluster
) -> None:
    answer = client.post(f"{CAMPAIGNS}/preview", json=ready.plan(repeats=4, scratch=SCRATCH), headers=admin.headers)
    assert answer.status_code == 200, answer.json()
    shown = answer.json()
    stages = shown["scratch"]["stages"]
    assert [stage["variant"] for stage in stages[:3]] == [
        "single / ext4 / default / noatime",
        "raid5 4x64K / ext4 / default / noatime",
        "raid5 4x64K / ext4 / aligned / noatime",
    ]
    assert [stage["round"] for stage in stages] == [1, 1, 1, 2, 2, 2]
    assert (stages[2]["unit_blocks"], stages[2]["width_blocks"]) == (16, 48)
    assert shown["run_count"] == 3 * 4 * len(shown["cells"]) // len(stages)
    assert shown["scratch"]["left_out"] == [
        {"variant": "single / ext4 / aligned / noatime", "reason": "single has no stripe; use default"}
    ]
    codes = {warning["code"]: warning["message"] for warning in shown["warnings"]}
    assert "default and aligned make the same ext4 on raid5 4x64K" in codes["same_geometry"]
    assert "single has no stripe" in codes["scratch_left_out"]
    assert {"parity_unsynced", "makes_not_estimated"} <= codes.keys()
    assert "one_make" not in codes


def test_one_round_has_a_warning(client: TestClient, admin: Person, ready: ReadyCluster) -> None:
    plan = ready.plan(scratch=SCRATCH | {"rounds": 1})
    shown = client.post(f"{CAMPAIGNS}/preview", json=plan, headers=admin.headers).json()
    assert "one_make" in {warning["code"] for warning in shown["warnings"]}


def test_known_disks_add_the_time_of_makes(
    database: Database, clock: Clock, admin: Person, ready: ReadyCluster
) -> None:
    plan = CampaignPlan.model_validate(ready.plan(repeats=2, scratch=SCRATCH | {"sync": "wait"}))
    with database.transaction() as session:
        resolved = resolve(plan)
        planned = foresee(session, cluster_of(session, admin.principal, resolved), resolved)
        disks = KnownDisks(3 * 10**12, DiskRates(3 * 10**12, 150e6))
        shown = preview(session, planned, clock(), disks)
    assert shown.scratch is not None
    assert shown.scratch.make_seconds_estimated == pytest.approx(4 * 20_000, rel=0.2)
    assert "makes_not_estimated" not in {warning.code for warning in shown.warnings}


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"except_impossible": False}, "scratch_impossible", "scratch"),
        ({"node": "n9"}, "node_not_found", "scratch.node"),
        ({"rounds": 3}, "scratch_rounds", "scratch.rounds"),
        ({"layouts": [{"raid": 5, "disks": 2, "chunk": "64 KiB"}]}, "invalid_input", "scratch.layouts[0]"),
    ],
)
def test_a_preview_rejects_with_code_and_field(
    client: TestClient, admin: Person, ready: ReadyCluster, changes: dict[str, Any], code: str, field: str
) -> None:
    plan = ready.plan(repeats=4, scratch=SCRATCH | changes)
    error = client.post(f"{CAMPAIGNS}/preview", json=plan, headers=admin.headers).json()["error"]
    assert (error["code"], error["field"]) == (code, field)


def test_a_rejected_submission_stores_nothing(client: TestClient, admin: Person, ready: ReadyCluster) -> None:
    plan = ready.plan(repeats=4, scratch=SCRATCH | {"rounds": 3})
    error = client.post(CAMPAIGNS, json=plan, headers=admin.headers).json()["error"]
    assert (error["code"], error["field"]) == ("scratch_rounds", "scratch.rounds")
    assert client.get(CAMPAIGNS, headers=admin.headers).json()["items"] == []
