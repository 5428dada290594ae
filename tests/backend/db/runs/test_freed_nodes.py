"""An operator frees a stuck node: orders that end later are not freed with it."""

from collections.abc import Callable

from factories.people import ADMIN
from factories.site import Site

from iotide_server.runs import stuck_nodes
from iotide_wire.messages import OrderState, Outcome, StuckLoad


def test_a_free_covers_no_order_that_ends_after_it_although_it_is_older(make_site: Callable[..., Site]) -> None:
    site = make_site(slots=2)
    for _ in range(2):
        site.add_runs([1], target="nfs", exclusive="none")
    site.start()
    agent = site.agent(1)
    older, newer = agent.offers()
    for offer in (older, newer):
        agent.claim(offer)
        agent.say(offer, OrderState.READY)
        agent.say(offer, OrderState.RUNNING, 0.1, started_at=site.clock())
    agent.hand_in(newer, agent.result(newer, Outcome.FAILED, reason="dd cannot be killed", reason_code="stuck"))
    with site.database.transaction() as session:
        stated = stuck_nodes.statement(session, ADMIN, agent.node_id, site.clock())
        stuck_nodes.free(session, ADMIN, agent.node_id, stated.statement_sha256, site.clock())
    agent.finish(older, Outcome.FAILED, reason="the runner was killed")
    site.add_runs([2], target="nfs", exclusive="node+target")
    load = StuckLoad(
        order_id=older.order_id, process="dd", pid=1, state="D", waits_in="io", processes=1, since=site.clock()
    )
    agent.heartbeat(stuck=[load.model_copy(update={"order_id": newer.order_id}), load])
    assert site.start() == []
    site.clock.move(60)
    site.keep_online()
    agent.heartbeat(stuck=())
    assert len(site.start()) == 1
