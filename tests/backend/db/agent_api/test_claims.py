import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from factories.raised import raised
from factories.site import Offered, SimulatedAgent, Site
from sqlalchemy import text

from iotide_server.agent_api import repository
from iotide_server.agent_api.errors import (
    ORDER_CANCELLED,
    ORDER_NOT_FOUND,
    ORDER_TAKEN,
    ORDER_WITHDRAWN,
    SCHEMA_CHANGED,
    STALE_FENCE,
)
from iotide_server.clusters.errors import AGENT_SUPERSEDED
from iotide_server.runs.models import Order
from iotide_wire.messages import ClaimRequest, OrderState


def offered(site: Site) -> tuple[SimulatedAgent, Offered]:
    """A run offered to the first node."""
    site.add_runs([1])
    site.start()
    return site.agent(1), site.agent(1).offer()


def order(site: Site, offer: Offered) -> Order:
    with site.database.transaction() as session:
        return session.get_one(Order, offer.order_id)


def test_one_of_forty_concurrent_claims_wins(site: Site) -> None:
    agent, offer = offered(site)
    gate = threading.Barrier(40)

    def claim(number: int) -> bool:
        request = ClaimRequest(fence=offer.fence, agent_instance=f"process-{number}", boot_id=agent.boot_id)
        gate.wait()
        with site.database.transaction() as session:
            return repository.claim(session, agent.node_id, offer.order_id, request, site.clock())

    with ThreadPoolExecutor(40) as pool:
        won = [number for number, has_won in enumerate(pool.map(claim, range(40))) if has_won]
    assert len(won) == 1
    assert order(site, offer).claimed_by == f"process-{won[0]}"


def test_the_same_process_may_ask_again_for_the_answer_it_lost(site: Site) -> None:
    agent, offer = offered(site)
    assert agent.claim(offer) == agent.claim(offer)
    agent.say(offer, OrderState.RUNNING)
    assert agent.claim(offer).order_id == offer.order_id
    assert order(site, offer).state == "running"


def test_a_claim_with_another_fence_changes_nothing(site: Site) -> None:
    agent, offer = offered(site)
    with raised(STALE_FENCE):
        agent.claim(offer, fence=offer.fence ^ 1 or 1)
    assert order(site, offer).state == "offered"


def test_a_node_cannot_have_the_order_of_another(site: Site) -> None:
    _, offer = offered(site)
    with raised(ORDER_NOT_FOUND):
        site.agent(2).claim(offer)
    assert order(site, offer).state == "offered"


def test_a_process_that_is_not_the_agent_of_its_node_gets_nothing(site: Site) -> None:
    agent, offer = offered(site)
    stranger = SimulatedAgent(site, agent.node_id, "a-second-copy")
    with raised(AGENT_SUPERSEDED):
        stranger.claim(offer)
    assert order(site, offer).state == "offered"
    agent.claim(offer)
    with raised(ORDER_TAKEN):
        stranger.claim(offer)


def test_an_order_cancelled_before_its_claim_is_not_to_be_had(site: Site, cancel: Callable[[int], None]) -> None:
    agent, offer = offered(site)
    cancel(offer.run_id)
    with raised(ORDER_CANCELLED, match="cancelled by an operator"):
        agent.claim(offer)


def test_the_claim_of_an_earlier_attempt_is_stale_forever(site: Site) -> None:
    agent, offer = offered(site)
    agent.claim(offer)
    agent.hello(instance="instance-after-restart")
    with raised(ORDER_WITHDRAWN, match="no longer has the order"):
        agent.claim(offer)
    site.start()
    assert agent.offer().order_id != offer.order_id
    with raised(ORDER_WITHDRAWN):
        agent.claim(offer)
    agent.claim(agent.offer())


def test_a_run_fails_with_the_reason_if_its_workload_changed_on_the_node(site: Site) -> None:
    agent, offer = offered(site)
    site.change("DELETE FROM node_workload WHERE node_id = :id", id=agent.node_id)
    with raised(SCHEMA_CHANGED):
        agent.claim(offer)
    run = site.run(offer.run_id)
    assert (run.state, run.reason_code) == ("failed", "schema_changed")
    with raised(ORDER_WITHDRAWN):
        agent.claim(offer)


def test_a_claim_stops_the_offers(site: Site) -> None:
    agent, offer = offered(site)
    agent.claim(offer)
    assert order(site, offer).next_offer_at is None
    with site.database.transaction() as session:
        kinds = session.scalars(text("SELECT kind FROM run_event ORDER BY id")).all()
    assert kinds == ["offered", "claimed"]
