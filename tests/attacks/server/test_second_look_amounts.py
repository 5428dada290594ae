"""Found by a second review: an attacker who owns one node reports more than the server has room for."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from factories.announced import mount
from factories.batch_site import INSTANCE, BatchSite
from factories.people import Person
from factories.reported import FLAG, SAMPLE, refusal, step
from factories.site import Site
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.agent_api import batch, heartbeats
from iotide_server.results.ingest.checks import check_described, check_size
from iotide_server.results.ingest.limits import ReportLimits
from iotide_wire.batch import BatchReport, BatchSystem, JobState, SeenJob
from iotide_wire.facts import MountFacts
from iotide_wire.messages import FinishRequest, HeartbeatRequest, Outcome, StuckLoad

RECORDED: Final = sorted((Path(__file__).parents[2] / "data/wire").glob("v*/FinishRequest-*.json"))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"flags": ({**FLAG, "measured": "m" * 4000},) * 40}, "bytes of flags and not_judged; at most 131072"),
        (
            {"flags": (FLAG,), "not_judged": ({"check": "outlier", "because": "b" * 4000},) * 40},
            "bytes of flags and not_judged; at most 131072",
        ),
        ({"flags": ({**FLAG, "labels": {f"l{i}": 1 for i in range(17)}},)}, "flags[0].labels: 17 labels of a value"),
        (
            {"environment": {f"x.y{place}": "B" * 4_000 for place in range(40)}},
            "bytes of environment and foreign; at most 131072",
        ),
    ],
)
def test_endless_flags_and_facts_are_rejected_with_a_message(plant: Site, changed: dict[str, Any], words: str) -> None:
    agent, offer = plant.start_load()
    assert words in refusal(plant, agent, offer, changed)
    assert plant.run(offer.run_id).flags == []


def test_texts_of_facts_are_cut(plant: Site) -> None:
    agent, offer = plant.start_load()
    cut = agent.result(offer, environment={"x.y": "B" * 200_000, "x.z": "B" * 4_000, "x.n": 1}).environment
    assert cut == {"x.y": "B" * 3_996 + " ...", "x.z": "B" * 4_000, "x.n": 1}
    [mounted] = [mount().model_copy(update={"facts": {"fs.name": "B" * 200_000}})]
    assert MountFacts.model_validate(mounted.model_dump()).facts == {"fs.name": "B" * 3_996 + " ..."}


def test_endless_arguments_are_rejected_with_a_message(plant: Site) -> None:
    agent, offer = plant.start_load()
    reason = refusal(plant, agent, offer, {"steps": (step(plant, argv=["A" * 1_000_000] * 3),)})
    assert "bytes of steps; at most 2097152" in reason


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: "/".join(file.parts[-2:]))
def test_results_of_agents_of_each_release_are_far_from_the_limits(file: Path) -> None:
    result = FinishRequest.model_validate_json(file.read_bytes())
    check_described(result, ReportLimits(flag_bytes=4_000, step_bytes=4_000, fact_bytes=4_000))
    check_size(result.samples)


def test_a_list_of_runs_names_one_of_very_many_flags_of_a_code_and_the_run_has_all(
    plant: Site, client: TestClient, admin: Person
) -> None:
    agent, offer = plant.start_load()
    assert agent.hand_in(offer, agent.result(offer, samples=(SAMPLE,))).accepted
    few = [{**FLAG, "labels": {"operation": "write"}, "target_id": None, "peers": None}]
    plant.change("UPDATE run SET flags = CAST(:flags AS jsonb)", flags=json.dumps(few))
    [listed] = client.get("/api/v1/runs", headers=admin.headers).json()["items"]
    assert listed["flags"] == few
    labels = {f"l{number}": "v" * 5 for number in range(390)}
    many = [{**FLAG, "measured": "m" * 4000, "labels": labels, "target_id": None, "peers": None}] * 500
    many += [{**FLAG, "effect": "rejected", "labels": {"operation": "read"}, "target_id": None, "peers": None}] * 500
    plant.change("UPDATE run SET flags = CAST(:flags AS jsonb)", flags=json.dumps(many))
    answer = client.get("/api/v1/runs", headers=admin.headers)
    assert len(answer.content) < 5_000
    assert [(flag["effect"], len(flag["measured"]), flag["labels"]) for flag in answer.json()["items"][0]["flags"]] == [
        ("marked", 150, {}),
        ("rejected", 3, {"operation": "read"}),
    ]
    assert len(client.get(f"/api/v1/runs/{offer.run_id}", headers=admin.headers).json()["flags"]) == 1_000


def test_a_declined_result_leaves_its_reason_and_nothing_else(plant: Site) -> None:
    agent, offer = plant.start_load()
    samples = tuple({**SAMPLE, "labels": {"operation": f"{number}"}} for number in range(500))
    declined = agent.result(
        offer,
        Outcome.DECLINED,
        reason="the node is busy",
        reason_code="node_busy_locally",
        samples=samples,
        steps=(step(plant, argv=["A" * 100_000]),),
        flags=(FLAG,),
        environment={"x.y": "B" * 100_000},
    )
    assert agent.hand_in(offer, declined).accepted
    run = plant.run(offer.run_id)
    assert (run.state, run.flags, run.environment_sha256) == ("waiting", [], None)
    with plant.database.transaction() as session:
        assert session.execute(
            text(
                "SELECT (SELECT count(*) FROM series), (SELECT count(*) FROM sample), (SELECT count(*) FROM reading),"
                " (SELECT count(*) FROM environment)"
            )
        ).all() == [(0, 0, 0, 0)]
        assert session.scalar(text("SELECT jsonb_array_length(steps) FROM node_order")) == 0
    assert run.reason is not None
    assert "the node is busy" in run.reason


def test_results_count_to_the_bytes_of_a_node_and_day(plant: Site) -> None:
    agent, offer = plant.start_load()
    assert agent.hand_in(offer, agent.result(offer, samples=(SAMPLE,))).accepted
    with plant.database.transaction() as session:
        sent = session.scalar(text("SELECT raw_bytes FROM node_beat WHERE node_id = :id"), {"id": plant.node_ids[0]})
    assert 300 < sent < 1_000
    plant.change("UPDATE node_beat SET raw_bytes = :most", most=20 * 1024**3)
    agent, offer = plant.start_load()
    assert "bytes of results, curves and raw output of the node today; at most 21474836480" in refusal(
        plant, agent, offer, {}
    )
    plant.change("UPDATE node_beat SET raw_on = raw_on - 1")
    agent, offer = plant.start_load()
    assert agent.hand_in(offer, agent.result(offer, samples=(SAMPLE,))).accepted
    assert plant.run(offer.run_id).state == "finished"


def test_a_load_that_is_stuck_again_and_again_leaves_no_more_lines_than_the_limit(plant: Site) -> None:
    agent, offer = plant.start_load()
    agent.finish(offer)
    load = StuckLoad(
        order_id=offer.order_id, process="dd", pid=1, state="D", waits_in="io", processes=1, since=plant.clock()
    )
    for place in range(12):
        request = HeartbeatRequest(
            agent_instance=agent.instance,
            boot_id=agent.boot_id,
            sent_at=plant.clock(),
            orders=(),
            stuck=() if place % 2 else (load,),
        )
        with plant.database.transaction() as session:
            heartbeats.answer_heartbeat(session, agent.node_id, request, plant.clock(), ReportLimits(log_lines=3))
        plant.clock.move(16)
    with plant.database.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM run_event WHERE kind = 'freed'")) == 3


def test_a_batch_job_with_another_number_in_each_report_leaves_no_more_lines_than_the_limit(plant: Site) -> None:
    slurm = BatchSite(plant)
    plant.add_runs([1])
    plant.start()
    job = slurm.wanted()
    for place in range(6):
        seen = SeenJob(
            run_id=job.run_id, fence=job.fence, job_id=f"{place}", state=JobState.PENDING, end=None, words="w"
        )
        report = BatchReport(
            agent_instance=INSTANCE, system=BatchSystem.SLURM, problem=None, jobs=(seen,), hosts=(), refused=()
        )
        with plant.database.transaction() as session:
            batch.report(session, slurm.gateway_id, report, plant.clock(), ReportLimits(log_lines=3))
        plant.clock.move(5)
    with plant.database.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM run_event WHERE kind = 'batch_job'")) == 3
