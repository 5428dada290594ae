from collections.abc import Callable
from datetime import timedelta

import pytest
from factories.broker import BrokerView
from factories.clock import MovedClock
from factories.people import ADMIN, Person
from factories.site import Site
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database
from iotide_server.kit.queue import Broker
from iotide_server.runs import reading
from iotide_server.runs.models import FairShare as Share
from iotide_server.scheduling import due
from iotide_server.scheduling.due import FairShareTerms
from iotide_server.scheduling.service import SAMPLE_EVERY, WATCH_EVERY, Scheduler

HOUR = FairShareTerms(most=timedelta(hours=1), half_life=timedelta(hours=1))


@pytest.fixture
def owners(make_person: Callable[..., Person]) -> tuple[int, int]:
    """The ids of two operators."""
    ann, ben = (make_person(name, Role.OPERATOR).principal.user_id for name in ("ann", "ben"))
    assert ann is not None
    assert ben is not None
    return ann, ben


def sample(site: Site, seconds: float, fair_share: FairShareTerms = HOUR) -> None:
    """Let that much time pass; return the owners of the nodes."""
    last_at = site.clock()
    site.clock.move(seconds)
    with site.database.transaction() as session:
        due.sample_shares(session, fair_share, last_at, site.clock())
    site.keep_online()


def share(site: Site, owner_id: int) -> Share:
    with site.database.transaction() as session:
        return session.get_one(Share, (site.cluster_id, owner_id))


def end(site: Site, *numbers: int) -> None:
    for number in numbers:
        agent = site.agent(number)
        agent.finish(agent.claim_offer())


def test_an_owner_of_half_of_the_nodes_for_a_half_life_is_penalized_by_a_quarter_which_decays_by_halves(
    site: Site, owners: tuple[int, int]
) -> None:
    site.add_runs([1], owner=owners[0])
    site.start()
    sample(site, 3600)
    assert share(site, owners[0]).nodes_used == pytest.approx(0.5)
    assert share(site, owners[0]).stands_back_seconds == pytest.approx(900)
    end(site, 1)
    sample(site, 3600)
    assert share(site, owners[0]).stands_back_seconds == pytest.approx(450)


def test_an_owner_without_use_for_years_has_no_penalty(site: Site, owners: tuple[int, int]) -> None:
    site.add_runs([1], owner=owners[0])
    site.start()
    sample(site, 3600)
    end(site, 1)
    for _ in range(40):
        sample(site, 3600 * 24 * 100)
    assert share(site, owners[0]).stands_back_seconds == 0


def test_a_node_that_two_runs_share_is_used_in_part_by_each(
    make_site: Callable[..., Site], owners: tuple[int, int]
) -> None:
    site = make_site(slots=4)
    site.add_runs([1], exclusive="none", owner=owners[0])
    site.start()
    sample(site, 3600)
    assert share(site, owners[0]).nodes_used == pytest.approx(0.125)


@pytest.mark.parametrize(("minutes", "goes_first"), [(14, True), (16, False)])
def test_an_owner_with_less_use_precedes_slightly_earlier_submissions(
    site: Site, owners: tuple[int, int], minutes: int, *, goes_first: bool
) -> None:
    heavy, light = owners
    site.add_runs([1], owner=heavy)
    site.start()
    sample(site, 3600)
    assert share(site, heavy).stands_back_seconds == pytest.approx(900)
    (earlier,) = site.add_runs([1], owner=heavy)
    site.clock.move(60.0 * minutes)
    site.keep_online()
    (later,) = site.add_runs([1], owner=light)
    end(site, 1)
    assert site.start() == [later if goes_first else earlier]


def test_a_penalized_run_shows_the_reason(site: Site, owners: tuple[int, int]) -> None:
    heavy, light = owners
    (first, second) = site.add_runs([1], repeats=2, owner=heavy)
    site.start()
    sample(site, 600)
    site.add_runs([1], owner=light)
    site.change("UPDATE line_place SET sort_key = sort_key - 600 WHERE owner_id = :id", id=light)
    with site.database.transaction() as session:
        because = reading.why_waiting(session, reading.run(session, ADMIN, second), site.clock())
    assert because == (
        f"Waiting for node n1 (run {first}, exclusive); 1 run ahead;"
        " moved back by 3 min 16 s for the owner's recent use (fair share)"
    )


def test_the_scheduler_samples_the_use_of_nodes_automatically(
    site: Site, database: Database, broker: Broker, clock: MovedClock, owners: tuple[int, int], in_redis: BrokerView
) -> None:
    del in_redis
    scheduler = Scheduler(database, broker, lambda: None, clock, HOUR)
    site.add_runs([1, 2], owner=owners[0])
    for _ in range(SAMPLE_EVERY // WATCH_EVERY + 1):
        scheduler.step({"campaign"})
        clock.move(WATCH_EVERY.total_seconds())
        site.keep_online()
    assert share(site, owners[0]).nodes_used == pytest.approx(2 * (1 - 2 ** (-1 / 60)), rel=0.2)


class Stream:
    """An owner with an endless stream of short runs: as soon as one ends, the next one waits."""

    def __init__(self, site: Site, owner_id: int) -> None:
        self.site = site
        self.owner_id = owner_id
        self.nodes = range(1, site.node_count + 1)
        for _ in range(2):
            self._submit(*self.nodes)
        site.start()
        self.ends = {number: 10.0 * (1 + number % 3) for number in self.nodes}

    def advance(self, fair_share: FairShareTerms) -> set[int]:
        """End a third of its runs within ten seconds; return the runs that start."""
        sample(self.site, 10, fair_share)
        ended = [
            number for number in self.nodes if self.ends[number] <= self._seconds and self.site.agent(number).offers()
        ]
        end(self.site, *ended)
        self._submit(*ended)
        self.ends |= dict.fromkeys(ended, self._seconds + 30)
        return set(self.site.start())

    @property
    def _seconds(self) -> float:
        return self.site.clock().timestamp() % 86400 - 36000

    def _submit(self, *numbers: int) -> None:
        self.site.add_runs(*([number] for number in numbers), target="nfs", owner=self.owner_id)


@pytest.mark.parametrize("gang_owner_is_heavy", [False, True])
def test_a_gang_and_an_exclusive_run_get_through_an_endless_stream_of_short_runs(
    make_site: Callable[..., Site], owners: tuple[int, int], *, gang_owner_is_heavy: bool
) -> None:
    """If their owner has the lower priority, they only wait until that time is over."""
    most = timedelta(seconds=120)
    site = make_site(node_count=16)
    stream = Stream(site, owners[0])
    fair_share = FairShareTerms(most, timedelta(seconds=1e-3) if not gang_owner_is_heavy else timedelta(days=999))
    if gang_owner_is_heavy:
        site.change(
            "INSERT INTO fair_share (cluster_id, owner_id, nodes_used, stands_back_seconds, sampled_at)"
            " VALUES (:cluster, :owner, 16, 120, :now)",
            cluster=site.cluster_id,
            owner=owners[1],
            now=site.clock(),
        )
    submitted_at = site.clock()
    (alone,) = site.add_runs([3], target="nfs", exclusive="node+target", owner=owners[1])
    (gang,) = site.add_runs(range(1, 17), owner=owners[1])
    waited: dict[int, timedelta] = {}
    for _ in range(60):
        started = stream.advance(fair_share) & {alone, gang}
        waited |= dict.fromkeys(started, site.clock() - submitted_at)
        if alone in started:
            end(site, 3)
        if len(waited) == 2:
            break
    latest = timedelta(seconds=100) + (most if gang_owner_is_heavy else timedelta(0))
    assert set(waited) == {alone, gang}
    assert max(waited.values()) <= latest
    with site.database.transaction() as session:
        assert session.scalars(text("SELECT count(*) FROM run WHERE state = 'finished'")).one() > 16
