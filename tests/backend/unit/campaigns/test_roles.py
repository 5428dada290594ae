from typing import Any

import pytest
from factories.raised import raised

from iotide_server.campaigns.errors import (
    CAMPAIGN_TOO_LARGE,
    NO_WORKLOAD_NAMES_IT,
    NODE_NOT_IN_PLAN,
    REPEATED_ENTRY,
    ROLES_AND_NODES_AT_ONCE,
    SENDER_RECEIVES,
    TOO_FEW_NODES,
)
from iotide_server.campaigns.resolved import resolve
from iotide_server.kit.errors import ErrorKind
from iotide_wire.measured import StepRole
from iotide_wire.plan import CampaignPlan

THERE = {"sender": "n1", "receiver": "n2"}
BACK = {"sender": "n2", "receiver": "n1"}


def plan(roles: object, **changes: object) -> CampaignPlan:
    values: dict[str, Any] = {
        "name": "there-and-back",
        "cluster": "blade",
        "nodes": ["n1", "n2"],
        "targets": ["disk"],
        "workloads": [{"workload": "stream", "roles": roles}],
    }
    return CampaignPlan.model_validate({**values, **changes})


def test_each_pair_is_a_cell_of_its_own_there_and_back() -> None:
    resolved = resolve(plan([THERE, BACK]))
    roles = (StepRole.SENDER, StepRole.RECEIVER)
    blocks = resolved.blocks()
    assert [(block.nodes, block.workload.roles) for block in blocks] == [(("n1", "n2"), roles), (("n2", "n1"), roles)]
    assert resolved.cell_count == 2


def test_each_node_of_the_workload_sends_to_each_other_one() -> None:
    resolved = resolve(plan("each_pair", nodes=["n1", "n2", "n3"]))
    expected = [("n1", "n2"), ("n1", "n3"), ("n2", "n1"), ("n2", "n3"), ("n3", "n1"), ("n3", "n2")]
    assert resolved.workloads[0].node_sets == expected
    assert resolved.cell_count == len(expected)
    own = plan(None, workloads=[{"workload": "stream", "nodes": ["n1", "n2"], "roles": "each_pair"}])
    assert resolve(own).workloads[0].node_sets == [("n1", "n2"), ("n2", "n1")]


def test_only_the_receiver_loads_the_targets() -> None:
    resolved = resolve(plan(THERE, stages=[{"variant": "xfs", "pause": "make it"}]))
    [workload] = resolved.workloads
    assert (workload.nodes, workload.loading(["n1", "n2"])) == (["n1", "n2"], ["n2"])
    assert resolved.loaded_from == resolved.confirmed_from == {("n2", "disk"): 1}


def test_the_node_count_of_other_workloads_does_not_affect_a_pair() -> None:
    workloads = [{"workload": "stream", "roles": THERE, "nodes": ["n1", "n2"]}, {"workload": "dd"}]
    given = plan(None, nodes=["n1", "n2", "n3"], nodes_at_once=[3], workloads=workloads)
    assert [workload.node_sets for workload in resolve(given).workloads] == [[("n1", "n2")], [("n1", "n2", "n3")]]


def test_all_pairs_of_many_nodes_are_counted_before_they_are_made() -> None:
    names = [f"n{number}" for number in range(10_000)]
    with raised(CAMPAIGN_TOO_LARGE, match=r"has 399960000 runs"):
        resolve(plan("each_pair", nodes=names))


@pytest.mark.parametrize(
    ("changes", "kind", "field"),
    [
        ({"roles": {"sender": "n9", "receiver": "n2"}}, NODE_NOT_IN_PLAN, "workloads[0].roles[0].sender"),
        ({"roles": {"sender": "n1", "receiver": "n9"}}, NODE_NOT_IN_PLAN, "workloads[0].roles[0].receiver"),
        ({"roles": THERE, "nodes": ["n2"]}, NODE_NOT_IN_PLAN, "workloads[0].roles[0].sender"),
        ({"roles": {"sender": "n1", "receiver": "n1"}}, SENDER_RECEIVES, "workloads[0].roles[0].receiver"),
        ({"roles": [THERE, BACK, THERE]}, REPEATED_ENTRY, "workloads[0].roles[2]"),
        ({"roles": "each_pair", "nodes": ["n1"]}, TOO_FEW_NODES, "workloads[0].roles"),
        ({"roles": THERE, "nodes_at_once": True}, ROLES_AND_NODES_AT_ONCE, "workloads[0].nodes_at_once"),
    ],
)
def test_roles_that_mean_no_pair_are_refused(changes: dict[str, object], kind: ErrorKind, field: str) -> None:
    with raised(kind) as refused:
        resolve(plan(None, workloads=[{"workload": "stream", **changes}]))
    assert (refused.value.status, refused.value.field) == (422, field)
    assert refused.value.remedy


def test_a_node_in_no_pair_is_noticed() -> None:
    with raised(NO_WORKLOAD_NAMES_IT, match="n3"):
        resolve(plan(THERE, nodes=["n1", "n2", "n3"]))
