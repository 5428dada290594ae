from typing import Any

import pytest
from factories.raised import raised
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from iotide_server.campaigns.errors import (
    CAMPAIGN_TOO_LARGE,
    NO_WORKLOAD_NAMES_IT,
    NODE_NOT_IN_PLAN,
    OBSERVER_LOADS,
    OBSERVER_NOT_IN_PLAN,
    OPTION_SWEPT_AND_SET,
    REPEATED_ENTRY,
    STAGE_NOT_IN_PLAN,
    TARGET_NOT_IN_PLAN,
    TOO_FEW_NODES,
)
from iotide_server.campaigns.resolved import ResolvedPlan, resolve
from iotide_server.kit.errors import ErrorKind
from iotide_wire.plan import CampaignPlan, WorkloadChoice

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)


def plan(**changes: object) -> CampaignPlan:
    values: dict[str, Any] = {
        "name": "nightly",
        "cluster": "blade",
        "nodes": ["n1", "n2"],
        "targets": ["disk"],
        "workloads": [{"workload": "dd"}],
        "repeats": 4,
    }
    return CampaignPlan.model_validate({**values, **changes})


choices = st.builds(
    WorkloadChoice,
    workload=NAMES,
    options=st.just({}),
    sweep=st.dictionaries(NAMES, st.lists(st.integers(), min_size=1, max_size=4, unique=True), max_size=3),
)
plans = st.builds(
    plan,
    nodes=st.lists(NAMES, min_size=4, max_size=5, unique=True),
    nodes_at_once=st.booleans() | st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True),
    targets=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    workloads=st.lists(choices, min_size=1, max_size=3),
    repeats=st.integers(1, 9),
    targets_at_once=st.booleans(),
    stages=st.lists(st.just({"variant": "ext3"}), max_size=3),
)


@given(given_plan=plans)
def test_the_counts_are_those_of_the_expanded_matrix(given_plan: CampaignPlan) -> None:
    resolved = ResolvedPlan.of(given_plan)
    blocks = list(resolved.blocks())
    sizes = [block.workload.option_set_count for block in blocks]
    assert [block.first for block in blocks] == [1 + sum(sizes[:at]) for at in range(len(sizes))]
    assert (resolved.cell_count, resolved.run_count) == (sum(sizes), sum(sizes) * given_plan.repeats)
    rows = [len(block.nodes) * len(block.targets) + len(block.observers) for block in blocks]
    assert resolved.row_count == given_plan.repeats * sum(size * row for size, row in zip(sizes, rows, strict=True))


@given(given_plan=plans)
def test_every_combination_is_there_once_in_the_order_of_the_plan(given_plan: CampaignPlan) -> None:
    resolved = ResolvedPlan.of(given_plan)
    workloads = resolved.workloads
    nodes = list(dict.fromkeys(nodes for workload in workloads for nodes in workload.node_sets))
    targets = list(dict.fromkeys(targets for workload in workloads for targets in workload.target_sets))
    places = [
        (block.stage, nodes.index(block.nodes), targets.index(block.targets), workloads.index(block.workload))
        for block in resolved.blocks()
    ]
    assert places == sorted(set(places))
    assert len(places) == sum(workload.block_count for workload in workloads)


def test_a_workload_loads_its_own_targets_one_by_one_or_at_once() -> None:
    given_plan = plan(
        targets=["raid", "disk1", "disk2"],
        workloads=[
            {"workload": "dd", "targets": ["raid"]},
            {"workload": "dd", "targets": ["disk1", "disk2"], "targets_at_once": True},
            {"workload": "create"},
        ],
    )
    assert [workload.target_sets for workload in resolve(given_plan).workloads] == [
        [("raid",)],
        [("disk1", "disk2")],
        [("raid",), ("disk1",), ("disk2",)],
    ]
    at_once = given_plan.model_copy(update={"targets_at_once": True})
    assert resolve(at_once).workloads[2].target_sets == [("raid", "disk1", "disk2")]


def test_a_workload_runs_only_on_its_own_nodes() -> None:
    given_plan = plan(
        nodes=["petaltail", "greentail"],
        targets=["local", "san"],
        workloads=[
            {"workload": "dd", "nodes": ["petaltail"], "targets": ["local"]},
            {"workload": "dd", "nodes": ["greentail"], "targets": ["san"]},
            {"workload": "create", "targets": ["san"]},
        ],
    )
    resolved = resolve(given_plan)
    assert resolved.cell_count == 4
    assert [(block.nodes, block.targets, block.workload.field) for block in resolved.blocks()] == [
        (("petaltail",), ("local",), "workloads[0]"),
        (("petaltail",), ("san",), "workloads[2]"),
        (("greentail",), ("san",), "workloads[1]"),
        (("greentail",), ("san",), "workloads[2]"),
    ]


def test_nodes_load_alone_all_together_or_more_and_more_of_the_first_named() -> None:
    given_plan = plan(
        nodes=["n1", "n2", "n3"],
        nodes_at_once=[1, 3],
        workloads=[
            {"workload": "dd"},
            {"workload": "create", "nodes_at_once": True},
            {"workload": "fio", "nodes_at_once": False, "nodes": ["n3", "n1"]},
            {"workload": "iozone", "nodes_at_once": [2], "nodes": ["n3", "n1"]},
        ],
    )
    resolved = resolve(given_plan)
    assert [workload.node_sets for workload in resolved.workloads] == [
        [("n1",), ("n1", "n2", "n3")],
        [("n1", "n2", "n3")],
        [("n3",), ("n1",)],
        [("n3", "n1")],
    ]
    assert resolved.cell_count == 6


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"nodes_at_once": [1, 3]}, "nodes_at_once[1]"),
        ({"nodes_at_once": [2], "workloads": [{"workload": "dd", "nodes": ["n1"]}]}, "nodes_at_once[0]"),
        ({"workloads": [{"workload": "dd", "nodes_at_once": [3]}]}, "workloads[0].nodes_at_once[0]"),
    ],
)
def test_more_nodes_at_once_than_there_are_is_refused(changes: dict[str, Any], field: str) -> None:
    with raised(TOO_FEW_NODES) as refusal:
        resolve(plan(**changes))
    assert (refusal.value.status, refusal.value.code, refusal.value.field) == (422, "too_few_nodes", field)


def test_a_node_that_no_count_reaches_is_refused() -> None:
    with raised(NO_WORKLOAD_NAMES_IT) as refusal:
        resolve(plan(nodes=["n1", "n2", "n3"], nodes_at_once=[1, 2]))
    assert refusal.value.field == "nodes[2]"


def test_observers_watch_the_cells_in_which_they_do_not_load() -> None:
    given_plan = plan(
        nodes=["n1", "n2"],
        nodes_at_once=[1, 2],
        observers=["server", "n2"],
        workloads=[
            {"workload": "dd"},
            {"workload": "create", "observers": ["server"]},
            {"workload": "fio", "observers": []},
        ],
    )
    blocks = resolve(given_plan).blocks()
    assert [(block.workload.choice.workload, block.nodes, block.observers) for block in blocks] == [
        ("dd", ("n1",), ["server", "n2"]),
        ("create", ("n1",), ["server"]),
        ("fio", ("n1",), []),
        ("dd", ("n1", "n2"), ["server"]),
        ("create", ("n1", "n2"), ["server"]),
        ("fio", ("n1", "n2"), []),
    ]


@pytest.mark.parametrize(
    ("changes", "kind", "field"),
    [
        ({"observers": ["s", "s"]}, REPEATED_ENTRY, "observers[1]"),
        ({"workloads": [{"workload": "dd", "observers": ["s"]}]}, OBSERVER_NOT_IN_PLAN, "workloads[0].observers[0]"),
        (
            {"observers": ["s"], "workloads": [{"workload": "dd", "observers": []}]},
            NO_WORKLOAD_NAMES_IT,
            "observers[0]",
        ),
        ({"observers": ["s", "n1"], "nodes": ["n1"]}, OBSERVER_LOADS, "observers[1]"),
    ],
)
def test_an_observer_that_observes_nothing_is_refused(changes: dict[str, Any], kind: ErrorKind, field: str) -> None:
    with raised(kind) as refusal:
        resolve(plan(**changes))
    assert (refusal.value.status, refusal.value.field) == (422, field)


@pytest.mark.parametrize("at_once", ["all", [0], [], 2, [True]])
def test_nodes_at_once_is_yes_no_or_counts(at_once: object) -> None:
    with pytest.raises(ValidationError):
        plan(nodes_at_once=at_once)


def test_a_workload_runs_only_in_its_own_stages() -> None:
    given_plan = plan(
        nodes=["n1"],
        targets=["set1", "set2", "stripe"],
        stages=[{"variant": "sets"}, {"variant": "stripe"}, {"variant": "sets"}],
        workloads=[
            {"workload": "dd", "targets": ["set1", "set2"], "variants": ["sets"]},
            {"workload": "dd", "targets": ["stripe"], "variants": ["stripe"]},
        ],
    )
    resolved = resolve(given_plan)
    assert resolved.cell_count == 5
    assert [(block.first, block.stage, block.variant, block.targets) for block in resolved.blocks()] == [
        (1, 1, "sets", ("set1",)),
        (2, 1, "sets", ("set2",)),
        (3, 2, "stripe", ("stripe",)),
        (4, 3, "sets", ("set1",)),
        (5, 3, "sets", ("set2",)),
    ]


def test_a_hundred_thousand_runs_are_allowed_and_one_more_is_not() -> None:
    sizes = list(range(1000))
    resolve(plan(nodes=["n1"], workloads=[{"workload": "dd", "sweep": {"size": sizes}}], repeats=100))
    with raised(CAMPAIGN_TOO_LARGE, match="101000 runs") as refusal:
        resolve(plan(nodes=["n1"], workloads=[{"workload": "dd", "sweep": {"size": sizes}}], repeats=101))
    assert (refusal.value.status, refusal.value.code) == (422, "campaign_too_large")


def test_an_astronomical_matrix_is_refused_without_being_expanded() -> None:
    sweep = {f"option{index}": list(range(1000)) for index in range(50)}
    with raised(CAMPAIGN_TOO_LARGE):
        resolve(plan(workloads=[{"workload": "dd", "sweep": sweep}]))


@pytest.mark.parametrize(
    ("changes", "kind", "field"),
    [
        ({"nodes": ["n1", "n2", "n1"]}, REPEATED_ENTRY, "nodes[2]"),
        ({"targets": ["disk", "disk"]}, REPEATED_ENTRY, "targets[1]"),
        ({"nodes_at_once": [1, 2, 1]}, REPEATED_ENTRY, "nodes_at_once[2]"),
        (
            {"workloads": [{"workload": "dd", "targets": ["disk", "disk"]}]},
            REPEATED_ENTRY,
            "workloads[0].targets[1]",
        ),
        ({"workloads": [{"workload": "dd", "nodes": ["n2", "n2"]}]}, REPEATED_ENTRY, "workloads[0].nodes[1]"),
        ({"workloads": [{"workload": "dd", "nodes": ["n2", "n9"]}]}, NODE_NOT_IN_PLAN, "workloads[0].nodes[1]"),
        ({"workloads": [{"workload": "dd", "variants": ["xfs"]}]}, STAGE_NOT_IN_PLAN, "workloads[0].variants[0]"),
        ({"workloads": [{"workload": "dd", "targets": ["nfs9"]}]}, TARGET_NOT_IN_PLAN, "workloads[0].targets[0]"),
        (
            {"workloads": [{"workload": "dd", "options": {"size": 1}, "sweep": {"size": [1, 2]}}]},
            OPTION_SWEPT_AND_SET,
            "workloads[0].sweep.size",
        ),
    ],
)
def test_a_plan_with_two_equal_cells_is_refused_with_its_field(
    changes: dict[str, Any], kind: ErrorKind, field: str
) -> None:
    with raised(kind) as refusal:
        resolve(plan(**changes))
    assert refusal.value.field == field


@pytest.mark.parametrize(
    ("choice", "field", "value", "narrowed_by"),
    [
        ({"nodes": ["n1"]}, "nodes[1]", "n2", "nodes"),
        ({"targets": ["disk"]}, "targets[1]", "nfs", "targets"),
        ({"variants": ["ext3", "jfs"]}, "stages[1].variant", "xfs", "variants"),
    ],
)
def test_unused_names_in_a_plan_are_refused(choice: dict[str, Any], field: str, value: str, narrowed_by: str) -> None:
    places = {"targets": ["disk", "nfs"], "stages": [{"variant": each} for each in ("ext3", "xfs", "jfs")]}
    with raised(NO_WORKLOAD_NAMES_IT) as refusal:
        resolve(plan(**places, workloads=[{"workload": "dd", **choice}]))
    assert (refusal.value.status, refusal.value.code) == (422, "no_workload_names_it")
    assert (refusal.value.field, refusal.value.value) == (field, value)
    assert refusal.value.remedy == f"remove {value}, or add it to {narrowed_by} of a workload"
    resolve(plan(**places, workloads=[{"workload": "dd", **choice}, {"workload": "create"}]))
