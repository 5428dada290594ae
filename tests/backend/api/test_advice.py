from collections.abc import Callable
from typing import Any

from factories.announced import NOW, hello, mount
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient
from sqlalchemy import event

from iotide_server.accounts.models import Role
from iotide_server.clusters.agents import records as agents
from iotide_server.kit.db import Database, Json
from iotide_server.targets.models import Target, TargetBacking, TargetMount
from iotide_server.trends.points.service import recompute_points
from iotide_wire.catalogue import MetricSpec
from iotide_wire.facts import Facts
from iotide_wire.units import GIB, Unit

THROUGHPUT = MetricSpec(
    name="throughput",
    title="Throughput",
    unit=Unit.BYTES_PER_SECOND,
    better="higher",
    labels=("operation", "file_size_bytes", "writer"),
)
RAID: Facts = {"md.chunk_bytes": 65536, "md.stripe_width_bytes": 131072, "device.stack": "md raid5 / 3 x disk"}
FACTS: Facts = {
    "memory.total_bytes": 16 * GIB,
    "mount.fstype": "xfs",
    "xfs.stripe_unit_bytes": 0,
    "xfs.stripe_width_bytes": 0,
    **RAID,
}
LEVELS = {4: 2e9, 8: 2.1e9, 16: 2e8, 32: 1.9e8}
"""Bytes a second by file size in GiB."""


def ready(database: Database) -> Measured:
    """A node with a target at /scratch that is backed by one at /raid; its agent has not reported /scratch."""
    with database.transaction() as session:
        session.expire_on_commit = False
        measured = Measured(session, NOW)
        measured.workload.metrics = [THROUGHPUT.model_dump(mode="json")]
        mounts = [
            mount("/scratch", "ext4", "scratch"),
            mount("/raid", "xfs", "/dev/md5").model_copy(update={"facts": FACTS}),
        ]
        agents.hello(session, measured.node.id, hello(mounts=mounts), NOW)
        raid = Target(cluster_id=measured.cluster.id, name="raid", path="/raid", scope="node")
        session.add(raid)
        session.flush()
        for target in (measured.target, raid):
            session.add(mounted(target, measured.node.id))
        session.add(TargetBacking(target_id=measured.target.id, backing_id=raid.id))
    return measured


def mounted(target: Target, node_id: int) -> TargetMount:
    return TargetMount(
        target_id=target.id,
        node_id=node_id,
        path=target.path,
        fstype="xfs",
        source="/dev/md5",
        mount_point=target.path,
        mount_options="rw",
        seen_at=NOW,
    )


def sweep(database: Database, measured: Measured, *, runs: int) -> int:
    """Id of a campaign over file sizes, with a throughput that falls from 16 GiB on."""
    with database.transaction() as session:
        measured.session = session
        campaign = measured.campaign()
        for gib, level in LEVELS.items():
            cell = measured.cell(campaign, file_size_bytes=gib * GIB)
            for run in range(runs):
                rate = level * (1 + 0.002 * run)
                number = sample(rate, "throughput", operation="read", file_size_bytes=gib * GIB)
                measured.deliver(cell, finish(NOW, number, environment=FACTS), minutes=run)
            recompute_points(session, cell.id)
        return campaign.id


def asked(client: TestClient, person: Person, path: str, **query: float) -> Json:
    """Return the report; check that its number of SQL statements does not grow with the campaigns."""
    statements: list[str] = []

    def note(*event_arguments: Any) -> None:  # noqa: ANN401 - SQLAlchemy's six arguments
        statements.append(event_arguments[2])

    engine = client.app.state.database.engine  # type: ignore[attr-defined] # Starlette's own
    event.listen(engine, "before_cursor_execute", note)
    answer = client.get(f"/api/v1/{path}/advice", params=query, headers=person.headers)
    event.remove(engine, "before_cursor_execute", note)
    assert answer.status_code == 200, answer.text
    assert len(statements) <= 20
    found: Json = answer.json()
    return found


def test_a_campaign_is_advised_by_the_facts_that_its_runs_saw(
    client: TestClient, admin: Person, database: Database
) -> None:
    report = asked(client, admin, f"campaigns/{sweep(database, ready(database), runs=4)}")
    stripes, below, _, cliff = report["advice"]
    assert [one["code"] for one in report["advice"]] == ["stripe_misaligned"] * 2 + ["fits_in_memory", "cliff"]
    assert [(one["subjects"], one["commands"]) for one in (stripes, below)] == [
        (["scratch on node1"], ["mkfs.xfs -d su=65536,sw=2 /dev/md5"]),
        (["raid"], ["mkfs.xfs -d su=65536,sw=2 DEVICE"]),
    ]
    chunk = next(one for one in stripes["evidence"] if one["name"] == "md.chunk_bytes")
    assert (chunk["value"], chunk["unit"], len(chunk["run_ids"])) == (65536, "bytes", 1)
    assert "memory.total_bytes of node1 (16 GiB)" in cliff["explanation"]
    assert len(cliff["evidence"][0]["run_ids"]) == 4
    assert (report["cells"], report["is_cut"], report["not_known"]) == (len(LEVELS), False, [])


def test_advice_on_a_target_uses_its_newest_campaigns_and_the_latest_reports_of_agents(
    client: TestClient, admin: Person, database: Database
) -> None:
    measured = ready(database)
    empty = asked(client, admin, f"targets/{measured.target.id}")
    assert [one["subjects"] for one in empty["advice"]] == [["raid on node1"]]
    assert (empty["places"], empty["cells"], len(empty["looked_at"])) == (2, 0, 15)
    for _ in range(2):
        sweep(database, measured, runs=1)
    report = asked(client, admin, f"targets/{measured.target.id}")
    assert {one["code"]: one["subjects"] for one in report["advice"]} == {
        "stripe_misaligned": ["raid on node1"],
        "fits_in_memory": ["dd on scratch from node1"],
        "cliff": ["dd on scratch from node1"],
    }
    assert report["cells"] == len(LEVELS), "the newer of two equal campaigns is evaluated"


def test_only_who_may_see_the_cluster_is_advised(
    client: TestClient, database: Database, make_person: Callable[..., Person]
) -> None:
    measured = ready(database)
    with database.transaction() as session:
        measured.session = session
        campaign_id = measured.campaign().id
        other = Measured(session, NOW, name="other").cluster.id
    vera = make_person("vera", Role.VIEWER, measured.cluster.id)
    otto = make_person("otto", Role.VIEWER, other)
    for path, code in (
        (f"targets/{measured.target.id}", "target_not_found"),
        (f"campaigns/{campaign_id}", "campaign_not_found"),
    ):
        asked(client, vera, path)
        refused = client.get(f"/api/v1/{path}/advice", headers=otto.headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, code)


def test_a_claim_below_one_is_refused_by_name(client: TestClient, admin: Person) -> None:
    answer = client.get("/api/v1/campaigns/1/advice?claimed_ratio=0.5", headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (422, "invalid_input", "claimed_ratio")
