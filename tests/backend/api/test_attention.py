"""The status board's list of schedules, mounts, targets and nodes that need attention."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from factories.announced import NOW
from factories.histories import confirmed_change, history, levels
from factories.measured import Measured
from factories.people import Person
from factories.schedules import add_schedule
from fastapi.testclient import TestClient
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.alerts.raising import raise_alerts
from iotide_server.campaigns.models import Cell
from iotide_server.clusters.models import Drain, NodeHeartbeat
from iotide_server.kit.db import Database
from iotide_server.results.models import Point
from iotide_server.runs.models import Run
from iotide_server.schedules.models import Firing, Schedule
from iotide_server.targets.models import TargetMount

DAY = timedelta(days=1)
GONE = "nothing is mounted there any more; mount it again, or retire the target"


def attention(client: TestClient, person: Person) -> list[dict[str, Any]]:
    answer = client.get("/api/v1/board", headers=person.headers)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["attention"]
    return items


def site(session: Session) -> Measured:
    """A cluster whose node sends heartbeats."""
    measured = Measured(session, NOW)
    session.add(NodeHeartbeat(node_id=measured.node.id, seen_at=NOW))
    return measured


def fired(measured: Measured, outcomes: Sequence[str | None], state: str = "active") -> Schedule:
    """Make a schedule that fired daily until yesterday, with runs that ended with this outcome; None: with a
    problem.
    """
    session = measured.session
    made = add_schedule(session, measured.cluster.id, NOW + DAY, state=state)
    for number, outcome in enumerate(outcomes):
        at = NOW - (len(outcomes) - number) * DAY
        firing = Firing(schedule_id=made.id, planned_at=at, fired_at=at)
        if outcome is None:
            firing.problem = "there is no node n1"
        else:
            cell = measured.cell()
            firing.campaign_id = cell.campaign_id
            run = measured.run(cell)
            run.state = "finished" if outcome == "rejected" else outcome
            run.validity = "rejected" if outcome == "rejected" else "valid"
            run.flags = [{"code": "WRONG_MOUNT", "effect": "rejected"}] if outcome == "rejected" else []
            if outcome == "failed":
                run.reason_code, run.reason = "wrong_mount", "/scratch is on /"
        session.add(firing)
    session.flush()
    return made


def mount(target_id: int, node_id: int, problem: str | None = None) -> TargetMount:
    return TargetMount(
        target_id=target_id,
        node_id=node_id,
        path="/scratch",
        fstype="xfs",
        source="/dev/sda1",
        mount_options="rw",
        seen_at=NOW - 3 * DAY,
        problem=problem,
    )


def test_a_schedule_that_failed_twice_in_a_row_is_named_with_the_mount_that_its_runs_missed_until_it_succeeds(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = site(session)
        made = fired(measured, ["finished", "failed", "cancelled", "failed", "active"])
        other = measured.add_node("node2", measured.cell())
        session.add(NodeHeartbeat(node_id=other.id, seen_at=NOW))
        session.add_all(mount(measured.target.id, node_id) for node_id in (measured.node.id, other.id))
        schedule_id, node_id = made.id, measured.node.id
    lost, failing = attention(client, admin)
    assert (failing["kind"], failing["schedule_id"]) == ("failing_schedule", schedule_id)
    words = f"nightly failed 2 times in a row since {NOW - 4 * DAY:%-d %b %Y}: /scratch is not mounted on node1"
    assert (failing["words"], failing["since"]) == (words, (NOW - 4 * DAY).isoformat().replace("+00:00", "Z"))
    assert failing["remedy"] == "fix the cause, then run the schedule now"
    assert (lost["kind"], lost["words"]) == ("lost_mount", "/scratch (scratch) is not mounted on node1")
    assert (lost["node_id"], lost["since"]) == (node_id, failing["since"])
    with database.transaction() as session:
        session.execute(update(Run).where(Run.state == "active").values(state="finished"))
    assert attention(client, admin) == []


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [(["rejected", "rejected"], "WRONG_MOUNT"), ([None, None, None], "there is no node n1")],
)
def test_runs_without_a_valid_one_and_plans_that_cannot_be_submitted_are_failures(
    client: TestClient, admin: Person, database: Database, outcomes: list[str | None], reason: str
) -> None:
    with database.transaction() as session:
        fired(site(session), outcomes)
    (item,) = attention(client, admin)
    assert item["words"].startswith(f"nightly failed {len(outcomes)} times in a row since ")
    assert item["words"].endswith(f": {reason}")


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        (["failed", "failed", "finished"], "active"),
        (["failed"], "active"),
        (["failed", "failed"], "paused"),
        ([], "active"),
    ],
)
def test_a_schedule_that_succeeded_failed_once_was_paused_or_never_fired_is_not_failing(
    client: TestClient, admin: Person, database: Database, outcomes: list[str | None], state: str
) -> None:
    with database.transaction() as session:
        fired(site(session), outcomes, state)
    assert attention(client, admin) == []


def test_a_schedule_that_was_due_and_did_not_fire_is_named(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        made = fired(site(session), [])
        made.due_at = NOW - timedelta(hours=2)
    (item,) = attention(client, admin)
    assert (item["kind"], item["words"]) == (
        "overdue_schedule",
        "nightly was due at 2026-11-21 08:00:00 UTC but has not fired",
    )


def test_lost_mounts_and_vanished_targets_are_named_until_they_are_there_again_or_retired(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = site(session)
        target_id, node_id = measured.target.id, measured.node.id
        other = measured.add_node("node2", measured.cell())
        session.add_all(
            [NodeHeartbeat(node_id=other.id, seen_at=NOW), mount(target_id, node_id), mount(target_id, other.id, GONE)]
        )
        other_id = other.id
    (item,) = attention(client, admin)
    since = (NOW - 3 * DAY).isoformat().replace("+00:00", "Z")
    assert (item["kind"], item["words"]) == ("lost_mount", "/scratch (scratch) is not mounted on node2")
    assert (item["since"], item["target_id"], item["node_id"]) == (since, target_id, other_id)
    with database.transaction() as session:
        session.get_one(TargetMount, (target_id, node_id)).problem = GONE
    (item,) = attention(client, admin)
    assert (item["kind"], item["target_id"]) == ("vanished_target", target_id)
    with database.transaction() as session:
        for on in (node_id, other_id):
            session.get_one(TargetMount, (target_id, on)).problem = None
    assert attention(client, admin) == []


def test_nodes_without_a_heartbeat_are_named_unless_they_are_drained(
    client: TestClient, admin: Person, database: Database
) -> None:
    with database.transaction() as session:
        measured = Measured(session, NOW)
        node_id = measured.node.id
        measured.node.created_at = NOW - DAY
    (item,) = attention(client, admin)
    assert (item["kind"], item["words"], item["node_id"]) == (
        "silent_nodes",
        "node1 has never sent a heartbeat",
        node_id,
    )
    with database.transaction() as session:
        session.add(NodeHeartbeat(node_id=node_id, seen_at=NOW - timedelta(minutes=6)))
    (item,) = attention(client, admin)
    assert item["words"] == "node1 has sent no heartbeat"
    with database.transaction() as session:
        cluster_id = measured.cluster.id
        session.add(Drain(kind="node", subject_id=node_id, cluster_id=cluster_id, reason="", by="ada", since=NOW))
    assert attention(client, admin) == []


def test_items_of_other_clusters_are_not_shown(
    client: TestClient, admin: Person, database: Database, make_person: Callable[..., Person]
) -> None:
    with database.transaction() as session:
        fired(site(session), ["failed", "failed"])
        elsewhere = Measured(session, NOW, name="elsewhere")
        session.add(NodeHeartbeat(node_id=elsewhere.node.id, seen_at=NOW))
        elsewhere_id = elsewhere.cluster.id
    assert attention(client, admin) != []
    assert attention(client, make_person("eve", Role.VIEWER, elsewhere_id)) == []


def test_a_node_below_its_peers_is_named_while_its_newest_point_has_the_mark(
    client: TestClient, admin: Person, database: Database
) -> None:
    peers = {"kind": "nodes", "metric": "write_rate", "peer_count": 3, "difference_ratio": -0.241}
    flag = {"code": "PEER_ODD", "effect": "marked", "measured": "305 MB/s", "limit": "5 %", "peers": peers}
    with database.transaction() as session:
        measured = site(session)
        series = history(measured, levels((3, 100.0)), first_day=-3)
        newest = session.scalars(select(Point).where(Point.series_id == series.id).order_by(Point.at.desc())).first()
        assert newest is not None
        newest.flags = ["PEER_ODD"]
        run = measured.run(session.get_one(Cell, newest.cell_id))
        run.state, run.flags = "finished", [flag]
        node_id, point_id = measured.node.id, newest.id
    (item,) = attention(client, admin)
    assert (item["kind"], item["node_id"], item["workload"]) == ("outlier_node", node_id, "dd")
    assert item["words"] == "node1: dd write rate 24.1 % below the median of 3 nodes"
    assert item["remedy"] == "compare it with its peers"
    with database.transaction() as session:
        session.get_one(Point, point_id).flags = []
    assert attention(client, admin) == []


def open_an_incident(database: Database) -> None:
    with database.transaction() as session:
        measured = site(session)
        series = history(measured, levels((12, 100.0), (8, 80.0)), first_day=-20)
        confirmed_change(session, series, NOW - 8 * DAY, 100.0, 80.0)
        raise_alerts(session, series.id)


def test_open_incidents_of_a_cluster_are_one_item_until_they_are_acknowledged(
    client: TestClient, admin: Person, database: Database
) -> None:
    open_an_incident(database)
    (item,) = attention(client, admin)
    assert (item["kind"], item["words"]) == ("open_incidents", "1 open incident of dd")
    assert item["since"] == (NOW - 8 * DAY).isoformat().replace("+00:00", "Z")
    (cell,) = client.get("/api/v1/board", headers=admin.headers).json()["cells"]
    assert cell["open_incidents"] == 1
    (incident,) = client.get("/api/v1/incidents", headers=admin.headers).json()["items"]
    actions = f"/api/v1/incidents/{incident['id']}/actions"
    assert client.post(actions, headers=admin.headers, json={"action": "acknowledge"}).status_code == 200
    assert attention(client, admin) == []


def test_incidents_found_more_than_90_days_ago_are_only_counted(
    client: TestClient, admin: Person, database: Database
) -> None:
    open_an_incident(database)

    def found(days_ago: int) -> tuple[str, int]:
        with database.transaction() as session:
            session.execute(text("UPDATE alert_group SET created_at = :at"), {"at": NOW - days_ago * DAY})
        (item,) = attention(client, admin)
        (cell,) = client.get("/api/v1/board", headers=admin.headers).json()["cells"]
        return item["words"], cell["open_incidents"]

    assert found(89) == ("1 open incident of dd", 1)
    assert found(91) == ("1 open incident found more than 90 days ago", 0)
