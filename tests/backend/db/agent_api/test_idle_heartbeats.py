"""Heartbeats of idle nodes that are stored together, and those left for the usual way."""

from collections.abc import Sequence

import pytest
from factories.clock import MovedClock
from factories.site import Site
from sqlalchemy import text

from iotide_server.agent_api.idle_repository import IdleHeartbeat, StoredHeartbeat, store_idle_heartbeats
from iotide_server.clusters.views import SILENT_AFTER
from iotide_wire.nodes import ClockReading

CLOCK = ClockReading(offset_seconds=0.25, uncertainty_seconds=0.01)


@pytest.fixture
def online_site(site: Site, clock: MovedClock) -> Site:
    """Two nodes with a heartbeat one second ago."""
    for number in (1, 2):
        site.agent(number).heartbeat()
    clock.move(1)
    return site


def said(site: Site, number: int, instance: str | None = None) -> IdleHeartbeat:
    agent = site.agent(number)
    with site.database.transaction() as session:
        token = session.scalar(text("SELECT token_sha256 FROM node WHERE id = :id"), {"id": agent.node_id})
    return IdleHeartbeat(str(token), instance or agent.instance, CLOCK, 4096)


def take(site: Site, *heartbeats: IdleHeartbeat) -> list[StoredHeartbeat]:
    now = site.clock()
    with site.database.transaction() as session:
        return sorted(store_idle_heartbeats(session, heartbeats, now, now - SILENT_AFTER))


def written(site: Site, number: int) -> Sequence[object]:
    query = text(
        "SELECT seen_at, clock_offset_seconds, clock_uncertainty_seconds, spool_bytes"
        " FROM node_beat WHERE node_id = :id"
    )
    with site.database.transaction() as session:
        return tuple(session.execute(query, {"id": site.agent(number).node_id}).one())


def test_heartbeats_of_several_nodes_are_stored_at_once(online_site: Site, clock: MovedClock) -> None:
    stored = take(online_site, said(online_site, 2), said(online_site, 1))
    assert [node.place for node in stored] == [0, 1]
    for number in (1, 2):
        assert written(online_site, number) == (clock(), 0.25, 0.01, 4096)


def test_values_that_an_agent_no_longer_reports_are_cleared(online_site: Site, clock: MovedClock) -> None:
    take(online_site, said(online_site, 1))
    take(online_site, said(online_site, 1)._replace(clock=None, spool_bytes=None))
    assert written(online_site, 1) == (clock(), None, None, None)


def test_a_repeated_heartbeat_and_one_of_an_unknown_agent_affect_no_other(online_site: Site) -> None:
    unknown = said(online_site, 1)._replace(token_sha256="0" * 64)
    stored = take(online_site, unknown, said(online_site, 1), said(online_site, 1), said(online_site, 2))
    assert {1, 3} <= {node.place for node in stored} <= {1, 2, 3}


def test_a_late_heartbeat_sets_no_node_s_time_back(online_site: Site, clock: MovedClock) -> None:
    take(online_site, said(online_site, 1))
    clock.move(-1)
    take(online_site, said(online_site, 1))
    clock.move(1)
    assert written(online_site, 1)[0] == clock()


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
def test_a_node_with_a_pending_message_is_left_out(online_site: Site, change: str) -> None:
    one, two = said(online_site, 1), said(online_site, 2)
    online_site.change(change, id=online_site.agent(1).node_id)
    assert [node.place for node in take(online_site, one, two)] == [1]


def test_nodes_that_were_silent_are_stored_with_the_others_and_marked_as_such(online_site: Site) -> None:
    online_site.change(
        "UPDATE node_beat SET seen_at = seen_at - interval '1 hour' WHERE node_id = :id",
        id=online_site.agent(2).node_id,
    )
    stored = take(online_site, said(online_site, 1), said(online_site, 2))
    assert [(node.node_id, node.was_silent) for node in stored] == [
        (online_site.agent(1).node_id, False),
        (online_site.agent(2).node_id, True),
    ]


def test_a_node_to_which_a_run_is_offered_is_left_out_until_it_has_claimed_it(online_site: Site) -> None:
    online_site.add_runs([1])
    online_site.start()
    assert take(online_site, said(online_site, 1)) == []
    online_site.agent(1).claim_offer()
    assert [node.place for node in take(online_site, said(online_site, 1))] == [0]


def test_a_locked_node_delays_no_other(online_site: Site) -> None:
    with online_site.database.transaction() as other:
        other.execute(
            text("SELECT FROM node_beat WHERE node_id = :id FOR UPDATE"), {"id": online_site.agent(1).node_id}
        )
        stored = take(online_site, said(online_site, 1), said(online_site, 2))
    assert [node.place for node in stored] == [1]
