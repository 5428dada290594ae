"""Load that no signal ends: its node and target stay taken, its queue waits, and no run fails because of it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from factories.people import ADMIN, Person
from factories.raised import raised
from factories.site import Offered, SimulatedAgent, Site, agree
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.agent_api.idle_repository import IdleHeartbeat, store_idle_heartbeats
from iotide_server.clusters.errors import NODE_BUSY
from iotide_server.clusters.service import retire_node
from iotide_server.notifications.models import Channel
from iotide_wire.messages import OrderState, Outcome, StuckLoad, Word

DD = "dd (pid 25760) in state D, waiting in percpu_rwsem_wait"
SENTENCE = f"cannot be killed, still holding the node: {DD}"


def running(plant: Site, number: int) -> tuple[SimulatedAgent, Offered]:
    agent = plant.agent(number)
    offer = agent.claim_offer()
    agent.say(offer, OrderState.READY)
    agent.say(offer, OrderState.RUNNING, 0.1, started_at=plant.clock())
    return agent, offer


def get_stuck(agent: SimulatedAgent, offer: Offered) -> None:
    """End the order although the load cannot be killed, as its agent does."""
    result = agent.result(offer, Outcome.FAILED, reason=SENTENCE, reason_code="stuck")
    agent.hand_in(offer, result)


def stuck(plant: Site, *, target: str = "nfs", exclusive: str = "node+target") -> tuple[SimulatedAgent, Offered]:
    """Start a run on node 1 whose load cannot be killed."""
    plant.add_runs([1], target=target, exclusive=exclusive)
    plant.start()
    agent, offer = running(plant, 1)
    get_stuck(agent, offer)
    return agent, offer


def report(plant: Site, offer: Offered | None, process: str = "dd") -> StuckLoad:
    return StuckLoad(
        order_id=offer and offer.order_id,
        process=process,
        pid=25760,
        state="D",
        waits_in="percpu_rwsem_wait",
        processes=1,
        since=plant.clock(),
    )


def report_free(plant: Site, agent: SimulatedAgent) -> None:
    """Send a heartbeat without stuck loads, later than any from before the load became stuck."""
    plant.clock.move(60)
    plant.keep_online()
    agent.heartbeat(stuck=())


def leases(plant: Site) -> list[str]:
    with plant.database.transaction() as session:
        return list(session.scalars(text("SELECT resource_kind FROM lease WHERE active ORDER BY id")))


def test_leases_on_node_and_target_stay_until_the_agent_reports_that_nothing_is_left(plant: Site) -> None:
    agent, offer = stuck(plant)
    assert plant.run(offer.run_id).state == "failed"
    assert leases(plant) == ["node", "target", "cluster"]
    elsewhere = plant.add_runs([2], target="nfs", exclusive="node")[0]
    healthy = plant.add_runs([1])[0]
    agent.heartbeat(stuck=[report(plant, offer)])
    assert plant.start() == []
    assert plant.why_waiting(healthy) == (
        f"Node n1: stuck: {DD}, unkillable since 2026-11-21 10:00:00 UTC (run {offer.run_id}, target nfs)"
    )
    assert plant.why_waiting(elsewhere).startswith(
        f"Target nfs: run {offer.run_id} cannot be killed on node n1 and may still write there"
    )
    report_free(plant, agent)
    assert leases(plant) == []
    assert sorted(plant.start()) == [elsewhere, healthy]


def test_a_heartbeat_that_was_under_way_when_the_load_got_stuck_frees_nothing(plant: Site) -> None:
    agent, _ = stuck(plant)
    agent.heartbeat(stuck=())
    agent.heartbeat()
    assert (leases(plant), plant.node(1).stuck is None) == (["node", "target", "cluster"], False)
    report_free(plant, agent)
    assert (leases(plant), plant.node(1).stuck) == ([], None)


def test_a_process_that_the_server_does_not_take_for_the_nodes_agent_frees_nothing(plant: Site) -> None:
    agent, _ = stuck(plant)
    plant.change("UPDATE node SET agent_instance = NULL WHERE id = :id", id=agent.node_id)
    plant.clock.move(60)
    agent.heartbeat(stuck=())
    assert leases(plant) == ["node", "target", "cluster"]


def test_after_a_reboot_nothing_is_left(plant: Site) -> None:
    agent, _ = stuck(plant)
    agent.hello(instance="instance-n1-b")
    assert leases(plant) == ["node", "target", "cluster"]
    plant.clock.move(60)
    agent.hello(instance="instance-n1-c", boot_id="boot-5678")
    assert (leases(plant), plant.node(1).stuck) == ([], None)


def test_of_a_gang_the_other_nodes_are_freed_and_the_stuck_one_is_not(make_site: Callable[..., Site]) -> None:
    plant = make_site(node_count=3)
    (gang,) = plant.add_runs([1, 2], target="nfs", exclusive="node+target")
    plant.start()
    one, two = plant.agent(1), plant.agent(2)
    first, second = one.claim_offer(), two.claim_offer()
    assert agree((one, first), (two, second)) == [Word.GO, Word.GO]
    get_stuck(two, second)
    assert one.say(first, OrderState.RUNNING, 0.2) is Word.CANCEL
    one.finish(first, Outcome.CANCELLED)
    assert (plant.run(gang).state, plant.run(gang).reason_code) == ("failed", "stuck")
    assert (plant.node(1).exclusive_leases, plant.node(2).exclusive_leases) == (0, 1)
    # The order of node 1 holds the target, and the load of node 2 may write to it.
    assert sorted(leases(plant)) == ["cluster", "node", "target"]
    waits = plant.add_runs([3], target="nfs", exclusive="node")[0]
    free = plant.add_runs([1])[0]
    assert plant.start() == [free]
    report_free(plant, two)
    assert plant.start() == [waits]


def test_a_node_with_several_slots_is_offered_nothing_either(make_site: Callable[..., Site]) -> None:
    plant = make_site(slots=4)
    agent, _ = stuck(plant, target="scratch", exclusive="none")
    parallel = plant.add_runs([1], exclusive="none")[0]
    assert plant.start() == []
    report_free(plant, agent)
    assert plant.start() == [parallel]


def test_one_of_two_stuck_loads_that_is_gone_frees_its_resources(make_site: Callable[..., Site]) -> None:
    plant = make_site(slots=2)
    plant.add_runs([1], exclusive="none")
    plant.add_runs([1], exclusive="none", target="nfs")
    plant.start()
    agent = plant.agent(1)
    first, second = agent.offers()
    for offer in (first, second):
        agent.claim(offer)
        get_stuck(agent, offer)
    plant.clock.move(60)
    plant.keep_online()
    agent.heartbeat(stuck=[report(plant, None)])
    assert leases(plant).count("node") == 2
    agent.heartbeat(stuck=[report(plant, second)])
    assert sorted(leases(plant)) == ["cluster", "node", "target"]
    assert plant.node(1).stuck is not None


def test_a_process_that_outlives_its_order_makes_its_node_stuck_and_keeps_its_target(plant: Site) -> None:
    plant.add_runs([1], target="nfs")
    plant.start()
    agent, offer = running(plant, 1)
    agent.finish(offer, Outcome.FAILED, reason="the runner was killed")
    elsewhere = plant.add_runs([2], target="nfs", exclusive="node")[0]
    agent.heartbeat(stuck=[report(plant, offer)])
    assert plant.start() == []
    report_free(plant, agent)
    assert plant.start() == [elsewhere]


def test_an_idle_heartbeat_of_a_stuck_node_is_processed_as_usual(plant: Site) -> None:
    agent, _ = stuck(plant)
    with plant.database.transaction() as session:
        token = session.scalar(text("SELECT token_sha256 FROM node WHERE id = :id"), {"id": agent.node_id})
        said = IdleHeartbeat(str(token), agent.instance, None, None)
        assert store_idle_heartbeats(session, [said], plant.clock(), plant.clock() - timedelta(seconds=30)) == []


def test_a_stuck_node_is_not_retired(plant: Site) -> None:
    agent, _ = stuck(plant)
    with plant.database.transaction() as session, raised(NODE_BUSY):
        retire_node(session, ADMIN, agent.node_id, plant.clock(), access=None)  # type: ignore[arg-type]  # never asked


def test_an_exclusive_run_does_not_make_others_wait_for_a_stuck_node(plant: Site) -> None:
    """The end of a stuck load is unknown, so the scheduler reserves nothing for that time."""
    stuck(plant, target="scratch")
    plant.clock.move(600)
    plant.keep_online()
    alone = plant.add_runs([2], exclusive="cluster")[0]
    plant.clock.move(1)
    other = plant.add_runs([2])[0]
    assert plant.start() == [other]
    assert plant.run(alone).state == "waiting"


class Pages:
    """API access of an operator and a viewer."""

    def __init__(self, client: TestClient, person: Person) -> None:
        self._client = client
        self._person = person

    def get(self, path: str, *, status: int = 200) -> Any:  # noqa: ANN401 - JSON
        return self._answer("GET", path, None, status)

    def post(self, path: str, body: object, *, status: int = 200) -> Any:  # noqa: ANN401 - JSON
        return self._answer("POST", path, body, status)

    def _answer(self, method: str, path: str, body: object, status: int) -> Any:  # noqa: ANN401 - JSON
        answer = self._client.request(method, f"/api/v1{path}", json=body, headers=self._person.headers)
        assert answer.status_code == status, answer.text
        return answer.json()


@pytest.fixture
def pages(client: TestClient, admin: Person) -> Pages:
    return Pages(client, admin)


def test_node_target_overview_and_queue_name_process_target_and_since_when(plant: Site, pages: Pages) -> None:
    agent, offer = stuck(plant)
    plant.add_runs([1])
    load = {"process": DD, "since": "2026-11-21T10:00:00Z", "run_id": offer.run_id, "targets": ["nfs"]}
    shown = pages.get(f"/nodes/{agent.node_id}")
    assert (shown["state"], shown["stuck"]) == ("stuck", [load])
    (line,) = [one for one in pages.get(f"/clusters/{plant.cluster_id}/nodes")["items"] if one["state"] == "stuck"]
    assert line["stuck"] == [load]
    assert [one["name"] for one in pages.get("/nodes?state=stuck")["items"]] == ["n1"]
    assert [one["name"] for one in pages.get("/nodes?state=online")["items"]] == ["n2"]
    target = pages.get(f"/targets/{plant.target_ids['nfs']}")
    assert [(one["node_name"], one["run_id"], one["process"]) for one in target["stuck"]] == [("n1", offer.run_id, DD)]
    (item,) = [one for one in pages.get("/board")["attention"] if one["kind"] == "stuck_node"]
    assert item["node_id"] == agent.node_id
    assert item["words"] == (
        f"n1 is stuck: {DD}, unkillable since 2026-11-21 10:00:00 UTC (run {offer.run_id}, target nfs)"
    )
    (queued,) = pages.get(f"/clusters/{plant.cluster_id}/queue")["runs"]
    assert DD in queued["waiting_because"]


def test_an_operator_sees_the_consequences_and_frees_exactly_those_runs(plant: Site, pages: Pages) -> None:
    agent, offer = stuck(plant)
    agent.hello(instance="instance-n1", wire_version=3)
    waits = plant.add_runs([2], target="nfs", exclusive="node")[0]
    healthy = plant.add_runs([1])[0]
    path = f"/nodes/{agent.node_id}/stuck"
    statement = pages.get(path)
    (run,) = statement["runs"]
    assert run["frees"] == "target nfs, node n1 and cluster blade are free at once"
    assert run["risk"] == (
        f"{DD} may continue writing when its storage responds. This may affect the results of other runs on target nfs."
    )
    assert statement["afterwards"] == "No run starts on n1 until its agent reports that the load is gone."
    differs = pages.post(path, {"statement_sha256": "0" * 64}, status=409)
    assert differs["error"]["code"] == "held_differs"
    freed = pages.post(path, {"statement_sha256": statement["statement_sha256"]})
    assert (freed["state"], leases(plant)) == ("stuck", [])
    agent.heartbeat(stuck=[report(plant, offer)])
    assert plant.start() == [waits]
    refused = pages.get(path, status=409)
    assert refused["error"]["code"] == "node_not_stuck"
    assert "node_freed" in str(pages.get("/audit"))
    report_free(plant, agent)
    assert plant.start() == [healthy]


def test_a_node_without_agent_reports_is_offered_runs_again_after_an_operator_freed_it(
    plant: Site, pages: Pages
) -> None:
    agent, _ = stuck(plant)
    agent.hello(instance="instance-n1", wire_version=2)
    healthy = plant.add_runs([1])[0]
    path = f"/nodes/{agent.node_id}/stuck"
    statement = pages.get(path)
    assert "These declines do not count" in statement["afterwards"]
    freed = pages.post(path, {"statement_sha256": statement["statement_sha256"]})
    assert (freed["state"], freed["stuck"]) == ("online", [])
    assert plant.start() == [healthy]


def test_a_node_that_is_not_stuck_is_not_freed(plant: Site, pages: Pages) -> None:
    refused = pages.get(f"/nodes/{plant.node_ids[0]}/stuck", status=409)
    assert refused["error"]["code"] == "node_not_stuck"


@pytest.mark.parametrize(("kind", "days"), [("failed", 2), ("stuck", 0)])
def test_a_node_does_not_take_back_what_an_old_order_or_an_operator_gave_back(
    plant: Site, pages: Pages, kind: str, days: int
) -> None:
    """Its agent names the order again in each heartbeat, with and without a pause."""
    if kind == "stuck":
        agent, offer = stuck(plant)
        path = f"/nodes/{agent.node_id}/stuck"
        pages.post(path, {"statement_sha256": pages.get(path)["statement_sha256"]})
    else:
        plant.add_runs([1], target="nfs", exclusive="node+target")
        plant.start()
        agent, offer = running(plant, 1)
        agent.finish(offer, Outcome.FAILED, reason="the runner was killed")
    plant.clock.move(days * 86_400)
    plant.keep_online()
    elsewhere = plant.add_runs([2], target="nfs", exclusive="node")[0]
    for said in ([report(plant, offer)], [], [report(plant, offer)]):
        agent.heartbeat(stuck=said)
    assert leases(plant) == []
    assert plant.node(1).stuck is not None
    assert plant.start() == [elsewhere]


def test_a_node_that_an_operator_freed_names_no_order_that_had_ended_by_then(plant: Site, pages: Pages) -> None:
    def ended() -> Offered:
        plant.add_runs([1], target="nfs", exclusive="node")
        plant.start()
        agent, offer = running(plant, 1)
        agent.finish(offer, Outcome.FAILED, reason="the runner was killed")
        return offer

    agent, orders = plant.agent(1), [ended(), ended(), ended()]
    (elsewhere,) = plant.add_runs([2], target="nfs", exclusive="node")
    agent.heartbeat(stuck=[report(plant, orders[1])])
    assert plant.start() == []
    path = f"/nodes/{agent.node_id}/stuck"
    pages.post(path, {"statement_sha256": pages.get(path)["statement_sha256"]})
    for order in orders:
        agent.heartbeat(stuck=[report(plant, order)])
    assert plant.start() == [elsewhere]
    plant.agent(2).finish(plant.agent(2).claim_offer())
    report_free(plant, agent)
    agent.heartbeat(stuck=[report(plant, ended())])  # a later one, as an honest node does
    plant.add_runs([2], target="nfs", exclusive="node")
    assert plant.start() == []


def listen(plant: Site) -> None:
    """Add a channel of the cluster and one of all clusters."""
    with plant.database.transaction() as session:
        session.add_all(
            Channel(cluster_id=cluster_id, name=f"c{cluster_id}", kind="webhook", settings={}, sealed=None)
            for cluster_id in (None, plant.cluster_id)
        )


def delivered_texts(plant: Site) -> list[str]:
    with plant.database.transaction() as session:
        return list(session.scalars(text("SELECT text FROM delivery ORDER BY id")))


def test_a_node_that_changes_its_report_sends_one_message_an_hour(plant: Site) -> None:
    listen(plant)
    agent, offer = stuck(plant)
    for _ in range(10):
        plant.clock.move(60)
        agent.heartbeat(stuck=())
        agent.heartbeat(stuck=[report(plant, offer)])
    assert len(delivered_texts(plant)) == 2
    plant.clock.move(3600)
    agent.heartbeat(stuck=())
    agent.heartbeat(stuck=[report(plant, offer)])
    assert len(delivered_texts(plant)) == 4


@pytest.mark.parametrize(
    ("wire_version", "launcher", "remedy"),
    [
        (3, "direct", "Restore the storage or reboot the node. Its agent then reports that the load is gone."),
        (2, "direct", "Its agent does not report when the load is gone. Restore the storage, then free the node"),
        (3, "slurm", "Its agent does not report when the load is gone. Restore the storage, then free the node"),
    ],
)
def test_the_message_gives_the_remedy(plant: Site, wire_version: int, launcher: str, remedy: str) -> None:
    listen(plant)
    plant.add_runs([1])
    plant.start()
    agent, offer = running(plant, 1)
    plant.change("UPDATE node SET wire_version = :version WHERE id = :id", version=wire_version, id=agent.node_id)
    plant.change("UPDATE cluster SET launcher = :launcher WHERE id = :id", launcher=launcher, id=plant.cluster_id)
    get_stuck(agent, offer)
    assert remedy in delivered_texts(plant)[0]


def test_the_channels_of_its_cluster_are_notified_once(plant: Site) -> None:
    listen(plant)
    agent, offer = stuck(plant)
    agent.heartbeat(stuck=[report(plant, offer)])
    agent.heartbeat(stuck=[report(plant, offer)])
    with plant.database.transaction() as session:
        deliveries = session.execute(text("SELECT kind, subject, text, path FROM delivery")).all()
    assert len(deliveries) == 2
    assert {(row.kind, row.subject, row.path) for row in deliveries} == {
        ("stuck", "blade: node n1 is stuck", f"/nodes/{agent.node_id}")
    }
    assert DD in deliveries[0].text
