from typing import Any

import pytest

from iotide_server.alerts.confirming import ConfirmedCell, confirmation_plan
from iotide_server.campaigns.resolved import resolve
from iotide_wire.plan import CachePolicy, CampaignPlan

PLAN = CampaignPlan.model_validate(
    {
        "name": "nightly",
        "cluster": "blade",
        "nodes": ["n1", "n2", "n3"],
        "targets": ["nfs", "scratch"],
        "workloads": [{"workload": "dd", "sweep": {"block_size_bytes": [4096, 65536]}}, {"workload": "fio"}],
        "repeats": 4,
        "cache": "none",
        "time_limit_seconds": 90,
    }
)


def confirmed(cell: ConfirmedCell) -> CampaignPlan:
    return confirmation_plan(PLAN, cell, name="confirm-7-" + "x" * 70, note="why")


def test_one_cell_of_the_matrix_is_run_three_times_as_three_points_under_its_conditions() -> None:
    plan = confirmed(ConfirmedCell("dd", {"block_size_bytes": 4096}, ["n2"], ["nfs"]))
    resolved = resolve(plan)
    assert (resolved.cell_count, resolved.run_count) == (3, 3)
    assert (plan.nodes, plan.targets, plan.cache, plan.time_limit_seconds) == (["n2"], ["nfs"], CachePolicy.NONE, 90)
    assert {choice.workload for choice in plan.workloads} == {"dd"}
    assert (len(plan.name), plan.note) == (63, "why")


@pytest.mark.parametrize("repeating", [{"repeats": {"until": "3 %"}}, {"spread": "3 days"}])
def test_adaptive_and_spread_plans_are_confirmed_at_once(repeating: dict[str, Any]) -> None:
    plan = CampaignPlan.model_validate(PLAN.model_dump(exclude={"adaptive", "spread_seconds"}) | repeating)
    resolved = resolve(confirmation_plan(plan, ConfirmedCell("dd", {}, ["n2"], ["nfs"]), name="confirm", note=""))
    assert (resolved.run_count, resolved.plan.adaptive, resolved.plan.spread_seconds) == (3, None, None)


def test_a_gang_and_several_targets_stay_together() -> None:
    plan = confirmed(ConfirmedCell("dd", {}, ["n1", "n2"], ["nfs", "scratch"], observers=["n3"]))
    resolved = resolve(plan)
    assert resolved.workloads[0].node_sets == [("n1", "n2")]
    assert resolved.workloads[0].target_sets == [("nfs", "scratch")]
    assert (resolved.cell_count, plan.observers) == (3, ["n3"])


def test_a_confirmation_keeps_the_sender() -> None:
    plan = confirmed(ConfirmedCell("stream", {}, ["n1", "n2"], ["nfs"], sender="n2"))
    resolved = resolve(plan)
    assert resolved.workloads[0].node_sets == [("n2", "n1")]
    assert resolved.cell_count == 3


def test_a_confirmation_keeps_the_head_and_starts_as_many_programs_as_the_cell_did() -> None:
    nodes = ["n2", "n1"]
    one_program = confirmed(ConfirmedCell("ior", {"program_per_node": False}, nodes, ["nfs"], head="n2"))
    assert resolve(one_program).workloads[0].node_sets == [("n2", "n1")]
    assert one_program.workloads[0].options == {"program_per_node": False}
    before_the_choice = confirmed(ConfirmedCell("ior", {"tasks": 2}, nodes, ["nfs"]))
    assert before_the_choice.workloads[0].options == {"tasks": 2, "program_per_node": True}
    alone = confirmed(ConfirmedCell("ior", {"tasks": 2}, ["n1"], ["nfs"]))
    assert alone.workloads[0].options == {"tasks": 2}
