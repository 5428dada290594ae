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
from iotide_server.campaigns.expansion import (
    Load,
    cell_count,
    check_matrix,
    confirmed_from,
    expand,
    loading_nodes_of,
    node_sets,
    nodes_of,
)
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
    given = plan([THERE, BACK])
    [choice] = given.workloads
    check_matrix(given)
    assert node_sets(given, choice) == [("n1", "n2"), ("n2", "n1")]
    roles = (StepRole.SENDER, StepRole.RECEIVER)
    cells = list(expand([Load("options", [1], node_sets(given, choice), [("disk",)], roles=roles)]))
    assert [(cell.nodes, cell.roles) for cell in cells] == [(("n1", "n2"), roles), (("n2", "n1"), roles)]
    assert cell_count(given) == 2


def test_each_node_of_the_workload_sends_to_each_other_one() -> None:
    given = plan("each_pair", nodes=["n1", "n2", "n3"])
    [choice] = given.workloads
    check_matrix(given)
    expected = [("n1", "n2"), ("n1", "n3"), ("n2", "n1"), ("n2", "n3"), ("n3", "n1"), ("n3", "n2")]
    assert node_sets(given, choice) == expected
    assert cell_count(given) == len(expected)
    own = plan(None, workloads=[{"workload": "stream", "nodes": ["n1", "n2"], "roles": "each_pair"}])
    assert node_sets(own, own.workloads[0]) == [("n1", "n2"), ("n2", "n1")]


def test_the_receiver_alone_loads_the_targets() -> None:
    given = plan(THERE, stages=[{"variant": "xfs", "pause": "make it"}])
    [choice] = given.workloads
    assert nodes_of(given, choice) == ["n1", "n2"]
    assert loading_nodes_of(given, choice) == ["n2"]
    assert confirmed_from(given) == {("n2", "disk"): 1}


def test_how_many_nodes_load_together_in_other_workloads_says_nothing_of_a_pair() -> None:
    workloads = [{"workload": "stream", "roles": THERE, "nodes": ["n1", "n2"]}, {"workload": "dd"}]
    given = plan(None, nodes=["n1", "n2", "n3"], nodes_at_once=[3], workloads=workloads)
    check_matrix(given)
    assert [node_sets(given, choice) for choice in given.workloads] == [[("n1", "n2")], [("n1", "n2", "n3")]]


def test_all_pairs_of_many_nodes_are_counted_before_they_are_made() -> None:
    names = [f"n{number}" for number in range(10_000)]
    with raised(CAMPAIGN_TOO_LARGE, match=r"means 399960000 runs"):
        check_matrix(plan("each_pair", nodes=names))


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
        check_matrix(plan(None, workloads=[{"workload": "stream", **changes}]))
    assert (refused.value.status, refused.value.field) == (422, field)
    assert refused.value.remedy


def test_a_node_in_no_pair_is_noticed() -> None:
    with raised(NO_WORKLOAD_NAMES_IT, match="n3"):
        check_matrix(plan(THERE, nodes=["n1", "n2", "n3"]))
