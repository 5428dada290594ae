import pytest
from pydantic import ValidationError

from iotide_wire.host_lists import HostListError, expand, hosts_of
from iotide_wire.plan import CampaignPlan, WorkloadChoice


@pytest.mark.parametrize(
    ("written", "hosts"),
    [
        ("node01", ["node01"]),
        ("node[001-003]", ["node001", "node002", "node003"]),
        ("n[8-11]", ["n8", "n9", "n10", "n11"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("n[1,4-5,09]", ["n1", "n4", "n5", "n09"]),
        ("n[0-10/5]", ["n0", "n5", "n10"]),
        ("r[1-2]n[1-2]-ib", ["r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib"]),
        ("n[1-2], n2,login1", ["n1", "n2", "login1"]),
        ("", []),
    ],
)
def test_hosts_are_in_order_of_mention_each_once(written: str, hosts: list[str]) -> None:
    assert expand(written) == hosts


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("n[1-", "bracket"),
        ("n1]", "bracket"),
        ("n[[1]]", "bracket"),
        ("n[a-b]", "no range"),
        ("n[]", "no range"),
        ("n[1-2-3]", "no range"),
        ("n[3-1]", "smaller number first"),
        ("n[1-3/0]", "step"),
        ("n[0-10000]", "more than 10000 hosts"),
        ("n[0-999999999]" * 50, "more than 10000 hosts"),
        ("n[1-9999],m[1-9999]", "more than 10000 hosts"),
    ],
)
def test_what_is_no_list_or_too_long_a_one_says_so(written: str, words: str) -> None:
    with pytest.raises(HostListError, match=words):
        expand(written)


@pytest.mark.parametrize(
    ("given", "hosts"),
    [
        ("n[1-2],login", ["n1", "n2", "login"]),
        (["n[1-2]", "login", "m3"], ["n1", "n2", "login", "m3"]),
        (["n1", "n1"], ["n1", "n1"]),
        ([7, "n[1-2]", None], [7, "n1", "n2", None]),
        ({"n1": 1}, {"n1": 1}),
        ([], []),
    ],
)
def test_a_plan_s_nodes_are_names_and_host_lists(given: object, hosts: object) -> None:
    assert hosts_of(given) == hosts


def test_several_long_lists_are_counted_together() -> None:
    with pytest.raises(HostListError, match="more than 10000 hosts"):
        hosts_of(["n[1-6000]", "m[1-6000]"])


def test_a_group_that_no_program_replaced_names_the_command_that_does() -> None:
    with pytest.raises(HostListError, match=r'"@rack1" is a group .* command `iotide`'):
        hosts_of(["n1", "@rack1"])


def test_the_nodes_and_observers_of_plan_and_workload_may_be_host_lists() -> None:
    workload = {"workload": "dd", "nodes": "n[08-09]"}
    plan = CampaignPlan.model_validate(
        {
            "name": "c",
            "cluster": "lab",
            "nodes": ["n[08-10]"],
            "observers": "oss[1-2]",
            "targets": ["t"],
            "workloads": [workload],
        }
    )
    assert (plan.nodes, plan.observers) == (["n08", "n09", "n10"], ["oss1", "oss2"])
    assert plan.workloads[0].nodes == ["n08", "n09"]


def test_a_wrong_range_in_a_plan_is_an_error_of_its_field() -> None:
    with pytest.raises(ValidationError, match="smaller number first") as caught:
        WorkloadChoice.model_validate({"workload": "dd", "nodes": ["n[9-1]"]})
    assert [error["loc"] for error in caught.value.errors()] == [("nodes",)]
