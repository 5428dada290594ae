"""Beats of idle nodes that are taken down together, and those that are left for the usual way."""

from collections.abc import Sequence

import pytest
from factories.clock import MovedClock
from factories.site import Site
from sqlalchemy import text

from iotide_server.agent_api.idle_repository import HeardNode, IdleBeat, take_idle_beats
from iotide_server.clusters.views import SILENT_AFTER
from iotide_wire.nodes import ClockReading

CLOCK = ClockReading(offset_seconds=0.25, uncertainty_seconds=0.01)


@pytest.fixture
def heard_site(site: Site, clock: MovedClock) -> Site:
    """Two nodes whose agents were heard of a second ago."""
    for number in (1, 2):
        site.agent(number).beat()
    clock.move(1)
    return site


def said(site: Site, number: int, instance: str | None = None) -> IdleBeat:
    agent = site.agent(number)
    with site.database.transaction() as session:
        token = session.scalar(text("SELECT token_sha256 FROM node WHERE id = :id"), {"id": agent.node_id})
    return IdleBeat(str(token), instance or agent.instance, CLOCK, 4096)


def take(site: Site, *beats: IdleBeat) -> list[HeardNode]:
    now = site.clock()
    with site.database.transaction() as session:
        return sorted(take_idle_beats(session, beats, now, now - SILENT_AFTER))


def written(site: Site, number: int) -> Sequence[object]:
    query = text(
        "SELECT seen_at, clock_offset_seconds, clock_uncertainty_seconds, spool_bytes"
        " FROM node_beat WHERE node_id = :id"
    )
    with site.database.transaction() as session:
        return tuple(session.execute(query, {"id": site.agent(number).node_id}).one())


def test_beats_of_several_nodes_are_taken_down_at_once(heard_site: Site, clock: MovedClock) -> None:
    heard = take(heard_site, said(heard_site, 2), said(heard_site, 1))
    assert [node.place for node in heard] == [0, 1]
    for number in (1, 2):
        assert written(heard_site, number) == (clock(), 0.25, 0.01, 4096)


def test_what_an_agent_does_not_say_any_more_is_forgotten(heard_site: Site, clock: MovedClock) -> None:
    take(heard_site, said(heard_site, 1))
    take(heard_site, said(heard_site, 1)._replace(clock=None, spool_bytes=None))
    assert written(heard_site, 1) == (clock(), None, None, None)


def test_the_same_beat_twice_and_one_of_nobody_harm_no_other(heard_site: Site) -> None:
    nobody = said(heard_site, 1)._replace(token_sha256="0" * 64)
    heard = take(heard_site, nobody, said(heard_site, 1), said(heard_site, 1), said(heard_site, 2))
    assert {1, 3} <= {node.place for node in heard} <= {1, 2, 3}


def test_a_late_beat_sets_no_node_s_time_back(heard_site: Site, clock: MovedClock) -> None:
    take(heard_site, said(heard_site, 1))
    clock.move(-1)
    take(heard_site, said(heard_site, 1))
    clock.move(1)
    assert written(heard_site, 1)[0] == clock()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE node SET revoked_at = now() WHERE id = :id",
        "UPDATE node SET retired_at = now() WHERE id = :id",
        "UPDATE node SET rotation_wanted_at = now() WHERE id = :id",
        "UPDATE node SET look_asked = look_answered + 1 WHERE id = :id",
        "UPDATE node SET agent_instance = 'a-second-copy' WHERE id = :id",
        "UPDATE node SET agent_instance = NULL WHERE id = :id",
        "UPDATE node SET token_sha256 = 'of-its-next-life' WHERE id = :id",
        "DELETE FROM node_beat WHERE node_id = :id",
    ],
)
def test_a_node_to_which_there_is_something_to_say_is_left_out(heard_site: Site, change: str) -> None:
    one, two = said(heard_site, 1), said(heard_site, 2)
    heard_site.change(change, id=heard_site.agent(1).node_id)
    assert [node.place for node in take(heard_site, one, two)] == [1]


def test_nodes_that_were_silent_are_taken_down_with_the_others_and_said_to_have_been(heard_site: Site) -> None:
    heard_site.change(
        "UPDATE node_beat SET seen_at = seen_at - interval '1 hour' WHERE node_id = :id",
        id=heard_site.agent(2).node_id,
    )
    heard = take(heard_site, said(heard_site, 1), said(heard_site, 2))
    assert [(node.node_id, node.was_silent) for node in heard] == [
        (heard_site.agent(1).node_id, False),
        (heard_site.agent(2).node_id, True),
    ]


def test_a_node_to_which_a_run_is_offered_is_left_out_until_it_has_claimed_it(heard_site: Site) -> None:
    heard_site.add_runs([1])
    heard_site.start()
    assert take(heard_site, said(heard_site, 1)) == []
    heard_site.agent(1).claim_offer()
    assert [node.place for node in take(heard_site, said(heard_site, 1))] == [0]


def test_a_node_that_somebody_has_locked_holds_nobody_up(heard_site: Site) -> None:
    with heard_site.database.transaction() as other:
        other.execute(text("SELECT FROM node_beat WHERE node_id = :id FOR UPDATE"), {"id": heard_site.agent(1).node_id})
        heard = take(heard_site, said(heard_site, 1), said(heard_site, 2))
    assert [node.place for node in heard] == [1]
