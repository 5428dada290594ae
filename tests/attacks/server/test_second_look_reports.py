"""Found by a second look: an attacker who owns one node reports what the server and other nodes cannot work with."""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import pytest
from factories.announced import mount, workload
from factories.batch_site import INSTANCE, BatchSite
from factories.clock import MovedClock
from factories.people import Person
from factories.site import Offered, SimulatedAgent, Site, agree
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.campaigns.planned import memory_bytes
from iotide_server.gateway import batch, beats
from iotide_server.kit.db import Database
from iotide_server.kit.errors import InvalidInputError
from iotide_server.kit.numbers import number
from iotide_server.results.checks import check_described, check_size
from iotide_server.results.limits import ReportLimits
from iotide_server.results.past import last_rates
from iotide_server.results.service import SERIES_BYTES
from iotide_server.trends.peer_repository import known_nodes
from iotide_server.trends.service import recompute_points
from iotide_wire.batch import BatchReport, BatchSystem, JobState, SeenJob
from iotide_wire.endpoint import Endpoint
from iotide_wire.facts import MountFacts
from iotide_wire.measured import SampleMessage
from iotide_wire.messages import BeatRequest, FinishRequest, OrderBeat, OrderState, OrderWord, Outcome, StuckLoad, Word
from iotide_wire.names import described
from iotide_wire.vocabulary import VocabularyError, require_vocabulary

LONE: Final = "\ud800"
TOKEN: Final = "ion_" + "a" * 43
SAMPLE: Final = {"metric": "throughput", "value": 1.0, "labels": {"operation": "write"}, "target_id": None}
FLAG: Final = {"code": "DURATION", "effect": "marked", "measured": "1 s", "limit": "2 s"}
RECORDED: Final = sorted((Path(__file__).parents[2] / "data/wire").glob("v*/FinishRequest-*.json"))


@pytest.fixture
def at_work(database: Database, clock: MovedClock) -> Site:
    return Site(database, clock)


def started(site: Site) -> tuple[SimulatedAgent, Offered]:
    site.add_runs([1])
    site.start()
    agent = site.agent(1)
    offer = agent.claim_offer()
    agent.say(offer, OrderState.RUNNING, 0.1, started_at=site.clock())
    return agent, offer


def step(site: Site, **changes: object) -> dict[str, object]:
    took = {"wall_seconds": 60.0, "user_seconds": 0, "system_seconds": 0, "max_rss_bytes": 1}
    named = {"name": "w", "phase": "w", "argv": ["dd"], "target_id": None, "writer": None, "started_at": site.clock()}
    return {**named, **took, "exit_status": 0, "signal": None, **changes}


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


def refusal(site: Site, agent: SimulatedAgent, offer: Offered, changed: dict[str, Any]) -> str:
    """Hand a result in; why its run failed."""
    assert agent.hand_in(offer, agent.result(offer, **{"samples": (SAMPLE,), **changed})).accepted
    run = site.run(offer.run_id)
    assert run.state == "failed"
    assert run.reason is not None
    return run.reason


@pytest.mark.parametrize("target_id", [10**30, 0, 999_999])
def test_a_flag_or_a_step_of_a_target_that_the_run_does_not_load_is_refused(at_work: Site, target_id: int) -> None:
    agent, offer = started(at_work)
    reason = refusal(at_work, agent, offer, {"flags": ({**FLAG, "target_id": target_id},)})
    assert f"the run does not load target {target_id}; send one of" in reason
    agent, offer = started(at_work)
    reason = refusal(at_work, agent, offer, {"steps": (step(at_work, target_id=target_id),)})
    assert f"the run does not load target {target_id}; send one of" in reason


def test_the_table_of_runs_answers_where_an_earlier_release_stored_such_a_flag(
    at_work: Site, client: TestClient, admin: Person
) -> None:
    agent, offer = started(at_work)
    sample = {**SAMPLE, "target_id": at_work.target_ids["scratch"]}
    assert agent.hand_in(offer, agent.result(offer, samples=(sample,), flags=({**FLAG},))).accepted
    recompute(at_work)
    flags = json.dumps([{**FLAG, "labels": {}, "target_id": 10**30}])
    at_work.change("UPDATE run SET flags = CAST(:flags AS jsonb)", flags=flags)
    answer = client.get("/api/v1/explorer/runs", headers=admin.headers)
    assert answer.status_code == 200
    [row] = answer.json()["items"]
    assert (row["flags"], row["headline"]["flags"]) == (["DURATION"], [])


@pytest.mark.parametrize("place", ["options_schema", "title", "name of an option"])
def test_a_lone_surrogate_in_an_announcement_is_refused_with_words(
    at_work: Site, client: TestClient, place: str
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
        "sent_at": at_work.clock().isoformat(),
        "facts": {},
        "mounts": [],
        "approved_directories": [],
        "workloads": [said],
        "holds": [],
    }
    answer = client.post("/api/v1/agent/hello", content=json.dumps(hello), headers=headers(at_work))
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_input")
    if place != "title":
        schema = said["options_schema"]
        with pytest.raises(VocabularyError, match="a NUL character or a lone surrogate; leave it out"):
            require_vocabulary(workload("plug").model_copy(update={"options_schema": schema}))


def test_workloads_are_listed_where_an_earlier_release_stored_a_lone_surrogate(
    at_work: Site, client: TestClient, admin: Person
) -> None:
    schema = json.dumps({"type": "object", "properties": {"a": {"type": "string", "title": f"so {LONE}"}}})
    at_work.change("UPDATE workload SET options_schema = CAST(:schema AS json)", schema=schema)
    answer = client.get("/api/v1/workloads", headers=admin.headers)
    assert answer.status_code == 200
    assert answer.json()["items"][0]["options_schema"]["properties"]["a"]["title"] == "so ?"


@pytest.mark.parametrize("wall_seconds", [1.7e308, float("inf"), float("nan"), -1.0])
def test_seconds_of_a_step_that_no_process_can_take_fail_their_run_with_words(
    at_work: Site, wall_seconds: float
) -> None:
    agent, offer = started(at_work)
    reason = refusal(at_work, agent, offer, {"steps": (step(at_work), step(at_work, wall_seconds=wall_seconds))})
    assert (
        f"steps[1].wall_seconds: {wall_seconds} is not between 0 and 1000000000; send what the kernel counted" in reason
    )


@pytest.mark.parametrize("outcome", [Outcome.FINISHED, Outcome.CANCELLED])
def test_a_node_of_a_gang_hands_its_result_in_whatever_steps_of_another_node_are_stored(
    at_work: Site, outcome: Outcome
) -> None:
    at_work.add_runs([1, 2])
    at_work.start()
    agents = [at_work.agent(1), at_work.agent(2)]
    offers = [agent.claim_offer() for agent in agents]
    agree(*zip(agents, offers, strict=True))
    for agent, offer in zip(agents, offers, strict=True):
        agent.say(offer, OrderState.RUNNING, 0.1, started_at=at_work.clock())
    mine, theirs = agents
    assert mine.hand_in(offers[0], mine.result(offers[0], samples=(SAMPLE,), steps=(step(at_work),) * 2)).accepted
    at_work.change(  # as release 0.2 stored it
        "UPDATE node_order SET steps = jsonb_set(jsonb_set(steps, '{0,wall_seconds}', '1.7e308'),"
        " '{1,wall_seconds}', 'null') WHERE id = :id",
        id=offers[0].order_id,
    )
    result = theirs.result(offers[1], outcome, samples=(SAMPLE,), steps=(step(at_work),))
    assert theirs.hand_in(offers[1], result).accepted
    assert at_work.run(offers[1].run_id).state == outcome


@pytest.mark.parametrize("value", [1e-310, 1.7e308, -1e31])
def test_a_value_that_nothing_measures_is_refused_with_words(at_work: Site, value: float) -> None:
    agent, offer = started(at_work)
    reason = refusal(at_work, agent, offer, {"samples": (SAMPLE, {**SAMPLE, "value": value})})
    assert f"samples[1].value: {value} of throughput is nothing that is measured; send 0, or a number" in reason


@pytest.mark.parametrize("value", [0.0, 1e-9, -3.5, 1e15])
def test_honest_values_pass(at_work: Site, value: float) -> None:
    agent, offer = started(at_work)
    assert agent.hand_in(offer, agent.result(offer, samples=({**SAMPLE, "value": value},))).accepted
    assert at_work.run(offer.run_id).state == "finished"


def test_stored_rates_and_values_beyond_the_bounds_fail_no_forecast_and_no_points(at_work: Site) -> None:
    for _ in range(2):
        agent, offer = started(at_work)
        assert agent.hand_in(offer, agent.result(offer, samples=(SAMPLE,))).accepted
    recompute(at_work)
    at_work.change("UPDATE point SET median = 1e-310")
    with at_work.database.transaction() as session:
        assert last_rates(session, [at_work.target_ids["scratch"]], "dd") == {}
    at_work.change("UPDATE sample SET value = 1.7e308")
    recompute(at_work)


@pytest.mark.parametrize("value", [10**400, -(10**19), 1e19, float("inf")])
def test_a_label_is_no_number_that_cannot_be_written(value: float) -> None:
    with pytest.raises(InvalidInputError, match=r"samples\[0\]\.labels\.pause_seconds: .* is beyond 1e\+18"):
        check_size([SampleMessage(metric="rate", value=1.0, labels={"pause_seconds": value}, target_id=None)])


@pytest.mark.parametrize(
    ("fact", "read"), [(2**38, 2.0**38), (1.5, 1.5), ("abc", None), (10**400, None), (True, None), (None, None)]
)
def test_a_reported_number_is_read_or_is_not_known(fact: object, read: float | None) -> None:
    assert number(fact) == read


def test_peers_and_plans_work_where_a_node_reports_nonsense_as_its_memory(at_work: Site) -> None:
    facts = [{"memory.total_bytes": "abc"}, {"memory.total_bytes": 10**400}]
    for node_id, said in zip(at_work.node_ids, facts, strict=True):
        at_work.change(
            "UPDATE node SET facts = CAST(:facts AS jsonb) WHERE id = :id", facts=json.dumps(said), id=node_id
        )
    with at_work.database.transaction() as session:
        known = known_nodes(session, at_work.cluster_id)
    assert {one.alike for one in known.values()} == {"compute"}
    assert [memory_bytes(at_work.node(number)) for number in (1, 2)] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"flags": ({**FLAG, "measured": "m" * 4000},) * 40}, "bytes of flags and not_judged; at most 131072"),
        (
            {"flags": (FLAG,), "not_judged": ({"check": "outlier", "because": "b" * 4000},) * 40},
            "bytes of flags and not_judged; at most 131072",
        ),
        ({"flags": ({**FLAG, "labels": {f"l{i}": 1 for i in range(17)}},)}, "flags[0].labels: 17 labels of a number"),
        (
            {"environment": {f"x.y{place}": "B" * 4_000 for place in range(40)}},
            "bytes of environment and foreign; at most 131072",
        ),
    ],
)
def test_flags_and_facts_without_end_are_refused_with_words(at_work: Site, changed: dict[str, Any], words: str) -> None:
    agent, offer = started(at_work)
    assert words in refusal(at_work, agent, offer, changed)
    assert at_work.run(offer.run_id).flags == []


def test_texts_of_facts_are_cut(at_work: Site) -> None:
    agent, offer = started(at_work)
    cut = agent.result(offer, environment={"x.y": "B" * 200_000, "x.z": "B" * 4_000, "x.n": 1}).environment
    assert cut == {"x.y": "B" * 3_996 + " ...", "x.z": "B" * 4_000, "x.n": 1}
    [mounted] = [mount().model_copy(update={"facts": {"fs.name": "B" * 200_000}})]
    assert MountFacts.model_validate(mounted.model_dump()).facts == {"fs.name": "B" * 3_996 + " ..."}


def test_arguments_without_end_are_refused_with_words(at_work: Site) -> None:
    agent, offer = started(at_work)
    reason = refusal(at_work, agent, offer, {"steps": (step(at_work, argv=["A" * 1_000_000] * 3),)})
    assert "bytes of steps; at most 2097152" in reason


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: "/".join(file.parts[-2:]))
def test_results_of_agents_of_each_release_are_far_from_the_limits(file: Path) -> None:
    result = FinishRequest.model_validate_json(file.read_bytes())
    check_described(result, ReportLimits(flag_bytes=4_000, step_bytes=4_000, fact_bytes=4_000))
    check_size(result.samples)


def test_a_list_of_runs_names_one_of_very_many_flags_of_a_code_and_the_run_has_all(
    at_work: Site, client: TestClient, admin: Person
) -> None:
    agent, offer = started(at_work)
    assert agent.hand_in(offer, agent.result(offer, samples=(SAMPLE,))).accepted
    few = [{**FLAG, "labels": {"operation": "write"}, "target_id": None}]
    at_work.change("UPDATE run SET flags = CAST(:flags AS jsonb)", flags=json.dumps(few))
    [listed] = client.get("/api/v1/runs", headers=admin.headers).json()["items"]
    assert listed["flags"] == few
    labels = {f"l{number}": "v" * 5 for number in range(390)}
    many = [{**FLAG, "measured": "m" * 4000, "labels": labels, "target_id": None}] * 500
    many += [{**FLAG, "effect": "rejected", "labels": {"operation": "read"}, "target_id": None}] * 500
    at_work.change("UPDATE run SET flags = CAST(:flags AS jsonb)", flags=json.dumps(many))
    answer = client.get("/api/v1/runs", headers=admin.headers)
    assert len(answer.content) < 5_000
    assert [(flag["effect"], len(flag["measured"]), flag["labels"]) for flag in answer.json()["items"][0]["flags"]] == [
        ("marked", 150, {}),
        ("rejected", 3, {"operation": "read"}),
    ]
    assert len(client.get(f"/api/v1/runs/{offer.run_id}", headers=admin.headers).json()["flags"]) == 1_000


def test_a_declined_result_leaves_its_reason_and_nothing_else(at_work: Site) -> None:
    agent, offer = started(at_work)
    samples = tuple({**SAMPLE, "labels": {"operation": f"{number}"}} for number in range(500))
    declined = agent.result(
        offer,
        Outcome.DECLINED,
        reason="the node is busy",
        reason_code="node_busy_locally",
        samples=samples,
        steps=(step(at_work, argv=["A" * 100_000]),),
        flags=(FLAG,),
        environment={"x.y": "B" * 100_000},
    )
    assert agent.hand_in(offer, declined).accepted
    run = at_work.run(offer.run_id)
    assert (run.state, run.flags, run.environment_sha256) == ("waiting", [], None)
    with at_work.database.transaction() as session:
        assert session.execute(
            text(
                "SELECT (SELECT count(*) FROM series), (SELECT count(*) FROM sample), (SELECT count(*) FROM reading),"
                " (SELECT count(*) FROM environment)"
            )
        ).all() == [(0, 0, 0, 0)]
        assert session.scalar(text("SELECT jsonb_array_length(steps) FROM node_order")) == 0
    assert run.reason is not None
    assert "the node is busy" in run.reason


def test_results_count_to_the_bytes_of_a_node_and_day(at_work: Site) -> None:
    agent, offer = started(at_work)
    assert agent.hand_in(offer, agent.result(offer, samples=(SAMPLE,))).accepted
    with at_work.database.transaction() as session:
        sent = session.scalar(text("SELECT raw_bytes FROM node_beat WHERE node_id = :id"), {"id": at_work.node_ids[0]})
    assert 300 < sent - SERIES_BYTES < 1_000
    at_work.change("UPDATE node_beat SET raw_bytes = :most", most=20 * 1024**3)
    agent, offer = started(at_work)
    assert "bytes of results and raw output of the node today; at most 21474836480" in refusal(
        at_work, agent, offer, {}
    )
    at_work.change("UPDATE node_beat SET raw_on = raw_on - 1")
    agent, offer = started(at_work)
    assert agent.hand_in(offer, agent.result(offer, samples=(SAMPLE,))).accepted
    assert at_work.run(offer.run_id).state == "finished"


def test_only_the_receiver_of_a_run_says_where_it_receives(database: Database, clock: MovedClock) -> None:
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
        return agent.beat(OrderBeat.model_validate({**said, "started_at": None, "endpoint": endpoint})).orders[0]

    ready(receiver, "10.0.0.2")
    ready(observer, "192.0.2.66")
    ready(sender, "192.0.2.67")
    agree(sender, receiver)
    told = ready(sender)
    assert (told.word, told.endpoint and told.endpoint.address) == (Word.GO, "10.0.0.2")
    site.change(  # as release 0.2 stored it
        "UPDATE node_order SET endpoint = jsonb_set((SELECT endpoint FROM node_order WHERE id = :receiver),"
        " '{address}', '\"192.0.2.66\"') WHERE id = :observer",
        receiver=receiver[1].order_id,
        observer=observer[1].order_id,
    )
    endpoint = ready(sender).endpoint
    assert endpoint is not None
    assert endpoint.address == "10.0.0.2"


def test_a_load_that_is_stuck_again_and_again_leaves_only_so_many_lines_in_the_log(at_work: Site) -> None:
    agent, offer = started(at_work)
    agent.finish(offer)
    load = StuckLoad(
        order_id=offer.order_id, process="dd", pid=1, state="D", waits_in="io", processes=1, since=at_work.clock()
    )
    for place in range(12):
        request = BeatRequest(
            agent_instance=agent.instance,
            boot_id=agent.boot_id,
            sent_at=at_work.clock(),
            orders=(),
            stuck=() if place % 2 else (load,),
        )
        with at_work.database.transaction() as session:
            beats.beat(session, agent.node_id, request, at_work.clock(), ReportLimits(log_lines=3))
        at_work.clock.move(16)
    with at_work.database.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM run_event WHERE kind = 'freed'")) == 3


def test_a_batch_job_with_another_number_in_each_report_leaves_only_so_many_lines_in_the_log(at_work: Site) -> None:
    slurm = BatchSite(at_work)
    at_work.add_runs([1])
    at_work.start()
    job = slurm.wanted()
    for place in range(6):
        seen = SeenJob(
            run_id=job.run_id, fence=job.fence, job_id=f"{place}", state=JobState.PENDING, end=None, words="w"
        )
        report = BatchReport(
            agent_instance=INSTANCE, system=BatchSystem.SLURM, problem=None, jobs=(seen,), hosts=(), refused=()
        )
        with at_work.database.transaction() as session:
            batch.report(session, slurm.gateway_id, report, at_work.clock(), ReportLimits(log_lines=3))
        at_work.clock.move(5)
    with at_work.database.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM run_event WHERE kind = 'batch_job'")) == 3


def test_a_stored_label_without_end_is_written_all_the_same() -> None:
    for value in (10**500, float("inf"), -(10**400)):
        assert described({"pause_seconds": value, "n": value}, {}) == "Pause beyond 1e30, N beyond 1e30"
