"""Plans of one program over several nodes: its nodes' parts, what is refused, and what a preview says."""

from collections.abc import Callable
from typing import Any

import pytest
from factories.announced import workload
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.kit.clock import Clock
from iotide_server.kit.db import Database
from iotide_server.kit.digests import canonical_sha256
from iotide_server.workloads import service as workloads
from iotide_wire.expressions import Number, Option
from iotide_wire.units import GIB, MIB

CAMPAIGNS = "/api/v1/campaigns"
OPTIONS = {
    "type": "object",
    "properties": {
        "tasks": {"type": "integer", "minimum": 1},
        "program_per_node": {"type": "boolean"},
        "size_bytes": {"type": "integer", "x-unit": "bytes"},
    },
    "additionalProperties": False,
}
RANKS = workload(
    "ranks",
    options_schema=OPTIONS,
    option_defaults={"tasks": 2, "program_per_node": False, "size_bytes": MIB},
    bytes_needed=Option.of("tasks") * Option.of("size_bytes"),
    bytes_moved=Option.of("tasks") * Option.of("size_bytes") * 2,
    own_programs=Option.of("program_per_node"),
)
ALWAYS = workload(
    "always",
    options_schema=OPTIONS,
    option_defaults={"size_bytes": MIB},
    bytes_needed=Option.of("size_bytes"),
    bytes_moved=Option.of("size_bytes"),
    own_programs=Number.of(0),
)
ROLES = """
    SELECT cell.ordinal, node.name || coalesce(' ' || step_role, '') FROM cell JOIN cell_node ON cell_id = cell.id
    JOIN node ON node.id = node_id ORDER BY cell.ordinal, node.id
"""

MakePlan = Callable[..., dict[str, Any]]


@pytest.fixture
def plan(database: Database, clock: Clock) -> MakePlan:
    """Return a plan of `ranks` on all three nodes at once; each has an address, and the target is shared."""
    with database.transaction() as session:
        ready = ReadyCluster(session, clock(), node_count=3)
        for number, node in enumerate(ready.nodes, start=1):
            node.facts = node.facts | {"data.address": f"10.1.0.{number}"}
            node.boot_id = f"boot-{number}"
            workloads.announce(session, node, [RANKS, ALWAYS])
        ready.add_target("nfs", scope="shared")

    def ranks(
        workload: str = "ranks", sweep: object = None, options: object = None, **changes: object
    ) -> dict[str, Any]:
        choice = {"workload": workload, "options": options or {}, "sweep": sweep or {}}
        usual = {"nodes_at_once": True, "targets": ["nfs"], "repeats": 1, "workloads": [choice]}
        return ready.plan(**{**usual, **changes})

    return ranks


Submit = Callable[[dict[str, Any]], dict[int, list[str]]]


@pytest.fixture
def submit(client: TestClient, admin: Person, database: Database) -> Submit:
    """Submit a plan; return the nodes of each cell, with their parts."""

    def parts(plan: dict[str, Any]) -> dict[int, list[str]]:
        answer = client.post(CAMPAIGNS, json=plan, headers=admin.headers)
        assert answer.status_code == 201, answer.text
        found: dict[int, list[str]] = {}
        with database.transaction() as session:
            for ordinal, node in session.execute(text(ROLES)):
                found.setdefault(ordinal, []).append(node)
        return found

    return parts


def change(database: Database, statement: str) -> None:
    with database.transaction() as session:
        session.execute(text(statement))


def refusal(client: TestClient, admin: Person, plan: dict[str, Any]) -> tuple[str, str, dict[str, str]]:
    """Return code, field and all of the error that preview and submission both answer."""
    errors = [
        client.post(path, json=plan, headers=admin.headers).json()["error"]
        for path in (f"{CAMPAIGNS}/preview", CAMPAIGNS)
    ]
    assert errors[0]["message"] == errors[1]["message"]
    return errors[1]["code"], errors[1]["field"], errors[1]


def test_the_first_node_that_the_plan_mentions_is_the_head(submit: Submit, plan: MakePlan) -> None:
    assert submit(plan(nodes=["n2", "n1", "n3"])) == {1: ["n1 member", "n2 head", "n3 member"]}


def test_one_node_has_no_head_and_each_count_of_nodes_has_one(submit: Submit, plan: MakePlan) -> None:
    parts = submit(plan(nodes_at_once=[1, 2, 3]))
    assert parts == {1: ["n1"], 2: ["n1 head", "n2 member"], 3: ["n1 head", "n2 member", "n3 member"]}


def test_nodes_that_load_one_after_the_other_start_their_own_programs(submit: Submit, plan: MakePlan) -> None:
    assert submit(plan(nodes_at_once=False)) == {1: ["n1"], 2: ["n2"], 3: ["n3"]}


def test_a_swept_choice_of_programs_decides_each_cell(submit: Submit, plan: MakePlan) -> None:
    swept = {"tasks": [1, 2], "program_per_node": [False, True]}
    parts = submit(plan("ranks", swept))
    one, own = ["n1 head", "n2 member", "n3 member"], ["n1", "n2", "n3"]
    assert parts == {1: one, 2: own, 3: one, 4: own}


def test_a_workload_without_that_choice_is_always_one_program(submit: Submit, plan: MakePlan) -> None:
    assert submit(plan("always")) == {1: ["n1 head", "n2 member", "n3 member"]}


def test_a_program_for_each_node_needs_neither_addresses_nor_a_shared_target(
    submit: Submit, plan: MakePlan, database: Database
) -> None:
    change(database, "UPDATE node SET facts = facts - 'data.address'")
    parts = submit(plan(targets=["scratch"], options={"program_per_node": True}))
    assert parts == {1: ["n1", "n2", "n3"]}


@pytest.mark.parametrize(
    ("changed", "node", "says"),
    [
        ("UPDATE node SET facts = facts - 'data.address' WHERE name = 'n3'", "n3", "n3 has no address"),
        ("UPDATE node SET facts = facts - 'data.address' WHERE name = 'n1'", "n1", "n1 has no address"),
        (
            "UPDATE node SET facts = facts || '{\"data.address\": \"127.0.0.1\"}' WHERE name = 'n2'",
            "n2",
            "n2 receives only at 127.0.0.1, where n1 cannot reach it",
        ),
        (
            'UPDATE node SET facts = facts || \'{"data.address": "127.0.0.1"}\'',
            "n1",
            "n1 receives only at 127.0.0.1, where n2 cannot reach it",
        ),
        (
            "UPDATE node SET facts = facts || '{\"data.address\": \"10.1.0.1\"}' WHERE name = 'n3'",
            "n3",
            "n3 has the address 10.1.0.1, which n1 has, too",
        ),
    ],
)
def test_a_node_that_the_others_cannot_reach_is_refused_with_the_remedy(
    client: TestClient, admin: Person, plan: MakePlan, database: Database, changed: str, node: str, says: str
) -> None:
    change(database, changed)
    code, field, error = refusal(client, admin, plan())
    assert (code, field) == ("gang_unreachable", "nodes_at_once")
    assert f"ranks is one program over 3 nodes, but {says}" in error["message"]
    assert f"data_address in agent.toml of {node}" in error["remedy"]


def test_agents_of_one_machine_reach_each_other_by_loopback(submit: Submit, plan: MakePlan, database: Database) -> None:
    change(database, "UPDATE node SET boot_id = 'same'")
    change(database, "UPDATE node SET facts = jsonb_build_object('data.address', '127.0.0.' || substr(name, 2))")
    assert submit(plan()) == {1: ["n1 head", "n2 member", "n3 member"]}


def test_a_target_of_each_node_alone_is_refused_and_the_way_out_is_named(
    client: TestClient, admin: Person, plan: MakePlan
) -> None:
    code, field, error = refusal(client, admin, plan(targets=["scratch"]))
    assert (code, field) == ("gang_target_not_shared", "nodes_at_once")
    assert "target scratch is another file system on each node" in error["message"]
    assert error["remedy"] == "use a shared target, or set program_per_node: true to start a program on each node"
    _, _, without_choice = refusal(client, admin, plan("always", targets=["scratch"]))
    assert without_choice["remedy"] == "use a shared target"


def test_several_targets_at_once_are_refused_and_not_declined_by_the_agents(
    client: TestClient, admin: Person, plan: MakePlan, submit: Submit
) -> None:
    together = {"targets": ["nfs", "scratch"], "targets_at_once": True}
    code, field, error = refusal(client, admin, plan(**together))
    assert (code, field) == ("gang_several_targets", "targets_at_once")
    assert "works on one target, not on 2 at once" in error["message"]
    assert "or set program_per_node: true" in error["remedy"]
    assert submit(plan(options={"program_per_node": True}, **together)) == {1: ["n1", "n2", "n3"]}


def preview(client: TestClient, admin: Person, plan: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(f"{CAMPAIGNS}/preview", json=plan, headers=admin.headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_preview_says_which_runs_are_one_program(client: TestClient, admin: Person, plan: MakePlan) -> None:
    shown = preview(client, admin, plan("ranks", {"tasks": [1, 4]}, nodes_at_once=[1, 3]))
    assert [cell["program"] for cell in shown["cells"]] == [
        None,
        None,
        "one program over 3 nodes x 1 task",
        "one program over 3 nodes x 4 tasks",
    ]
    assert preview(client, admin, plan("always"))["cells"][0]["program"] == "one program over 3 nodes"
    own = preview(client, admin, plan(options={"program_per_node": True}))
    assert own["cells"][0]["program"] is None


def test_one_program_fills_a_shared_target_from_each_of_its_nodes(
    client: TestClient, admin: Person, plan: MakePlan
) -> None:
    """An announced size is that of one node's tasks, whether they belong to one program or to several."""
    shown = preview(client, admin, plan(options={"size_bytes": GIB}))
    assert shown["bytes_peak"] == shown["cells"][0]["bytes_needed"] == 3 * 2 * GIB
    assert (shown["bytes_moved"], shown["wear"][0]["bytes_least"]) == (3 * 4 * GIB, 3 * 2 * GIB)
    assert shown["wear"][0]["bytes_most"] == 3 * 4 * GIB
    code, _, error = refusal(client, admin, plan(options={"size_bytes": GIB, "tasks": 3}))
    assert code == "not_enough_space"
    assert "nfs on n1, n2, n3" in error["message"]


def test_only_one_program_has_the_choice_in_its_series(submit: Submit, plan: MakePlan, database: Database) -> None:
    """Several programs, and single nodes, continue the series of revisions without the choice."""
    submit(plan("ranks", {"program_per_node": [False, True]}, nodes=["n1", "n2"], nodes_at_once=[1, 2]))
    with database.transaction() as session:
        found = list(session.scalars(text("SELECT options_sha256 FROM cell ORDER BY ordinal")))
    before = canonical_sha256({})
    assert found == [before, before, canonical_sha256({"program_per_node": False}), before]
