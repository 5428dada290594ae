"""Orders of a program over two nodes: the cards of both agents, the endpoint, the start signal, and the results."""

import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent.made_orders import make_order
from agent.mpi.gang_rig import HEAD, MEMBER, PROXY, SCRIPTS
from agent.order_rig import target_card
from agent.runs_node import Node
from factories.mpi import mpi_settings

from iotide_agent.core.protocol import Prepared, Release, ReportedOrder, RunnerEnded, SendHeartbeat, Stage
from iotide_agent.orders.declined import DeclinedError
from iotide_agent.orders.plan import read_plan
from iotide_agent.runner.card import Card, read_card
from iotide_agent.runner.files import read_json
from iotide_wire.endpoint import Endpoint, NamedEndpoint
from iotide_wire.expressions import Number
from iotide_wire.measured import StepRole
from iotide_wire.messages import FinishRequest, GangNode, Order, OrderTarget, Outcome
from iotide_wire.units import KIB

GANG = (GangNode(name="n1", address=HEAD), GangNode(name="n2", address=MEMBER))
MPI = {"kind": "mpich", "launcher": [str(SCRIPTS / "mpiexec.hydra")], "programs": [PROXY], "interface": "lo"}
OPTIONS = {"tasks": 2, "transfer_size_bytes": 64 * KIB, "transfers_per_block": 4, "segments": 1}
MakeNode = Callable[..., Node]


@pytest.fixture
def make_node(tmp_path: Path) -> Iterator[MakeNode]:
    """Yield a maker of nodes with the same approved directory."""
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o700)
    nodes: list[Node] = []

    def make(address: str = HEAD, **settings: object) -> Node:
        base = tmp_path / f"node-{len(nodes)}"
        base.mkdir()
        own = {"mpi": MPI, "data_address": address, "workloads": {"ior": mpi_settings("ior")}}
        node = Node(base, **{"approved_directories": [str(shared)], **own, **settings})
        node.target = shared
        nodes.append(node)
        return node

    yield make
    for node in nodes:
        node.close()


def order_of(node: Node, role: StepRole, **changes: object) -> Order:
    """Return the order of a head, with id 1, or of a member, with id 2."""
    workload = node.executor.inventory.workloads[str(changes.get("workload", "ior"))]
    card = target_card(node.target)
    target = OrderTarget(target_id=1, name="t", path=card.path, fstype=card.fstype, source=card.source, reserve_bytes=0)
    values: dict[str, Any] = {
        "run_id": 100,
        "fence": 5,
        "workload": "ior",
        "workload_revision": workload.revision,
        "schema_sha256": workload.schema_sha256,
        "options": workload.option_defaults | OPTIONS,
        "targets": (target,),
        "step_role": role,
        "gang": GANG,
        "directory_order_id": 1,
    }
    return make_order(1 if role is StepRole.HEAD else 2, **(values | changes))


def card_of(node: Node, role: StepRole, **changes: object) -> Card:
    order = order_of(node, role, **changes)
    return node.executor._card(order, node.executor.work(order))


def test_head_and_member_get_the_same_attempt_and_directory_and_only_the_head_makes_it(make_node: MakeNode) -> None:
    heads = {"mpi": MPI | {"heads": ["127.0.0.0/8"]}}
    head, member = card_of(make_node(HEAD), StepRole.HEAD), card_of(make_node(MEMBER, **heads), StepRole.MEMBER)
    assert head.attempt == member.attempt == "100-5"
    assert head.directory_name == member.directory_name == "iotide-run-100-1-1"
    assert [(one.writes, one.shared) for one in (*head.targets, *member.targets)] == [(True, False), (False, True)]
    assert head.gang is not None
    assert member.gang is not None
    assert (head.gang.is_head, member.gang.is_head) == (True, False)
    assert head.gang.nodes == member.gang.nodes == (("n1", HEAD), ("n2", MEMBER))
    assert (head.gang.tasks_per_node, head.gang.interface, head.gang.ports) == (2, "lo", (46_000, 46_199))
    assert (member.gang.programs, member.gang.heads) == ((PROXY,), ("127.0.0.0/8",))
    assert member.listen_address == MEMBER
    assert head.environment["UCX_NET_DEVICES"] == "lo"
    assert not any(name.startswith("IOTIDE") for name in head.environment)


def test_the_head_needs_the_space_of_all_nodes_and_each_node_the_budget_of_its_own(make_node: MakeNode) -> None:
    budget = {"budget": {str(make_node().target): 10 * 64 * KIB}}
    head, member = make_node(HEAD, **budget), make_node(MEMBER, **budget)
    of_node = 2 * 4 * 64 * KIB
    assert [card_of(head, StepRole.HEAD).targets[0].bytes_needed] == [2 * of_node]
    for node, role in ((head, StepRole.HEAD), (member, StepRole.MEMBER)):
        node.executor._reserve(card_of(node, role))
        assert node.executor._ledger.spent_bytes(str(node.target)) == of_node


REFUSALS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no_mpi": ({"mpi": None}, {}, "agent.toml of this node has no [mpi]; add it (docs/mpi.md)"),
    "data_address_changed": ({"data_address": "127.0.0.9"}, {}, "planned for 127.0.0.1 on this node, but its data_add"),
    "data_address_twice": ({}, {"gang": (GANG[0], GANG[1].model_copy(update={"address": HEAD}))}, "give each node its"),
    "one_target_only": ({}, {"targets": 2}, "one program over several nodes works on one"),
    "no_gang_program": ({}, {"program_per_node": True}, "starts a program of its own on each node with these options"),
    "too_few_ports": ({}, {"tasks": 200}, "200 tasks per node need a port each, and 20 are the launcher's; `ports` of"),
    "part_not_allowed": ({}, {"workload": "iozone"}, "add its path to programs of [mpi]"),
}


@pytest.mark.parametrize("code", REFUSALS)
def test_a_node_that_cannot_take_part_declines_with_the_remedy(make_node: MakeNode, code: str) -> None:
    settings, wrong, words = REFUSALS[code]
    node = make_node(**settings)
    plain = order_of(node, StepRole.HEAD)
    changes: dict[str, Any] = {"gang": wrong["gang"]} if "gang" in wrong else {}
    if "targets" in wrong:
        changes["targets"] = tuple(plain.targets[0].model_copy(update={"target_id": number}) for number in (1, 2))
    if "workload" in wrong:
        defaults = node.executor.inventory.workloads["iozone"].option_defaults
        changes |= {
            "workload": "iozone",
            "options": defaults | {"cluster": True, "mode": "throughput", "stone_walling": False},
        }
    if options := {name: wrong[name] for name in ("tasks", "program_per_node") if name in wrong}:
        changes["options"] = plain.options | options
    with pytest.raises(DeclinedError) as declined:
        card_of(node, StepRole.HEAD, **changes)
    assert declined.value.verdict.code == code
    assert words in str(declined.value)


def test_a_member_takes_no_head_outside_the_networks_of_its_agent_toml(make_node: MakeNode) -> None:
    settings = {"mpi": MPI | {"heads": ["10.1.0.0/24"]}}
    with pytest.raises(DeclinedError, match=r"add its network to heads of \[mpi\]") as declined:
        card_of(make_node(MEMBER, **settings), StepRole.MEMBER)
    assert declined.value.verdict.code == "head_not_allowed"
    assert card_of(make_node(HEAD, **settings), StepRole.HEAD).gang is not None


def test_a_start_signal_shows_no_token_in_a_log() -> None:
    endpoint = Endpoint(address=MEMBER, ports=(20_000,), token="ab" * 16)
    assert "abab" not in repr(Release(1, None, endpoint, (NamedEndpoint(node="n2", endpoint=endpoint),)))


def test_an_order_of_a_server_before_wire_version_3_is_taken_and_one_of_another_revision_is_not(
    make_node: MakeNode,
) -> None:
    node = make_node()
    announced = node.executor.inventory.workloads["ior"]
    older = announced.model_copy(update={"own_programs": Number.of(1)}).schema_sha256
    assert older != announced.schema_sha256
    order = order_of(node, StepRole.CLIENT, gang=(), directory_order_id=None, schema_sha256=older)
    assert node.executor._work_here(order).layout is None
    with pytest.raises(DeclinedError, match="planned for another revision of ior"):
        node.executor._work_here(order.model_copy(update={"schema_sha256": "0" * 64}))


def prepare(node: Node, role: StepRole, **changes: object) -> int:
    """Begin an order and return its id, once it is prepared."""
    order = order_of(node, role, **changes)
    node.spool.keep_order(order)
    node.runs.begin(order)

    def is_prepared() -> bool:
        node.runs.look()
        assert not node.spool.files(order.order_id).result.exists(), node.spool.result(order.order_id).reason
        assert not any(isinstance(event, RunnerEnded) for event in node.events), log_of(node, order.order_id)
        return Prepared(order.order_id) in node.events

    node.until(is_prepared)
    return order.order_id


def log_of(node: Node, order_id: int) -> str:
    directory = node.spool.files(order_id).directory
    return f"{(directory / 'runner.log').read_text()} {read_json(directory / 'exit.json')}"


def endpoint_of(node: Node, order_id: int, stage: Stage = Stage.READY) -> Endpoint | None:
    (said,) = node.runs.heartbeat_of(SendHeartbeat(1, (ReportedOrder(order_id, stage),)))
    return said.endpoint


def result_of(node: Node, order_id: int) -> FinishRequest:
    node.runs.collect(order_id)
    return FinishRequest.model_validate_json(node.spool.files(order_id).result.read_bytes())


def run_both(head: Node, member: Node) -> tuple[FinishRequest, FinishRequest]:
    """Give two prepared orders the start signal, and return the results of head and member."""
    endpoint = endpoint_of(member, 2)
    assert endpoint is not None
    head.runs.release(1, None, None, (NamedEndpoint(node="n2", endpoint=endpoint),))
    member.runs.release(2, None)
    for node, order_id in ((head, 1), (member, 2)):
        node.until(lambda node=node, order_id=order_id: RunnerEnded(order_id) in node.events)  # type: ignore[misc]
    return result_of(head, 1), result_of(member, 2)


def test_two_agents_run_ior_as_one_program_and_the_head_alone_has_its_numbers(make_node: MakeNode) -> None:
    head, member = make_node(HEAD), make_node(MEMBER)
    prepare(head, StepRole.HEAD)
    prepare(member, StepRole.MEMBER)
    assert endpoint_of(head, 1) is None
    endpoint = endpoint_of(member, 2)
    assert endpoint is not None
    assert (endpoint.address, len(endpoint.ports), len(endpoint.token)) == (MEMBER, 1, 32)
    assert endpoint_of(member, 2, Stage.RELEASED) is None
    assert not member.spool.files(2).endpoint.exists(), "the loads get that file"
    of_head, of_member = run_both(head, member)
    assert stat.S_IMODE((head.spool.files(1).directory / "members.json").stat().st_mode) == 0o600
    assert (of_head.outcome, of_head.reason) == (Outcome.FINISHED, None), log_of(head, 1)
    assert of_member.outcome is Outcome.FINISHED
    assert {sample.metric for sample in of_head.samples} >= {"throughput", "start_skew"}
    assert {sample.labels.get("writer") for sample in of_head.samples if sample.metric == "throughput"} >= {"n1", "n2"}
    assert of_member.samples == ()
    assert [step.name for step in of_head.steps] == [step.name for step in of_member.steps] == ["write", "read"]
    assert {step.role for step in of_head.steps} == {StepRole.HEAD}
    assert {step.role for step in of_member.steps} == {StepRole.MEMBER}
    assert of_head.steps[0].argv[0] == MPI["launcher"][0]
    assert of_member.steps[0].argv[0] == PROXY
    assert (of_head.environment["mpi.kind"], of_head.environment["mpi.version"]) == ("mpich", "5.0.2")
    assert of_member.curves
    assert list(head.target.iterdir()) == []
    plan = read_plan(head.spool.files(1))
    assert plan is not None
    assert [place.layout and place.layout.nodes for place in plan.places] == [("n1", "n2")]


def test_a_start_signal_without_a_member_ends_the_head(make_node: MakeNode) -> None:
    head = make_node(HEAD)
    prepare(head, StepRole.HEAD)
    head.runs.release(1, None)
    head.until(lambda: RunnerEnded(1) in head.events)
    result = result_of(head, 1)
    assert (result.outcome, result.reason_code, result.steps) == (Outcome.FAILED, "members_missing", ())
    assert "no endpoint of n2" in str(result.reason)
    assert not head.spool.files(1).go.exists()
    assert read_card(head.spool.files(1).directory).gang is not None


def test_two_agents_run_iozone_as_one_program_whose_parts_it_starts_itself(make_node: MakeNode) -> None:
    iozone = shutil.which("iozone")
    assert iozone is not None, "install iozone3"
    allowed = {"mpi": {**MPI, "programs": [PROXY, iozone]}}
    head, member = make_node(HEAD, **allowed), make_node(MEMBER, **allowed)
    known = head.executor.inventory.workloads["iozone"].option_defaults
    options = {"cluster": True, "mode": "throughput", "stone_walling": False, "processes": 2, "tests": ["write"]}
    changes = {
        "workload": "iozone",
        "options": known | options | {"file_size_bytes": 1024 * KIB, "max_record_size_bytes": 64 * KIB},
    }
    prepare(head, StepRole.HEAD, **changes)
    prepare(member, StepRole.MEMBER, **changes)
    of_head, of_member = run_both(head, member)
    assert (of_head.outcome, of_head.reason) == (Outcome.FINISHED, None), log_of(head, 1) + log_of(member, 2)
    assert of_member.outcome is Outcome.FINISHED
    assert {sample.labels.get("writer") for sample in of_head.samples} == {None, "n1", "n2"}
    assert "mpiexec" not in of_head.steps[0].argv[0]
    assert of_member.steps[0].argv[0] == iozone
    assert list(head.target.iterdir()) == []
