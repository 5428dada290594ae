"""Declines and reports of one node keep neither a scheduler pass nor a page from ending."""

from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
from factories.clock import MovedClock
from factories.reported import FLAG, SAMPLE
from factories.site import Site
from sqlalchemy import text
from sqlalchemy.orm import Session
from structlog.testing import capture_logs

from iotide_server.explorer.queries import described
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker
from iotide_server.results.ingest.headlines import put_headlines
from iotide_server.results.queries import campaign_samples
from iotide_server.runs.declines import declined_alike
from iotide_server.scheduling import starting
from iotide_server.scheduling.queues import Candidates, NodeQueues
from iotide_server.scheduling.service import Scheduler
from iotide_wire.messages import Outcome

PATIENCE_SECONDS: Final = 10.0
"""A slower statement fails its test; before the fix, these took 20 s and more."""

CELLS: Final = 300
REPEATS: Final = 30

COPIED_DECLINE: Final = """
    INSERT INTO attempt OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(attempt, jsonb_build_object('id', 1000000 + other, 'run_id', other))).*
    FROM attempt, unnest(CAST(:others AS bigint[])) AS other WHERE run_id = :declined;

    INSERT INTO node_order OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(node_order, jsonb_build_object(
        'id', 1000000 + other, 'run_id', other, 'attempt_id', 1000000 + other))).*
    FROM node_order, unnest(CAST(:others AS bigint[])) AS other WHERE run_id = :declined;

    UPDATE run SET reason_code = own.reason_code, reason = own.reason, not_before = own.not_before
    FROM run AS own WHERE own.id = :declined AND run.id = ANY(:others);

    UPDATE line_place SET not_before = own.not_before
    FROM line_place AS own WHERE own.run_id = :declined AND line_place.run_id = ANY(:others)
"""


def decline_each_cell(plant: Site, code: str) -> list[int]:
    """Let node 1 decline the first run of each cell that waits there; return the runs that wait."""
    waiting = plant.add_runs(*[[1]] * CELLS, repeats=REPEATS)
    (declined,) = plant.start()
    agent = plant.agent(1)
    offer = agent.claim_offer()
    agent.hand_in(offer, agent.result(offer, Outcome.DECLINED, reason="no memory", reason_code=code))
    with plant.database.transaction() as session:
        firsts = session.scalars(text("SELECT min(id) FROM run GROUP BY cell_id")).all()
    others = [run_id for run_id in firsts if run_id != declined]
    for statement in COPIED_DECLINE.split(";"):
        plant.change(statement, others=others, declined=declined)
    return waiting


def test_a_pass_ends_in_time_despite_a_node_that_declined_300_cells_of_9000_runs(plant: Site) -> None:
    """Runs that the declined reason does not affect start: of a smaller cell, and of another node."""
    decline_each_cell(plant, "memory_short")
    plant.clock.move(1)
    others = plant.add_runs([1], [2])
    decided = starting.decide(plant.database, NodeQueues(), plant.clock(), statement_seconds=PATIENCE_SECONDS)
    assert sorted(run.run_id for run in decided) == others


@pytest.mark.parametrize("code", ["memory_short", "tool_missing"])
def test_a_page_says_in_time_why_9000_runs_wait_for_300_declined_cells(plant: Site, code: str) -> None:
    waiting = decline_each_cell(plant, code)
    with plant.database.transaction(statement_seconds=PATIENCE_SECONDS) as session:
        assert len(declined_alike(session, waiting, plant.clock())) >= CELLS * (REPEATS - 1)


def test_a_pass_that_takes_too_long_starts_no_run_and_the_scheduler_watches_on(
    database: Database, clock: MovedClock, plant: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_for_ever(_: NodeQueues, session: Session, __: object) -> Candidates:
        session.execute(text("SELECT pg_sleep(60)"))
        raise AssertionError("the statement was not ended")

    _, loading = plant.start_load(1)
    (waits,) = plant.add_runs([2])
    plant.change(
        "INSERT INTO drain (kind, subject_id, cluster_id, reason, by, since, until)"
        " VALUES ('node', :node, :cluster, 'a disk', 'ada', :now, :now)",
        node=plant.node_ids[0],
        cluster=plant.cluster_id,
        now=clock(),
    )
    monkeypatch.setattr(starting, "decide", partial(starting.decide, statement_seconds=0.2))
    scheduler = Scheduler(database, Broker("redis://127.0.0.1:1/0"), lambda: None, clock)
    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr(NodeQueues, "candidates", read_for_ever)
        for _ in range(5):
            clock.now += timedelta(seconds=50)
            scheduler.step({"start"})
    assert {(log["event"], log["log_level"]) for log in logs if "not_done" in log} == {("pass_took_too_long", "error")}
    assert plant.run(loading.run_id).overdue
    with database.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM drain")) == 0
    assert plant.run(waits).state == "waiting"
    plant.keep_online()
    scheduler.step({"start"})
    assert plant.run(waits).state == "active"


def flagged_run(plant: Site) -> int:
    """Return a run with 29,001 numbers and 1,000 flags, which name its target except for its id."""
    target_id = plant.target_ids["scratch"]
    samples: list[dict[str, Any]] = [SAMPLE]
    samples += [{**SAMPLE, "target_id": target_id, "labels": {"operation": "read"}}] * 29_000
    flags = [{**FLAG, "target_id": target_id, "measured": f"{number} s"} for number in range(1000)]
    agent, offer = plant.start_load()
    assert agent.hand_in(offer, agent.result(offer, samples=tuple(samples), flags=tuple(flags))).accepted
    with plant.database.transaction() as session:
        put_headlines(session, list(session.scalars(text("SELECT id FROM cell"))))
    return offer.run_id


def test_the_table_of_runs_asks_no_flag_about_each_number(plant: Site) -> None:
    run_id = flagged_run(plant)
    plant.change("ANALYZE sample, series, run")
    with plant.database.transaction(statement_seconds=PATIENCE_SECONDS) as session:
        [row] = described(session, [run_id])
    assert (row.flags, row.headline_flags) == (["DURATION"], [])


def test_a_line_of_a_campaigns_numbers_names_each_code_once(plant: Site) -> None:
    run_id = flagged_run(plant)
    campaign_id = plant.run(run_id).campaign_id
    with plant.database.transaction() as session:
        (row,) = campaign_samples(session, campaign_id, None, 1)
    assert row.flags == ["DURATION"]


def test_of_flags_that_are_the_same_one_is_stored(plant: Site) -> None:
    agent, offer = plant.start_load()
    flags = ({**FLAG}, {**FLAG, "code": "CLOCK"}, {**FLAG}, {**FLAG, "measured": "1.5 s"}) * 200
    assert agent.hand_in(offer, agent.result(offer, samples=(SAMPLE,), flags=flags)).accepted
    stored = [(flag["code"], flag["measured"]) for flag in plant.run(offer.run_id).flags]
    assert stored[:3] == [("DURATION", "1 s"), ("CLOCK", "1 s"), ("DURATION", "1.5 s")]
    assert len(set(stored)) == len(stored)
