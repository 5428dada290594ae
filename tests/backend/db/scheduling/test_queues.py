"""The one statement of a pass, compared with the same rule in plain Python over all rows."""

import random
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from factories.people import Person
from factories.site import Site
from sqlalchemy import Row, text

from iotide_server.accounts.models import Role
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.runs.resources import Occupancy, Resource, ResourceKind
from iotide_server.scheduling.matching import WaitingRun, match
from iotide_server.scheduling.queues import HEADS_OF_A_QUEUE, HEADS_OF_AN_OWNER, occupancy
from iotide_wire.messages import Outcome

NODES = 6
LIMITS = (60.0, 600.0, 3600.0)
TROUBLES = (
    "UPDATE node_beat SET seen_at = seen_at - interval '31 s' WHERE node_id = :node",
    "UPDATE node SET cooling_until = :later WHERE id = :node",
    "UPDATE target SET cooling_until = :later WHERE id = :target",
    "UPDATE line_place SET not_before = :later WHERE run_id % 5 = :fifth",
    "UPDATE run SET overdue = true WHERE state = 'active' AND id % 5 = :fifth",
    "UPDATE node_order SET silent_since = :later WHERE state <> 'ended' AND node_id = :node",
    "UPDATE target_mount SET problem = 'wrong' WHERE node_id = :node AND target_id = :target",
    "INSERT INTO drain VALUES ('node', :node, :cluster, 'a disk', 'ada', :later)",
    "INSERT INTO drain VALUES ('target', :target, :cluster, 'a disk', 'ada', :later)",
    "UPDATE line_place SET target_ids = :both, shared_target_ids = :nfs WHERE run_id % 5 = :fifth",
    "INSERT INTO fair_share VALUES (:cluster, :owner, 1, 7, :later)",
)


@dataclass(frozen=True)
class Rows:
    """All rows that a pass could read."""

    nodes: dict[int, Row[Any]]
    places: list[Row[Any]]
    nodes_of: dict[int, set[int]]
    blocked_targets: set[int]
    wrong_mounts: set[tuple[int, int]]
    nodes_with_no_known_end: set[int]
    stands_back: dict[int, float]
    owner_count: int

    @classmethod
    def of(cls, site: Site) -> "Rows":
        now = {"now": site.clock(), "seen_after": site.clock() - SILENT_AFTER}
        with site.database.transaction() as session:

            def read(statement: str) -> list[Row[Any]]:
                return list(session.execute(text(statement), {key: now[key] for key in now if f":{key}" in statement}))

            nodes = read(
                "SELECT node.*, coalesce(seen_at >= :seen_after, false) AND id NOT IN"
                " (SELECT subject_id FROM drain WHERE kind = 'node') AS is_usable,"
                " exclusive_leases = 0 AND shared_leases < slots AND coalesce(cooling_until <= :now, true) AS has_room"
                " FROM node LEFT JOIN node_beat ON node_id = id"
            )
            places = read("SELECT * FROM line_place WHERE not_before IS NULL OR not_before <= :now")
            loaded = read("SELECT run.id, node_id FROM run JOIN cell_node USING (cell_id)")
            blocked = read("SELECT id FROM target WHERE exclusive_leases > 0 OR cooling_until > :now")
            drained = read("SELECT subject_id FROM drain WHERE kind = 'target'")
            wrong = read("SELECT node_id, target_id FROM target_mount WHERE problem IS NOT NULL")
            unknown = read(
                "SELECT node_id FROM node_order JOIN run ON run.id = run_id"
                " WHERE node_order.state <> 'ended' AND (overdue OR silent_since IS NOT NULL)"
            )
            owners = read("SELECT DISTINCT owner_id FROM line_place")
            shares = read("SELECT owner_id, stands_back_seconds FROM fair_share")
        nodes_of: dict[int, set[int]] = {}
        for row in loaded:
            nodes_of.setdefault(row.id, set()).add(row.node_id)
        return cls(
            nodes={node.id: node for node in nodes},
            places=places,
            nodes_of=nodes_of,
            blocked_targets={row[0] for row in (*blocked, *drained)},
            wrong_mounts={(row.node_id, row.target_id) for row in wrong},
            nodes_with_no_known_end={row.node_id for row in unknown},
            stands_back={row.owner_id: row.stands_back_seconds for row in shares},
            owner_count=len(owners),
        )

    def may_start(self, place: Row[Any]) -> bool:
        """Return whether nothing blocks the run except taken resources."""
        return not self.blocked_targets & set(place.target_ids) and not any(
            not self.nodes[node_id].is_usable
            or (node_id in self.nodes_with_no_known_end and not self.nodes[node_id].has_room)
            or any((node_id, target_id) in self.wrong_mounts for target_id in place.target_ids)
            for node_id in self.nodes_of[place.run_id]
        )

    def candidates(self) -> set[tuple[float, int]]:
        """Return the queue positions of the first few of each queue, at most two of each owner. For gangs that wait for
        a node, only the first of its queue counts.
        """
        most_of_an_owner = HEADS_OF_AN_OWNER if self.owner_count > 1 else HEADS_OF_A_QUEUE
        found: set[tuple[float, int]] = set()
        for node in self.nodes.values():
            if not (node.is_usable and node.has_room):
                continue
            line = sorted(
                (place.sort_key + self.stands_back.get(place.owner_id, 0.0), place.run_id, place.owner_id)
                for place in self.places
                if place.node_id == node.id and self.may_start(place)
            )
            of_owner: Counter[int] = Counter()
            seen = []
            for key, run_id, owner_id in line:
                of_owner[owner_id] += 1
                if of_owner[owner_id] <= most_of_an_owner:
                    seen.append((key, run_id))
            is_kept = False
            for key, run_id in seen[:HEADS_OF_A_QUEUE]:
                waits = not all(self.nodes[node_id].has_room for node_id in self.nodes_of[run_id])
                if not (waits and is_kept):
                    found.add((key, run_id))
                is_kept |= waits
        return found


class Chance:
    """Makes a random site with a past and a queue for each seed."""

    def __init__(self, site: Site, owners: list[int | None], seed: int) -> None:
        self.site = site
        self.owners = owners
        self.random = random.Random(seed)  # noqa: S311 - no secret

    def submit(self, campaigns: int) -> None:
        for _ in range(campaigns):
            self.site.clock.move(self.random.choice([0.0, 5.0]))
            self.site.add_runs(
                *(self._nodes() for _ in range(self.random.randint(1, 4))),
                repeats=self.random.randint(1, 2),
                target=self.random.choice(["scratch", "scratch", "nfs"]),
                exclusive=self.random.choice(["none", "node", "node", "node", "node+target"]),
                cool_down=self.random.choice([0.0, 0.0, 30.0]),
                limit=self.random.choice(LIMITS),
                owner=self.random.choice(self.owners),
            )

    def work(self, passes: int) -> None:
        """Start runs, and end some of them."""
        for _ in range(passes):
            self.site.clock.move(1.0)
            self.site.keep_online()
            self.site.start()
            for number in range(1, NODES + 1):
                agent = self.site.agent(number)
                for offer in agent.offers():
                    agent.claim(offer)
                    if self.random.random() < 0.4:
                        agent.finish(offer)

    def trouble(self) -> None:
        """Apply three of the causes that keep runs waiting."""
        values: dict[str, object] = {
            "node": self.random.choice(self.site.node_ids),
            "target": self.random.choice(list(self.site.target_ids.values())),
            "cluster": self.site.cluster_id,
            "owner": self.random.choice(self.owners) or 0,
            "fifth": self.random.randrange(5),
            "both": list(self.site.target_ids.values()),
            "nfs": [self.site.target_ids["nfs"]],
            "later": self.site.clock() + timedelta(seconds=20),
        }
        for statement in self.random.sample(TROUBLES, 3):
            self.site.change(statement, **{name: value for name, value in values.items() if f":{name}" in statement})

    def _nodes(self) -> list[int]:
        return self.random.sample(range(1, NODES + 1), self.random.choice([1, 1, 1, 2, 3]))


@pytest.fixture
def owners(make_person: Callable[..., Person]) -> list[int | None]:
    """Ids of two operators, and None."""
    return [None, *(make_person(name, Role.OPERATOR).principal.user_id for name in ("ann", "ben"))]


def busy_site(make_site: Callable[..., Site], owners: list[int | None], seed: int) -> Site:
    site = make_site(node_count=NODES, slots=1 + seed % 2)
    chance = Chance(site, owners, seed)
    chance.submit(10)
    chance.work(2)
    chance.submit(20)
    site.keep_online()
    chance.trouble()
    return site


@pytest.mark.parametrize("seed", range(10))
def test_the_statement_finds_the_heads_of_all_queues_by_the_rule(
    make_site: Callable[..., Site], owners: list[int | None], seed: int
) -> None:
    site = busy_site(make_site, owners, seed)
    rows = Rows.of(site)
    keys = sorted(place.sort_key for place in rows.places)
    before = deepcopy(site.lines)
    for share in (None, 0.0, 0.3, 0.6):  # of the queues, wherever their heads were one pass ago
        lines = deepcopy(before)
        if share is not None:
            lines._horizon = keys[int(share * len(keys))]
        with site.database.transaction() as session:
            found = lines.candidates(session, site.clock())
        assert {run[:2] for run in found.waiting} == rows.candidates(), share
        assert len({run.run_id for run in found.waiting}) == len(found.waiting)
        for run in found.waiting:
            assert {need.resource.id for need in run.demand.needs if need.resource.kind is ResourceKind.NODE} == (
                rows.nodes_of[run.run_id]
            )


def fully_counted(site: Site, waiting: list[WaitingRun]) -> dict[Resource, Occupancy]:
    """Return the use of every resource that the runs need, counted row by row."""
    resources = {need.resource for run in waiting for need in run.demand.needs}
    with site.database.transaction() as session:

        def counted(resource: Resource) -> Occupancy:
            kind, resource_id = resource
            row = session.execute(text(f"SELECT * FROM {kind} WHERE id = :id"), {"id": resource_id}).one()  # noqa: S608
            ends = session.execute(
                text(
                    "SELECT CASE WHEN NOT overdue AND silent_since IS NULL THEN coalesce(node_order.started_at,"
                    " offered_at) + (time_limit_seconds + cool_down_seconds) * interval '1 s' END FROM lease"
                    " JOIN node_order ON node_order.id = order_id JOIN run ON run.id = run_id"
                    " WHERE active AND resource_kind = :kind AND resource_id = :id"
                ),
                {"kind": kind, "id": resource_id},
            ).all()
            cooling = row.cooling_until if row.cooling_until and row.cooling_until > site.clock() else None
            known: list[datetime] = [end for (end,) in ends if end is not None] + ([cooling] if cooling else [])
            is_known = bool(known) and all(end is not None for (end,) in ends)
            return Occupancy(
                row.shared_leases,
                row.exclusive_leases,
                row.slots if kind is ResourceKind.NODE else None,
                free_from=max(known) if is_known else None,
                cooling_until=cooling,
            )

        return {resource: counted(resource) for resource in resources}


@pytest.mark.parametrize("seed", range(10))
def test_the_same_runs_start_whether_everything_is_counted_or_only_what_is_taken(
    make_site: Callable[..., Site], owners: list[int | None], seed: int
) -> None:
    site = busy_site(make_site, owners, seed)
    with site.database.transaction() as session:
        found = site.lines.candidates(session, site.clock())
        occupied = occupancy(session, found, site.clock())
    counted = fully_counted(site, list(found.waiting))
    assert match(found.waiting, occupied, site.clock()) == match(found.waiting, counted, site.clock())
    for resource, taken in counted.items():
        is_idle = not (taken.shared or taken.exclusive or taken.cooling_until) and taken.slots == 1
        if resource not in occupied:
            assert is_idle
        elif resource.kind is ResourceKind.NODE:
            assert occupied[resource] == taken


def test_a_run_that_queues_again_is_read_again(site: Site) -> None:
    """Its target was private to each node and covered by the node; now it is shared, and the run takes it
    exclusively.
    """
    (run_id,) = site.add_runs([1], exclusive="node+target")
    assert site.start() == [run_id]
    site.change("UPDATE target SET scope = 'shared' WHERE name = 'scratch'")
    agent = site.agent(1)
    agent.finish(agent.claim_offer(), Outcome.DECLINED, reason="busy")
    site.add_runs([2], exclusive="node+target")
    site.clock.move(3600.0)
    site.keep_online()
    assert site.start() == [run_id]


def test_a_run_that_another_scheduler_had_in_the_meantime_starts_with_what_it_needs_now(site: Site) -> None:
    first, second = site.add_runs([1], [1, 2])
    assert site.start() == [first]
    assert site.start() == []
    site.change(
        "UPDATE line_place SET shared_target_ids = :ids WHERE run_id = :id", ids=[site.target_ids["nfs"]], id=second
    )
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    assert (site.start(), site.start()) == ([], [second, second])
    with site.database.transaction() as session:
        taken = session.scalars(text("SELECT resource_kind FROM lease WHERE active ORDER BY resource_kind")).all()
    assert taken == ["cluster", "node", "node", "target"]


def test_a_priority_changed_while_a_run_is_at_the_head_of_its_line_counts_in_the_next_pass(site: Site) -> None:
    first, second, third = site.add_runs([1], [1, 2], [1, 2])
    assert site.start() == [first]
    assert site.start() == []
    site.change("UPDATE line_place SET sort_key = sort_key - 3600 WHERE run_id = :id", id=third)
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    assert site.start() == [third, third]
    assert site.states([second]) == ["waiting"]
