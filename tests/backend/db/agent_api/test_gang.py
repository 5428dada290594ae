"""Orders of one program over several nodes: nodes at the claim, endpoints of members for the head, and its end."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from factories.clock import MovedClock
from factories.people import ADMIN
from factories.raised import raised
from factories.site import Offered, SimulatedAgent, Site, agree, order_heartbeat
from sqlalchemy import text

from iotide_server.agent_api.errors import GANG_WITHOUT_ADDRESS, ORDER_WITHDRAWN
from iotide_server.campaigns import repository
from iotide_server.runs import reading
from iotide_server.scheduling import due
from iotide_wire.endpoint import Endpoint, NamedEndpoint
from iotide_wire.measured import StepRole
from iotide_wire.messages import GangNode, Order, OrderState, OrderWord, Outcome, Word

Part = tuple[SimulatedAgent, Offered]
ROLES = ("head", "member", "member")


def endpoint(number: int, token: str = "ab") -> Endpoint:
    return Endpoint(address=f"10.1.0.{number}", ports=(40_000 + number,), token=token * 16)


def give_addresses(site: Site) -> None:
    site.change("UPDATE node SET facts = facts || jsonb_build_object('data.address', '10.1.0.' || substr(name, 2))")


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    made = make_site(node_count=4)
    give_addresses(made)
    return made


def start_gang(site: Site, *numbers: int) -> list[Part]:
    site.add_runs(numbers, target="nfs", roles=ROLES[: len(numbers)])
    site.start()
    agents = [site.agent(number) for number in numbers]
    return [(agent, agent.claim_offer()) for agent in agents]


def word(part: Part, state: OrderState = OrderState.READY, listens: Endpoint | None = None) -> OrderWord:
    agent, offer = part
    (said,) = agent.heartbeat(order_heartbeat(offer, state, endpoint=listens)).orders
    return said


def kept(site: Site) -> list[object]:
    with site.database.transaction() as session:
        return list(session.scalars(text("SELECT endpoint ->> 'address' FROM node_order ORDER BY id")))


def test_each_order_names_all_nodes_from_the_head_on_and_the_order_of_the_shared_directory(site: Site) -> None:
    site.add_runs([3, 1, 2], target="nfs", roles=ROLES)
    site.start()
    orders = {number: site.agent(number).claim(site.agent(number).offer()) for number in (1, 2, 3)}
    gang = tuple(GangNode(name=f"n{number}", address=f"10.1.0.{number}") for number in (3, 1, 2))
    assert [orders[number].step_role for number in (3, 1, 2)] == [StepRole.HEAD, StepRole.MEMBER, StepRole.MEMBER]
    assert {order.gang for order in orders.values()} == {gang}
    assert {order.directory_order_id for order in orders.values()} == {orders[3].order_id}
    assert [target.name for target in orders[1].targets] == ["nfs"]


def test_an_order_of_any_other_run_names_no_gang(site: Site) -> None:
    site.add_runs([1, 2], target="nfs")
    site.add_runs([3], target="nfs")
    site.start()
    orders: list[Order] = [site.agent(number).claim(site.agent(number).offer()) for number in (1, 2, 3)]
    assert [(order.gang, order.directory_order_id) for order in orders] == [((), None)] * 3


def test_a_gang_starts_only_when_the_head_can_reach_each_member(site: Site) -> None:
    head, one, two = start_gang(site, 1, 2, 3)
    for part, listens in ((head, None), (one, endpoint(2)), (two, None), (head, None)):
        said = word(part, listens=listens)
        assert (said.word, said.go_at, said.members) == (Word.CONTINUE, None, ())
    assert word(two, listens=endpoint(3)).go_at is not None
    agree(head, one, two)
    members = tuple(NamedEndpoint(node=f"n{number}", endpoint=endpoint(number)) for number in (2, 3))
    for _ in range(2):
        said = word(head)
        assert (said.word, said.members, said.endpoint) == (Word.GO, members, None)
    assert [(word(part).word, word(part).members, word(part).endpoint) for part in (one, two)] == [
        (Word.GO, (), None)
    ] * 2


def test_a_head_waits_if_a_member_s_endpoint_is_gone_after_the_start_was_agreed(site: Site) -> None:
    head, one = start_gang(site, 1, 2)
    word(one, listens=endpoint(2))
    agree(head, one)
    site.change("UPDATE node_order SET endpoint = NULL")
    said = word(head)
    assert (said.word, said.members) == (Word.CONTINUE, ())


def test_a_ready_member_without_an_endpoint_is_named_as_missing(site: Site) -> None:
    head, one = start_gang(site, 1, 2)
    word(head)
    word(one)
    with site.database.transaction() as session:
        late = due.runs_without_start(session, site.clock() + timedelta(seconds=1))
    assert [(row.run_id, row.missing) for row in late] == [(head[1].run_id, "n2")]


def test_endpoints_reach_only_the_head_of_their_own_gang(site: Site) -> None:
    (head, one), (other_head, other) = start_gang(site, 1, 2), start_gang(site, 3, 4)
    word(other, listens=endpoint(4))
    agree(head, one)
    assert (word(head).word, word(head).members) == (Word.CONTINUE, ())
    word(one, listens=endpoint(2))
    for gang, member in (((head, one), "n2"), ((other_head, other), "n4")):
        agree(*gang)
        assert [named.node for named in word(gang[0]).members] == [member]


def test_a_head_or_an_observer_keeps_no_endpoint_and_the_first_of_a_member_stays(site: Site) -> None:
    head, one = start_gang(site, 1, 2)
    word(head, listens=endpoint(1))
    word(one, listens=endpoint(2))
    word(one, listens=endpoint(2, "cd"))
    agree(head, one)
    assert kept(site) == [None, "10.1.0.2"]
    assert [named.endpoint.token for named in word(head).members] == ["ab" * 16]


def test_a_stale_fence_neither_stores_an_endpoint_nor_learns_one(site: Site) -> None:
    head, one = start_gang(site, 1, 2)
    agent, offer = one
    forged = Offered(offer.order_id, offer.fence ^ 1 or 1, offer.run_id)
    assert word((agent, forged), listens=endpoint(2)).word is Word.UNKNOWN
    assert kept(site) == [None, None]
    word(one, listens=endpoint(2))
    agree(head, one)
    agent, offer = head
    stranger = Offered(offer.order_id, offer.fence ^ 1 or 1, offer.run_id)
    assert word((agent, stranger)).members == ()


def test_the_endpoints_of_an_ended_attempt_are_not_those_of_the_next(site: Site) -> None:
    head, one = start_gang(site, 1, 2)
    word(one, listens=endpoint(2))
    for agent, offer in (one, head):
        agent.finish(offer, Outcome.DECLINED, reason="busy")
    site.change("UPDATE run SET not_before = NULL")
    site.change("UPDATE line_place SET not_before = NULL")
    site.start()
    again = [(agent, agent.claim_offer()) for agent in (site.agent(1), site.agent(2))]
    assert word(again[0]).go_at is None
    assert word(again[1]).go_at is None
    assert kept(site) == [None] * 4


def test_a_node_that_lost_its_address_ends_the_run_at_the_claim_and_is_named(site: Site) -> None:
    (run_id,) = site.add_runs([1, 2], target="nfs", roles=ROLES[:2])
    site.start()
    site.change("UPDATE node SET facts = facts - 'data.address' WHERE id = :id", id=site.node_ids[1])
    (agent, offer), (other, late) = [(site.agent(number), site.agent(number).offer()) for number in (1, 2)]
    with raised(GANG_WITHOUT_ADDRESS, match="n2 has no IPv4 address"):
        agent.claim(offer)
    with raised(ORDER_WITHDRAWN):
        other.claim(late)
    assert (site.run(run_id).state, site.run(run_id).reason_code) == ("failed", "gang_without_address")
    assert site.agent(2).offers() == []


def test_the_progress_of_the_run_is_that_of_the_head_once_the_program_runs(site: Site) -> None:
    head, one = start_gang(site, 1, 2)
    run_id = head[1].run_id

    def shown() -> tuple[float | None, str | None, float]:
        with site.database.transaction() as session:
            run = reading.run(session, ADMIN, run_id)
            return run.progress, run.phase, repository.progress_of_active(session, run.campaign_id)

    word(head)
    assert shown() == (None, "claimed", 0.0)
    word(one, OrderState.RUNNING)
    agent, offer = head
    agent.heartbeat(order_heartbeat(offer, OrderState.RUNNING, progress=0.4, phase="writing"))
    assert shown() == (0.4, "writing", 0.4)


def fail(part: Part, code: str, outcome: Outcome = Outcome.FAILED) -> None:
    agent, offer = part
    agent.hand_in(offer, agent.result(offer, outcome, reason=f"said {code}", reason_code=code))


def test_the_run_has_the_reason_of_the_member_that_failed_first(site: Site) -> None:
    head, one, two = start_gang(site, 1, 2, 3)
    fail(two, "head_lost")
    fail(one, "out_of_memory")
    fail(head, "member_lost")
    run = site.run(head[1].run_id)
    assert (run.state, run.reason_code, run.reason) == ("failed", "out_of_memory", "said out_of_memory")


def test_a_member_that_died_costs_an_attempt_though_its_head_failed_by_it(site: Site, clock: MovedClock) -> None:
    head, one = start_gang(site, 1, 2)
    fail(head, "member_lost")
    clock.move(60)
    one[0].hello(instance="after-the-reboot", boot_id="boot-5678")
    run = site.run(head[1].run_id)
    assert (run.state, run.reason_code, run.attempts_made) == ("waiting", "lost_by_reboot", 1)
    for agent, _ in (head, one):
        agent.heartbeat()
    assert site.start() == [run.id, run.id]


def test_a_decline_of_one_node_after_the_start_is_tried_again(site: Site) -> None:
    head, one = start_gang(site, 1, 2)
    fail(one, "head_lost")
    fail(head, "other_file_system", Outcome.DECLINED)
    run = site.run(head[1].run_id)
    assert (run.state, run.reason_code, run.declines) == ("waiting", "other_file_system", 1)
