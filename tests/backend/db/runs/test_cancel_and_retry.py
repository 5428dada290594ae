import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from factories.people import ADMIN
from factories.raised import raised
from factories.site import SimulatedAgent, Site
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.kit.errors import ConflictError, IotideError
from iotide_server.runs import service
from iotide_server.runs.errors import RUN_ENDED, RUN_NOT_RETRIABLE, RUN_RESOURCES_GONE
from iotide_server.runs.models import Run
from iotide_wire.messages import OrderState, Outcome, Word

CancelRun = Callable[[int], None]


def retry(site: Site, run_id: int) -> None:
    with site.database.transaction() as session:
        service.retry(session, ADMIN, run_id, site.clock())


def test_a_waiting_run_is_cancelled_at_once(site: Site, cancel: CancelRun) -> None:
    (run_id,) = site.add_runs([1])
    cancel(run_id)
    run = site.run(run_id)
    assert (run.state, run.reason_code, run.reason) == ("cancelled", "cancelled_by_person", "cancelled by an operator")
    assert site.start() == []


def test_an_offered_run_is_cancelled_at_once_and_its_node_is_free(site: Site, cancel: CancelRun) -> None:
    run_id, following = site.add_runs([1], [1])
    site.start()
    cancel(run_id)
    assert site.run(run_id).state == "cancelled"
    site.start()
    assert site.agent(1).offer().run_id == following


@pytest.mark.parametrize("state", [OrderState.CLAIMED, OrderState.READY, OrderState.RUNNING, OrderState.UPLOADING])
def test_a_claimed_run_is_cancelled_when_its_node_has_let_go(site: Site, cancel: CancelRun, state: OrderState) -> None:
    run_id, following = site.add_runs([1], [1])
    site.start()
    agent = site.agent(1)
    offer = agent.claim_offer()
    agent.say(offer, state)
    cancel(run_id)
    assert site.run(run_id).state == "active"
    assert site.start() == []
    assert agent.say(offer, state) is Word.CANCEL
    agent.finish(offer, Outcome.CANCELLED)
    assert site.states([run_id, following]) == ["cancelled", "waiting"]


@pytest.mark.parametrize("outcome", [Outcome.DECLINED, Outcome.CANCELLED])
def test_a_cancelled_run_does_not_return_for_any_report_of_its_node(
    site: Site, cancel: CancelRun, outcome: Outcome
) -> None:
    (run_id,) = site.add_runs([1], attempts=5)
    site.start()
    agent = site.agent(1)
    offer = agent.claim_offer()
    cancel(run_id)
    agent.finish(offer, outcome, reason="the node's own reason")
    assert (site.run(run_id).state, site.run(run_id).reason) == ("cancelled", "cancelled by an operator")


def test_a_cancelled_run_that_its_node_lost_is_cancelled(site: Site, cancel: CancelRun) -> None:
    (run_id,) = site.add_runs([1], attempts=5)
    site.start()
    agent = site.agent(1)
    agent.claim_offer()
    cancel(run_id)
    agent.hello(instance="instance-after-restart")
    assert site.run(run_id).state == "cancelled"


def test_a_failed_load_shows_why_although_a_cancel_was_under_way(site: Site, cancel: CancelRun) -> None:
    (run_id,) = site.add_runs([1])
    site.start()
    agent = site.agent(1)
    offer = agent.claim_offer()
    cancel(run_id)
    agent.finish(offer, Outcome.FAILED, reason="no space left")
    assert (site.run(run_id).state, site.run(run_id).reason) == ("failed", "no space left")


def test_cancelling_twice_is_cancelling_once(site: Site, cancel: CancelRun) -> None:
    (run_id,) = site.add_runs([1])
    cancel(run_id)
    cancel(run_id)
    with site.database.transaction() as session:
        assert session.scalars(text("SELECT count(*) FROM run_event WHERE kind = 'cancelled'")).one() == 1


def test_a_finished_run_cannot_be_cancelled(site: Site, cancel: CancelRun) -> None:
    (run_id,) = site.add_runs([1])
    site.start()
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    with raised(RUN_ENDED):
        cancel(run_id)


def test_a_campaign_is_cancelled_with_all_its_runs_in_whatever_state_they_are(site: Site) -> None:
    finished, running, offered, *waiting = site.add_runs([1], [1], [2], [1], [2], [1, 2])
    site.start()
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    site.start()
    offer = agent.claim_offer()
    with site.database.transaction() as session:
        campaign_id = session.get_one(Run, finished).campaign_id
        service.cancel_campaign(session, ADMIN, campaign_id, site.clock())
    assert site.states([finished, running, offered, *waiting]) == ["finished", "active", *["cancelled"] * 4]
    agent.finish(offer, Outcome.CANCELLED)
    assert site.run(running).state == "cancelled"


def has_open_runs(site: Site) -> bool:
    with site.database.transaction() as session:
        open_runs = text("SELECT count(*) FROM run WHERE state IN ('waiting', 'active')")
        return bool(session.scalars(open_runs).one())


def work_until(halt: threading.Event, agent: SimulatedAgent) -> None:
    """Act as an agent that works on every offer."""
    outcomes = [Outcome.FINISHED, Outcome.FAILED, Outcome.CANCELLED]
    while not halt.is_set():
        for offer in agent.offers():
            with suppress(ConflictError):
                agent.claim(offer)
                agent.say(offer, OrderState.READY)
                agent.say(offer, OrderState.RUNNING, 0.5)
                agent.finish(offer, outcomes[offer.order_id % 3])


def test_starts_claims_results_and_cancels_at_once_leave_every_rule_intact(make_site: Callable[..., Site]) -> None:
    """All possible events of the same few runs, each in its own thread; the site then checks the rules."""
    site = make_site(node_count=3, slots=2)
    run_ids = site.add_runs(*[[1], [2], [3], [1, 2], [2, 3]] * 4, target="nfs", exclusive="none", attempts=9)
    halt = threading.Event()

    def start_until_all_have_ended() -> None:
        try:
            while has_open_runs(site):
                site.start()
        finally:
            halt.set()

    def cancel_some() -> None:
        for run_id in run_ids[::4]:
            with suppress(ConflictError), site.database.transaction() as session:
                service.cancel(session, ADMIN, run_id, site.clock())

    with ThreadPoolExecutor(5) as pool:
        tasks = [pool.submit(start_until_all_have_ended), pool.submit(cancel_some)]
        tasks += [pool.submit(work_until, halt, site.agent(number)) for number in (1, 2, 3)]
        for task in tasks:
            task.result()
    assert {"finished", "failed", "cancelled"} == set(site.states(run_ids))


@pytest.mark.parametrize("ending", ["failed", "cancelled"])
def test_a_retried_run_gets_exactly_one_more_attempt(site: Site, cancel: CancelRun, ending: str) -> None:
    (run_id,) = site.add_runs([1], attempts=1)
    site.start()
    agent = site.agent(1)
    offer = agent.claim_offer()
    if ending == "cancelled":
        cancel(run_id)
    agent.finish(offer, Outcome(ending))
    retry(site, run_id)
    assert (site.run(run_id).state, site.run(run_id).reason) == ("waiting", None)
    site.start()
    agent.claim_offer()
    agent.hello(instance="instance-after-restart")
    assert site.run(run_id).state == "failed"


@pytest.mark.parametrize(
    ("change", "gone"),
    [
        ("UPDATE node SET retired_at = now() WHERE id = :node", "node n1 was retired"),
        ("UPDATE target SET retired_at = now() WHERE id = :target", "target nfs was retired"),
        (
            "DELETE FROM target_mount WHERE node_id = :node AND target_id = :target",
            "target nfs is no longer on node n1",
        ),
    ],
)
def test_a_run_with_a_retired_node_or_target_is_not_retried(
    site: Site, cancel: CancelRun, change: str, gone: str
) -> None:
    (run_id,) = site.add_runs([1], target="nfs")
    cancel(run_id)
    values = {"node": site.node_ids[0], "target": site.target_ids["nfs"]}
    site.change(change, **{name: value for name, value in values.items() if f":{name}" in change})
    with raised(RUN_RESOURCES_GONE, match=gone):
        retry(site, run_id)
    assert site.run(run_id).state == "cancelled"


def test_a_run_is_retried_if_only_its_sender_lacks_the_target(site: Site, cancel: CancelRun) -> None:
    (run_id,) = site.add_runs([1, 2], target="nfs", roles=["sender", "receiver"])
    site.change("DELETE FROM target_mount WHERE node_id = :id", id=site.node_ids[0])
    cancel(run_id)
    retry(site, run_id)
    assert site.run(run_id).state == "waiting"


def test_the_needs_of_a_retried_run_stay_until_the_retry_is_committed(site: Site, cancel: CancelRun) -> None:
    (run_id,) = site.add_runs([1], target="nfs")
    cancel(run_id)
    with site.database.transaction() as session:
        service.retry(session, ADMIN, run_id, site.clock())
        for table in ("node", "target"):
            with pytest.raises(OperationalError, match="could not obtain lock"):
                site.change(f"SELECT FROM {table} WHERE name IN ('n1', 'nfs') FOR UPDATE NOWAIT")


def test_only_what_failed_or_was_cancelled_can_be_retried(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    with raised(RUN_NOT_RETRIABLE):
        retry(site, run_id)


def test_an_invisible_run_is_not_found_and_a_viewer_is_forbidden(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    stranger = Principal(PrincipalKind.USER, None, "eve", grants={site.cluster_id + 1: Role.ADMIN})
    viewer = Principal(PrincipalKind.USER, None, "bob", grants={site.cluster_id: Role.VIEWER})
    for who, status in ((stranger, 404), (viewer, 403)):
        with pytest.raises(IotideError) as refused, site.database.transaction() as session:
            service.cancel(session, who, run_id, site.clock())
        assert refused.value.status == status
    assert site.run(run_id).state == "waiting"
