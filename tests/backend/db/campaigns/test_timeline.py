from datetime import timedelta

from factories.clock import MovedClock
from factories.people import ADMIN
from factories.raised import raised
from factories.site import Site

from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.campaigns.errors import CAMPAIGN_NOT_FOUND
from iotide_server.campaigns.reading import timeline
from iotide_server.campaigns.schemas import Timeline, TimelineSpan
from iotide_wire.messages import OrderState, Outcome

STRANGER = Principal(PrincipalKind.USER, None, "sten", grants={})


def seen(site: Site, run_id: int, span: TimelineSpan | None = None) -> Timeline:
    """Return the timeline of the run's campaign."""
    with site.database.transaction() as session:
        campaign_id = site.run(run_id).campaign_id
        return timeline(session, ADMIN, campaign_id, span or TimelineSpan(), site.clock())


def work(site: Site, clock: MovedClock) -> None:
    """Let node 1 claim, load, upload and finish its offer, ten seconds a step."""
    agent = site.agent(1)
    offer = agent.claim_offer()
    for state in (OrderState.PREFLIGHT, OrderState.READY, OrderState.RUNNING, OrderState.UPLOADING):
        clock.move(10)
        site.keep_online()
        agent.say(offer, state)
    clock.move(10)
    agent.finish(offer, Outcome.FINISHED)


def test_an_order_shows_when_it_waited_checked_loaded_and_uploaded(site: Site, clock: MovedClock) -> None:
    submitted_at = clock()
    run_id, _ = site.add_runs([1], repeats=2)
    clock.move(5)
    site.start()
    work(site, clock)
    (order,) = seen(site, run_id).orders
    moments = [order.waited_since, order.offered_at, order.claimed_at, order.uploading_at, order.ended_at]
    assert [None if at is None else (at - submitted_at).total_seconds() for at in moments] == [0, 5, 5, 45, 55]
    assert (order.node_name, order.target_names, order.outcome) == ("n1", ["scratch"], "finished")


def test_leases_show_which_runs_were_exclusive(site: Site) -> None:
    (run_id,) = site.add_runs([1], target="nfs", exclusive="node+target")
    site.start()
    leases = seen(site, run_id).leases
    assert [(lease.kind, lease.name, lease.mode, lease.released_at) for lease in leases] == [
        ("node", "n1", "exclusive", None),
        ("target", "nfs", "exclusive", None),
    ]


def test_leases_of_others_are_shown_with_waiting_runs(site: Site) -> None:
    (holder,) = site.add_runs([1])
    first, _ = site.add_runs([1], repeats=2)
    site.start()
    shown = seen(site, first)
    assert shown.orders == []
    assert [(queue.node_name, queue.runs) for queue in shown.waiting] == [("n1", 2)]
    assert [(lease.run_id, lease.kind, lease.name) for lease in shown.others] == [(holder, "node", "n1")]
    assert seen(site, holder).others == []


def test_the_newest_orders_of_a_span_are_shown_and_the_others_counted(site: Site, clock: MovedClock) -> None:
    run_ids = site.add_runs([1], repeats=3)
    began = clock()
    for _ in run_ids:
        site.keep_online()
        site.start()
        work(site, clock)
    newest = seen(site, run_ids[0], TimelineSpan(limit=2))
    assert ([order.run_id for order in newest.orders], newest.left_out) == (run_ids[1:], 1)
    early = seen(site, run_ids[0], TimelineSpan(since=began, until=began + timedelta(seconds=20)))
    assert ([order.run_id for order in early.orders], early.left_out) == (run_ids[:1], 0)


def test_a_second_attempt_waits_from_the_end_of_the_first(site: Site, clock: MovedClock) -> None:
    (run_id,) = site.add_runs([1])
    site.start()
    agent = site.agent(1)
    offer = agent.claim_offer()
    clock.move(30)
    agent.finish(offer, Outcome.DECLINED, reason="not quiet")
    declined_at = clock()
    clock.move(120)
    site.keep_online()
    site.start()
    first, second = seen(site, run_id).orders
    assert (first.outcome, second.attempt, second.waited_since) == ("declined", 2, declined_at)


def test_a_campaign_of_a_cluster_that_one_may_not_see_has_no_timeline(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    with raised(CAMPAIGN_NOT_FOUND), site.database.transaction() as session:
        timeline(session, STRANGER, site.run(run_id).campaign_id, TimelineSpan(), site.clock())
