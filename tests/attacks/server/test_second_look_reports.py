"""Found by a second review: an attacker who owns one node reports data that the server and other nodes cannot
process.
"""

import hashlib
import json
from typing import Final

import pytest
from factories.announced import workload
from factories.clock import MovedClock
from factories.people import Person
from factories.reported import FLAG, SAMPLE, refusal, step
from factories.site import Offered, SimulatedAgent, Site, agree
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.campaigns.planned import memory_bytes
from iotide_server.kit.db import Database, number
from iotide_server.kit.errors import InvalidInputError
from iotide_server.results.forecast.past import last_rates
from iotide_server.results.ingest.checks import check_size
from iotide_server.trends.peers.repository import known_nodes
from iotide_server.trends.points.service import recompute_points
from iotide_wire.endpoint import Endpoint
from iotide_wire.measured import SampleMessage
from iotide_wire.messages import OrderHeartbeat, OrderState, OrderWord, Outcome, Word
from iotide_wire.names import described
from iotide_wire.vocabulary import VocabularyError, require_vocabulary

LONE: Final = "\ud800"
TOKEN: Final = "ion_" + "a" * 43


def headers(site: Site) -> dict[str, str]:
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    site.change("UPDATE node SET token_sha256 = :digest WHERE id = :id", digest=digest, id=site.node_ids[0])
    return {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


def recompute(site: Site) -> None:
    with site.database.transaction() as session:
        cells = list(session.scalars(text("SELECT id FROM cell")))
    for cell in cells:
        with site.database.transaction() as session:
            recompute_points(session, cell)


@pytest.mark.parametrize("target_id", [10**30, 0, 999_999])
def test_a_flag_or_a_step_of_a_target_that_the_run_does_not_load_is_refused(plant: Site, target_id: int) -> None:
    agent, offer = plant.start_load()
    reason = refusal(plant, agent, offer, {"flags": ({**FLAG, "target_id": target_id},)})
    assert f"the run does not use target {target_id}; send one of" in reason
    agent, offer = plant.start_load()
    reason = refusal(plant, agent, offer, {"steps": (step(plant, target_id=target_id),)})
    assert f"the run does not use target {target_id}; send one of" in reason


def test_the_table_of_runs_answers_where_an_earlier_release_stored_such_a_flag(
    plant: Site, client: TestClient, admin: Person
) -> None:
    agent, offer = plant.start_load()
    sample = {**SAMPLE, "target_id": plant.target_ids["scratch"]}
    assert agent.hand_in(offer, agent.result(offer, samples=(sample,), flags=({**FLAG},))).accepted
    recompute(plant)
    flags = json.dumps([{**FLAG, "labels": {}, "target_id": 10**30}])
    plant.change("UPDATE run SET flags = CAST(:flags AS jsonb)", flags=flags)
    answer = client.get("/api/v1/explorer/runs", headers=admin.headers)
    assert answer.status_code == 200
    [row] = answer.json()["items"]
    assert (row["flags"], row["headline"]["flags"]) == (["DURATION"], [])


@pytest.mark.parametrize("place", ["options_schema", "title", "name of an option"])
def test_a_lone_surrogate_in_an_announcement_is_rejected_with_a_message(
    plant: Site, client: TestClient, place: str
) -> None:
    said = workload("plug").model_dump(mode="json")
    if place == "title":
        said["title"] = LONE
    elif place == "options_schema":
        said["options_schema"] = {"type": "object", "properties": {"a": {"type": "string", "title": LONE}}}
    else:
        said["options_schema"] = {"type": "object", "properties": {LONE: {"type": "string"}}}
    hello = {
        "agent_instance": "instance-n1",
        "previous_instance": "instance-n1",
        "boot_id": "boot-1234",
        "agent_version": "1",
        "wire_version": 3,
        "sent_at": plant.clock().isoformat(),
        "facts": {},
        "mounts": [],
        "approved_directories": [],
        "workloads": [said],
        "holds": [],
    }
    answer = client.post("/api/v1/agent/hello", content=json.dumps(hello), headers=headers(plant))
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_input")
    if place != "title":
        schema = said["options_schema"]
        with pytest.raises(VocabularyError, match="a NUL character or a lone surrogate; remove it"):
            require_vocabulary(workload("plug").model_copy(update={"options_schema": schema}))


def test_workloads_are_listed_where_an_earlier_release_stored_a_lone_surrogate(
    plant: Site, client: TestClient, admin: Person
) -> None:
    schema = json.dumps({"type": "object", "properties": {"a": {"type": "string", "title": f"so {LONE}"}}})
    plant.change("UPDATE workload SET options_schema = CAST(:schema AS json)", schema=schema)
    answer = client.get("/api/v1/workloads", headers=admin.headers)
    assert answer.status_code == 200
    assert answer.json()["items"][0]["options_schema"]["properties"]["a"]["title"] == "so ?"


@pytest.mark.parametrize("wall_seconds", [1.7e308, float("inf"), float("nan"), -1.0])
def test_impossible_seconds_of_a_step_fail_their_run_with_a_message(plant: Site, wall_seconds: float) -> None:
    agent, offer = plant.start_load()
    reason = refusal(plant, agent, offer, {"steps": (step(plant), step(plant, wall_seconds=wall_seconds))})
    assert (
        f"steps[1].wall_seconds: {wall_seconds} is not between 0 and 1000000000; send the value that the kernel counted"
        in reason
    )


@pytest.mark.parametrize("outcome", [Outcome.FINISHED, Outcome.CANCELLED])
def test_a_node_of_a_gang_hands_its_result_in_whatever_steps_of_another_node_are_stored(
    plant: Site, outcome: Outcome
) -> None:
    plant.add_runs([1, 2])
    plant.start()
    agents = [plant.agent(1), plant.agent(2)]
    offers = [agent.claim_offer() for agent in agents]
    agree(*zip(agents, offers, strict=True))
    for agent, offer in zip(agents, offers, strict=True):
        agent.say(offer, OrderState.RUNNING, 0.1, started_at=plant.clock())
    mine, theirs = agents
    assert mine.hand_in(offers[0], mine.result(offers[0], samples=(SAMPLE,), steps=(step(plant),) * 2)).accepted
    plant.change(  # as release 0.2 stored it
        "UPDATE node_order SET steps = jsonb_set(jsonb_set(steps, '{0,wall_seconds}', '1.7e308'),"
        " '{1,wall_seconds}', 'null') WHERE id = :id",
        id=offers[0].order_id,
    )
    result = theirs.result(offers[1], outcome, samples=(SAMPLE,), steps=(step(plant),))
    assert theirs.hand_in(offers[1], result).accepted
    assert plant.run(offers[1].run_id).state == outcome


@pytest.mark.parametrize("value", [1e-310, 1.7e308, -1e31])
def test_a_value_that_nothing_measures_is_rejected_with_a_message(plant: Site, value: float) -> None:
    agent, offer = plant.start_load()
    reason = refusal(plant, agent, offer, {"samples": (SAMPLE, {**SAMPLE, "value": value})})
    assert (
        f"samples[1].value: {value} of throughput is outside the range of measured values; send 0, or a number"
        in reason
    )


@pytest.mark.parametrize("value", [0.0, 1e-9, -3.5, 1e15])
def test_honest_values_pass(plant: Site, value: float) -> None:
    agent, offer = plant.start_load()
    assert agent.hand_in(offer, agent.result(offer, samples=({**SAMPLE, "value": value},))).accepted
    assert plant.run(offer.run_id).state == "finished"


def test_stored_rates_and_values_beyond_the_bounds_fail_no_forecast_and_no_points(plant: Site) -> None:
    for _ in range(2):
        agent, offer = plant.start_load()
        assert agent.hand_in(offer, agent.result(offer, samples=(SAMPLE,))).accepted
    recompute(plant)
    plant.change("UPDATE point SET median = 1e-310")
    with plant.database.transaction() as session:
        assert last_rates(session, [plant.target_ids["scratch"]], "dd") == {}
    plant.change("UPDATE sample SET value = 1.7e308")
    recompute(plant)


@pytest.mark.parametrize("value", [10**400, -(10**19), 1e19, float("inf")])
def test_a_label_is_no_number_that_cannot_be_written(value: float) -> None:
    with pytest.raises(InvalidInputError, match=r"samples\[0\]\.labels\.pause_seconds: .* is beyond 1e\+18"):
        check_size([SampleMessage(metric="rate", value=1.0, labels={"pause_seconds": value}, target_id=None)])


@pytest.mark.parametrize(
    ("fact", "read"), [(2**38, 2.0**38), (1.5, 1.5), ("abc", None), (10**400, None), (True, None), (None, None)]
)
def test_a_reported_number_is_read_or_is_not_known(fact: object, read: float | None) -> None:
    assert number(fact) == read


def test_peers_and_plans_work_where_a_node_reports_nonsense_as_its_memory(plant: Site) -> None:
    facts = [{"memory.total_bytes": "abc"}, {"memory.total_bytes": 10**400}]
    for node_id, said in zip(plant.node_ids, facts, strict=True):
        plant.change("UPDATE node SET facts = CAST(:facts AS jsonb) WHERE id = :id", facts=json.dumps(said), id=node_id)
    with plant.database.transaction() as session:
        known = known_nodes(session, plant.cluster_id)
    assert {one.alike for one in known.values()} == {"compute"}
    assert [memory_bytes(plant.node(number)) for number in (1, 2)] == [0.0, 0.0]


def test_only_the_receiver_of_a_run_reports_its_address(database: Database, clock: MovedClock) -> None:
    site = Site(database, clock, node_count=3)
    site.add_runs([1, 2], observers=[3], roles=["sender", "receiver"])
    site.start()
    agents = [site.agent(number) for number in (1, 2, 3)]
    offers = [agent.claim_offer() for agent in agents]
    sender, receiver, observer = zip(agents, offers, strict=True)

    def ready(of: tuple[SimulatedAgent, Offered], address: str | None = None) -> OrderWord:
        agent, offer = of
        endpoint = None if address is None else Endpoint(address=address, ports=(9,), token="1" * 32)
        said = {"order_id": offer.order_id, "fence": offer.fence, "state": "ready", "progress": None, "phase": ""}
        return agent.heartbeat(
            OrderHeartbeat.model_validate({**said, "started_at": None, "endpoint": endpoint})
        ).orders[0]

    ready(receiver, "10.0.0.2")
    ready(observer, "192.0.2.66")
    ready(sender, "192.0.2.67")
    agree(sender, receiver)
    answer = ready(sender)
    assert (answer.word, answer.endpoint and answer.endpoint.address) == (Word.GO, "10.0.0.2")
    site.change(  # as release 0.2 stored it
        "UPDATE node_order SET endpoint = jsonb_set((SELECT endpoint FROM node_order WHERE id = :receiver),"
        " '{address}', '\"192.0.2.66\"') WHERE id = :observer",
        receiver=receiver[1].order_id,
        observer=observer[1].order_id,
    )
    endpoint = ready(sender).endpoint
    assert endpoint is not None
    assert endpoint.address == "10.0.0.2"


def test_a_stored_label_without_end_is_written_all_the_same() -> None:
    for value in (10**500, float("inf"), -(10**400)):
        assert described({"pause_seconds": value, "n": value}, {}) == "Pause beyond 1e30, N beyond 1e30"
