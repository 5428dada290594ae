from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from factories.clock import MovedClock
from factories.raised import raised
from factories.site import Offered, SimulatedAgent, Site, order_heartbeat
from sqlalchemy import text

from iotide_server.agent_api.starts import AGREED_AHEAD, BARRIER
from iotide_server.clusters.errors import AGENT_SUPERSEDED
from iotide_server.runs.models import Order
from iotide_wire.messages import CurvePiece, OrderState, Outcome, Word


def claimed(site: Site, *nodes: int) -> tuple[list[SimulatedAgent], list[Offered]]:
    """A run claimed by all its nodes."""
    site.add_runs(list(nodes))
    site.start()
    agents = [site.agent(number) for number in nodes]
    return agents, [agent.claim_offer() for agent in agents]


def order(site: Site, offer: Offered) -> Order:
    with site.database.transaction() as session:
        return session.get_one(Order, offer.order_id)


def test_a_single_node_may_start_as_soon_as_it_is_ready(site: Site, clock: MovedClock) -> None:
    (agent,), (offer,) = claimed(site, 1)
    assert agent.say(offer, OrderState.PREFLIGHT) is Word.CONTINUE
    for _ in range(2):
        (word,) = agent.heartbeat(order_heartbeat(offer, OrderState.READY)).orders
        assert (word.word, word.go_at) == (Word.GO, None)
    assert agent.say(offer, OrderState.RUNNING, started_at=clock()) is Word.CONTINUE


def ready(agent: SimulatedAgent, offer: Offered) -> tuple[Word, datetime | None]:
    (said,) = agent.heartbeat(order_heartbeat(offer, OrderState.READY)).orders
    return said.word, said.go_at


def test_a_gang_starts_at_the_moment_that_each_node_acknowledged(site: Site, clock: MovedClock) -> None:
    (one, two), (first, second) = claimed(site, 1, 2)
    assert ready(one, first) == (Word.CONTINUE, None)
    go_at = clock() + BARRIER
    assert ready(two, second) == (Word.CONTINUE, go_at)
    clock.move(0.5)
    assert ready(two, second) == (Word.CONTINUE, go_at)
    assert ready(one, first) == (Word.CONTINUE, go_at)
    assert ready(one, first) == (Word.GO, go_at)
    clock.move(60)
    # A node that learns of it late starts late: the others are already running.
    assert ready(two, second) == (Word.GO, go_at)


def test_a_moment_that_a_node_did_not_acknowledge_in_time_is_postponed_by_growing_steps(
    site: Site, clock: MovedClock
) -> None:
    (cut_off, two), (first, second) = claimed(site, 1, 2)
    ready(cut_off, first)
    moments = []
    for _ in range(120):
        word, go_at = ready(two, second)
        assert word is Word.CONTINUE
        moments.append(go_at)
        clock.move(0.5)
    ahead = [(moment - known).total_seconds() for known, moment in pairwise(sorted({one for one in moments if one}))]
    assert ahead == sorted(ahead)
    assert ahead[-1] == pytest.approx((8 * BARRIER - AGREED_AHEAD).total_seconds(), abs=0.5)
    # The start moves to a later moment if a node acknowledged this one too late.
    assert ready(cut_off, first) == (Word.CONTINUE, moments[-1])
    clock.move(16 * BARRIER.total_seconds())
    assert ready(cut_off, first) == (Word.CONTINUE, clock() + 8 * BARRIER)
    ready(two, second)
    ready(two, second)
    assert ready(cut_off, first) == (Word.GO, clock() + 8 * BARRIER)


def test_no_moment_is_agreed_on_once_a_node_of_the_gang_has_ended(site: Site, clock: MovedClock) -> None:
    (one, two), (first, second) = claimed(site, 1, 2)
    ready(one, first)
    ready(two, second)
    one.finish(first, Outcome.DECLINED, reason="the mount is gone")
    clock.move(0.1)
    assert ready(two, second)[0] is Word.CANCEL


def test_a_node_of_an_earlier_release_acknowledges_the_moment_by_loading(site: Site, clock: MovedClock) -> None:
    (old, new), (first, second) = claimed(site, 1, 2)
    ready(new, second)
    go_at = clock() + BARRIER
    assert ready(old, first) == (Word.CONTINUE, go_at)
    old.say(first, OrderState.RUNNING, started_at=clock())
    assert ready(new, second) == (Word.CONTINUE, go_at)
    assert ready(new, second) == (Word.GO, go_at)


def test_heartbeats_move_an_order_forwards_and_a_late_one_moves_nothing_back(site: Site, clock: MovedClock) -> None:
    (agent,), (offer,) = claimed(site, 1)
    agent.say(offer, OrderState.RUNNING, 0.5, started_at=clock())
    agent.say(offer, OrderState.PREFLIGHT, 0.0)
    agent.say(offer, OrderState.RUNNING, 0.4)
    found = order(site, offer)
    assert (found.state, found.progress, found.phase, found.started_at) == ("running", 0.5, "running", clock())


def test_no_heartbeat_ends_an_order(site: Site) -> None:
    (agent,), (offer,) = claimed(site, 1)
    agent.say(offer, OrderState.ENDED)
    assert order(site, offer).state == "uploading"
    assert site.run(offer.run_id).state == "active"


def test_an_order_under_another_fence_or_of_another_node_is_unknown(site: Site) -> None:
    (agent,), (offer,) = claimed(site, 1)
    forged = Offered(offer.order_id, offer.fence ^ 1 or 1, offer.run_id)
    assert agent.say(forged, OrderState.RUNNING, 0.9) is Word.UNKNOWN
    assert site.agent(2).say(offer, OrderState.RUNNING, 0.9) is Word.UNKNOWN
    assert order(site, offer).state == "claimed"


def test_an_ended_order_is_unknown(site: Site) -> None:
    (agent,), (offer,) = claimed(site, 1)
    agent.finish(offer)
    assert agent.say(offer, OrderState.UPLOADING) is Word.UNKNOWN


def test_a_cancel_outweighs_the_leave_to_go(site: Site, cancel: Callable[[int], None]) -> None:
    (agent,), (offer,) = claimed(site, 1)
    cancel(offer.run_id)
    assert agent.say(offer, OrderState.READY) is Word.CANCEL


def test_a_superseded_agent_is_rejected_and_changes_nothing(site: Site) -> None:
    (agent,), (offer,) = claimed(site, 1)
    with raised(AGENT_SUPERSEDED):
        agent.heartbeat(order_heartbeat(offer, progress=0.9), instance="a-second-copy")
    assert order(site, offer).state == "claimed"


def test_heartbeats_are_frequent_while_a_load_begins_and_rare_later(site: Site, clock: MovedClock) -> None:
    agent = site.agent(1)
    assert agent.heartbeat().beat_seconds == 5.0
    (agent,), (offer,) = claimed(site, 1)
    heartbeat = order_heartbeat(offer, started_at=clock())
    assert (
        agent.heartbeat(heartbeat.model_copy(update={"state": OrderState.READY, "started_at": None})).beat_seconds
        == 1.0
    )
    assert agent.heartbeat(heartbeat).beat_seconds == 1.0
    clock.move(11)
    assert agent.heartbeat(heartbeat).beat_seconds == 3.0
    clock.move(31)
    assert agent.heartbeat(heartbeat).beat_seconds == 10.0


@pytest.fixture
def many_nodes(site: Site) -> Iterator[None]:
    """1,600 nodes, also in the planner's statistics, which outlive the rows and are restored."""
    site.change(
        "INSERT INTO node (cluster_id, name, role, token_sha256, redis_password_sha256)"
        " SELECT :cluster_id, 'm' || i, 'compute', 'm' || i, '' FROM generate_series(1, 1598) AS i",
        cluster_id=site.cluster_id,
    )
    site.change("INSERT INTO node_beat SELECT id, now() FROM node WHERE name LIKE 'm%'")
    site.change("ANALYZE node_beat")
    yield
    site.change("DELETE FROM node_beat")
    site.change("ANALYZE node_beat")


@pytest.mark.usefixtures("many_nodes")
def test_an_idle_node_sends_fewer_heartbeats_where_there_are_many_nodes(site: Site) -> None:
    assert site.agent(1).heartbeat().beat_seconds == pytest.approx(8.0, rel=0.1)


def test_the_answer_shows_how_long_an_offer_has_waited(site: Site, clock: MovedClock) -> None:
    agent = site.agent(1)
    assert agent.heartbeat().oldest_offer_seconds is None
    site.add_runs([1])
    site.start()
    clock.move(17)
    assert agent.heartbeat().oldest_offer_seconds == 17.0


def test_a_repeated_state_is_logged_once(site: Site) -> None:
    (agent,), (offer,) = claimed(site, 1)
    for state in (OrderState.PREFLIGHT, OrderState.PREFLIGHT, OrderState.RUNNING, OrderState.RUNNING):
        agent.say(offer, state)
    with site.database.transaction() as session:
        lines = session.scalars(text("SELECT text FROM run_event ORDER BY id")).all()
    assert lines == ["offered to n1", "n1: claimed", "n1: preflight", "n1: running"]


def test_curves_come_with_heartbeats_and_are_stored_once(site: Site, clock: MovedClock) -> None:
    (agent,), (offer,) = claimed(site, 1)
    piece = CurvePiece(
        counter="write_bytes_per_second", started_at=clock() - timedelta(seconds=3), step_seconds=1.0, values=(1, 2, 3)
    )
    heartbeat = order_heartbeat(offer, curves=(piece,))
    for _ in range(2):
        agent.heartbeat(heartbeat)
    with site.database.transaction() as session:
        assert session.execute(text('SELECT "values" FROM curve_chunk')).all() == [([1.0, 2.0, 3.0],)]
