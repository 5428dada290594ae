"""Endpoints of receivers: reported in a heartbeat, and passed with the start signal only to the sender."""

from collections.abc import Callable

import pytest
from factories.site import Offered, SimulatedAgent, Site, agree, order_heartbeat
from sqlalchemy import text

from iotide_wire.endpoint import Endpoint
from iotide_wire.measured import StepRole
from iotide_wire.messages import OrderHeartbeat, OrderState, OrderWord, Word

ENDPOINT = Endpoint(address="10.1.0.7", ports=(40_001, 40_002), token="ab" * 16)


def ready(offer: Offered, endpoint: Endpoint | None = None) -> OrderHeartbeat:
    return order_heartbeat(offer, OrderState.READY, endpoint=endpoint)


def word(agent: SimulatedAgent, heartbeat: OrderHeartbeat) -> OrderWord:
    (said,) = agent.heartbeat(heartbeat).orders
    return said


def kept(site: Site) -> list[object]:
    with site.database.transaction() as session:
        return list(session.scalars(text("SELECT endpoint FROM node_order ORDER BY id")))


@pytest.fixture
def pair(site: Site) -> tuple[tuple[SimulatedAgent, Offered], tuple[SimulatedAgent, Offered]]:
    """The sender on the first node and the receiver on the second, both with their orders."""
    site.add_runs([1, 2], roles=["sender", "receiver"])
    site.start()
    sender, receiver = site.agent(1), site.agent(2)
    return (sender, sender.claim_offer()), (receiver, receiver.claim_offer())


def test_each_node_gets_its_part_and_the_sender_needs_no_target(site: Site) -> None:
    site.add_runs([1, 2], roles=["sender", "receiver"])
    site.change("DELETE FROM target_mount WHERE node_id = :id", id=site.node_ids[0])
    site.start()
    orders = [agent.claim(agent.offer()) for agent in (site.agent(1), site.agent(2))]
    assert [order.step_role for order in orders] == [StepRole.SENDER, StepRole.RECEIVER]
    assert [[target.name for target in order.targets] for order in orders] == [[], ["scratch"]]


def test_a_node_that_does_all_of_the_work_has_no_part(site: Site) -> None:
    site.add_runs([1])
    site.start()
    agent = site.agent(1)
    offer = agent.offer()
    assert agent.claim(offer).step_role is StepRole.CLIENT
    assert word(agent, ready(offer)).endpoint is None


def test_the_sender_learns_with_the_leave_to_start_where_the_receiver_listens(
    pair: tuple[tuple[SimulatedAgent, Offered], tuple[SimulatedAgent, Offered]], site: Site
) -> None:
    (sender, sent), (receiver, received) = pair
    waiting = word(sender, ready(sent))
    assert (waiting.word, waiting.endpoint) == (Word.CONTINUE, None)
    proposed = word(receiver, ready(received, ENDPOINT))
    assert (proposed.word, proposed.endpoint) == (Word.CONTINUE, None)
    agree((sender, sent), (receiver, received))
    for _ in range(2):
        answer = word(sender, ready(sent))
        assert (answer.word, answer.endpoint) == (Word.GO, ENDPOINT)
    own = word(receiver, ready(received))
    assert (own.word, own.endpoint) == (Word.GO, None)
    assert kept(site) == [None, ENDPOINT.model_dump(mode="json")]


def test_the_first_endpoint_of_a_receiver_stays(
    pair: tuple[tuple[SimulatedAgent, Offered], tuple[SimulatedAgent, Offered]],
) -> None:
    (sender, sent), (receiver, received) = pair
    word(receiver, ready(received, ENDPOINT))
    word(receiver, ready(received, ENDPOINT.model_copy(update={"token": "cd" * 16})))
    agree((sender, sent), (receiver, received))
    assert word(sender, ready(sent)).endpoint == ENDPOINT


def test_a_foreign_fence_reports_nothing_and_learns_nothing(
    pair: tuple[tuple[SimulatedAgent, Offered], tuple[SimulatedAgent, Offered]], site: Site
) -> None:
    (sender, sent), (receiver, received) = pair
    forged = Offered(received.order_id, received.fence ^ 1 or 1, received.run_id)
    assert word(receiver, ready(forged, ENDPOINT)).word is Word.UNKNOWN
    assert kept(site) == [None, None]
    word(receiver, ready(received, ENDPOINT))
    stranger = Offered(sent.order_id, sent.fence ^ 1 or 1, sent.run_id)
    assert word(sender, ready(stranger)).endpoint is None


def test_the_token_is_deleted_at_the_end_of_the_order(
    pair: tuple[tuple[SimulatedAgent, Offered], tuple[SimulatedAgent, Offered]], site: Site
) -> None:
    _, (receiver, received) = pair
    word(receiver, ready(received, ENDPOINT))
    receiver.finish(received)
    assert kept(site) == [None, None]


def test_the_token_is_in_no_log_and_no_update(site: Site, cancel: Callable[[int], None]) -> None:
    (run_id,) = site.add_runs([1, 2], roles=["sender", "receiver"])
    site.start()
    sender, receiver = site.agent(1), site.agent(2)
    sender.claim_offer()
    word(receiver, ready(receiver.claim_offer(), ENDPOINT))
    cancel(run_id)
    with site.database.transaction() as session:
        said = list(
            session.scalars(text("SELECT text FROM run_event UNION ALL SELECT row_to_json(c)::text FROM change c"))
        )
    assert said
    assert not any(ENDPOINT.token in line for line in said)
