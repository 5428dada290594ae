"""Nodes that decline for a reason only they can remove: no run fails, and unaffected runs start first."""

from datetime import timedelta

import pytest
from factories.people import ADMIN
from factories.site import Offered, Site

from iotide_server.kit.clock import written
from iotide_server.runs import reading
from iotide_server.runs.lifecycle import DECLINES_FORGIVEN
from iotide_server.runs.schemas import QueueChoice
from iotide_wire.messages import Outcome


@pytest.mark.parametrize("repeats", [20])
def test_an_agent_of_an_earlier_release_declines_and_no_run_fails_for_it(plant: Site, repeats: int) -> None:
    """It does not report what holds its node, and the server does not know that it is stuck."""
    waiting = plant.add_runs([1], repeats=repeats)
    agent = plant.agent(1)
    for _ in range(2 * DECLINES_FORGIVEN):
        plant.clock.move(120)
        plant.keep_online()
        plant.start()
        offer = agent.claim_offer()
        words = "this node is held by dd (pid 25760)"
        agent.hand_in(offer, agent.result(offer, Outcome.DECLINED, reason=words, reason_code="node_busy_locally"))
    runs = [plant.run(run_id) for run_id in waiting]
    assert {(run.state, run.declines, run.attempts_made) for run in runs} == {("waiting", 0, 0)}
    plant.clock.move(120)
    plant.keep_online()
    assert len(plant.start()) == 1


@pytest.mark.parametrize(
    ("code", "seconds"),
    [
        ("node_busy_locally", 30),
        ("memory_short", 60),
        ("target_hangs", 300),
        ("target_fails", 300),
        ("directory_open_to_others", 300),
        ("no_load_user", 300),
        ("tool_missing", 300),
    ],
)
def test_a_condition_that_only_its_node_can_end_postpones_a_run_without_counting(
    plant: Site, code: str, seconds: int
) -> None:
    (run_id,) = plant.add_runs([1], target="nfs")
    agent = plant.agent(1)
    for _ in range(2 * DECLINES_FORGIVEN):
        assert plant.start() == [run_id]
        offer = agent.claim_offer()
        agent.hand_in(offer, agent.result(offer, Outcome.DECLINED, reason="as the agent says", reason_code=code))
        run = plant.run(run_id)
        assert (run.state, run.declines, run.attempts_made) == ("waiting", 0, 0)
        again_at = plant.clock() + timedelta(seconds=seconds)
        words = f"Next attempt not before {written(again_at)} (last attempt: as the agent says)"
        assert words in plant.why_waiting(run_id)
        plant.clock.move(seconds - 1)
        plant.keep_online()
        assert plant.start() == []
        plant.clock.move(1)


def test_other_declines_count_as_before(plant: Site) -> None:
    (run_id,) = plant.add_runs([1])
    plant.start()
    agent = plant.agent(1)
    offer = agent.claim_offer()
    agent.hand_in(offer, agent.result(offer, Outcome.DECLINED, reason="full", reason_code="spool_full"))
    assert plant.run(run_id).declines == 1


WORDS = "a target does not answer: no answer for 10 s"


def decline(plant: Site, number: int, code: str = "target_hangs", words: str = WORDS) -> Offered:
    agent = plant.agent(number)
    offer = agent.claim_offer()
    agent.hand_in(offer, agent.result(offer, Outcome.DECLINED, reason=words, reason_code=code))
    return offer


def test_one_decline_for_a_hung_target_lets_the_runs_on_healthy_ones_go_first(plant: Site) -> None:
    hung = plant.add_runs([1], target="nfs", repeats=20)
    plant.clock.move(1)
    healthy = plant.add_runs([1], target="scratch", repeats=2)
    elsewhere = plant.add_runs([2], target="nfs")
    assert sorted(plant.start()) == [hung[0], *elsewhere]
    decline(plant, 1)
    for run_id in healthy:
        assert plant.start() == [run_id]
        plant.agent(1).finish(plant.agent(1).claim_offer())
    assert plant.start() == []
    plant.clock.move(300)
    plant.keep_online()
    assert plant.start() == [hung[0]]
    assert {plant.run(run_id).attempts_made for run_id in hung[1:]} == {0}


def test_the_others_wait_with_the_same_message_until_the_same_time(plant: Site) -> None:
    declined, *others = plant.add_runs([1], target="nfs", repeats=3)
    plant.start()
    decline(plant, 1)
    again_at = plant.clock() + timedelta(seconds=300)
    words = f"Waiting until {written(again_at)} because node n1 declined run {declined}: {WORDS}"
    own = f"Next attempt not before {written(again_at)} (last attempt: {WORDS})"
    assert plant.why_waiting(declined).startswith(own)
    assert [plant.why_waiting(run_id).startswith(words) for run_id in others] == [True, True]
    with plant.database.transaction() as session:
        queue = reading.queue(session, ADMIN, plant.cluster_id, QueueChoice(), plant.clock())
        expected = reading.expected_start(session, reading.run(session, ADMIN, others[0]), plant.clock())
    assert [run.waiting_because.startswith(words) for run in queue.runs] == [False, True, True]
    assert expected is not None
    assert expected.at is not None
    assert expected.at >= again_at


def test_a_run_that_is_put_off_for_longer_stays_so(plant: Site) -> None:
    declined, longer = plant.add_runs([1], target="nfs", repeats=2)
    later = plant.clock() + timedelta(days=1)
    plant.change("UPDATE run SET not_before = :later WHERE id = :id", later=later, id=longer)
    plant.change("UPDATE line_place SET not_before = :later WHERE run_id = :id", later=later, id=longer)
    plant.start()
    decline(plant, 1)
    assert plant.why_waiting(longer).startswith(f"Starts not before {written(later)}")
    plant.clock.move(300)
    plant.keep_online()
    assert plant.start() == [declined]


def test_a_gang_waits_in_the_lines_of_its_other_nodes_too(plant: Site) -> None:
    first = plant.add_runs([1], target="nfs")
    plant.clock.move(1)
    gang = plant.add_runs([1, 2], target="nfs")
    assert plant.start() == first
    decline(plant, 1)
    assert plant.start() == []
    assert "because node n1 declined run" in plant.why_waiting(gang[0])
    plant.clock.move(1)
    alone = plant.add_runs([2], target="nfs")
    assert plant.start() == alone


def test_the_node_of_a_gang_that_did_not_decline_continues_with_the_target(plant: Site) -> None:
    (gang,) = plant.add_runs([1, 2], target="nfs")
    plant.clock.move(1)
    hung, healthy = plant.add_runs([1], [2], target="nfs")
    assert plant.start() == [gang, gang]
    other = plant.agent(2).claim_offer()
    decline(plant, 1)
    plant.agent(2).finish(other, Outcome.CANCELLED)
    assert plant.start() == [healthy]
    assert f"declined run {gang}" in plant.why_waiting(hung)


def test_a_decline_of_several_targets_puts_off_no_run_that_loads_one_of_them(plant: Site) -> None:
    both, alike = plant.add_runs([1], target="nfs", repeats=2)
    plant.change(
        "INSERT INTO cell_target (cell_id, target_id) SELECT cell_id, :target FROM run WHERE id = :id",
        target=plant.target_ids["scratch"],
        id=both,
    )
    plant.change("UPDATE line_place SET target_ids = :both", both=sorted(plant.target_ids.values()))
    plant.clock.move(1)
    one = plant.add_runs([1], target="scratch")
    assert plant.start() == [both]
    decline(plant, 1)
    assert plant.start() == one
    assert f"declined run {both}" in plant.why_waiting(alike)


def test_a_node_that_only_sends_waits_for_no_target_of_its_own(plant: Site) -> None:
    hung = plant.add_runs([1], target="nfs")
    plant.clock.move(1)
    sending = plant.add_runs([1, 2], target="nfs", roles=("sender", "receiver"))
    assert plant.start() == hung
    decline(plant, 1)
    assert set(plant.start()) == set(sending)


@pytest.mark.parametrize(
    ("code", "other"),
    [
        ("target_fails", "target"),
        ("directory_open_to_others", "target"),
        ("tool_missing", "workload"),
        ("memory_short", "cell"),
        ("node_busy_locally", "exclusive"),
        ("no_load_user", "exclusive"),
    ],
)
def test_a_decline_postpones_only_affected_runs(plant: Site, code: str, other: str) -> None:
    """The second run of the same cell would; a run that differs in the code's subject would not."""
    first, second = plant.add_runs([1], target="nfs", repeats=2)
    plant.clock.move(1)
    target, exclusive = "scratch" if other == "target" else "nfs", "none" if other == "exclusive" else "node"
    (third,) = plant.add_runs([1], target=target, exclusive=exclusive)
    if other == "workload":
        plant.change(
            "UPDATE cell SET workload_id = (SELECT id FROM workload WHERE name = 'fio') WHERE id ="
            " (SELECT cell_id FROM run WHERE id = :id)",
            id=third,
        )
    assert plant.start() == [first]
    decline(plant, 1, code, "as the agent says")
    assert plant.start() == [third]
    assert f"because node n1 declined run {first}: as the agent says" in plant.why_waiting(second)


def test_a_decline_that_counts_puts_off_no_other_run(plant: Site) -> None:
    first, second = plant.add_runs([1], target="nfs", repeats=2)
    assert plant.start() == [first]
    decline(plant, 1, "wrong_mount")
    assert plant.start() == [second]
