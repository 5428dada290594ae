from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from iotide_server.runs.resources import Mode, Occupancy, Resource, ResourceKind, needs
from iotide_server.scheduling.matching import Demand, WaitingRun, match
from iotide_wire.plan import Exclusivity

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
CLUSTER = 1
HOUR = 3600.0


def node(number: int) -> Resource:
    return Resource(ResourceKind.NODE, number)


def target(number: int) -> Resource:
    return Resource(ResourceKind.TARGET, number)


def run(
    number: int,
    nodes: Iterable[int],
    targets: Iterable[int] = (),
    *,
    exclusive: Exclusivity = Exclusivity.NODE,
    limit: float = HOUR,
    cool_down: float = 0.0,
    start_by: datetime | None = None,
) -> WaitingRun:
    return WaitingRun(0.0, number, Demand.of(needs(exclusive, nodes, targets, CLUSTER), limit, cool_down), start_by)


def board(**taken: Occupancy) -> dict[Resource, Occupancy]:
    """Nodes 1 to 4 with one slot, targets 1 and 2 and the cluster, all free except those named, such as `node1`."""
    free = {node(number): Occupancy(0, 0, slots=1) for number in range(1, 5)}
    free |= {target(number): Occupancy(0, 0) for number in (1, 2)}
    free |= {Resource(ResourceKind.CLUSTER, CLUSTER): Occupancy(0, 0)}
    named = {Resource(ResourceKind(name[:-1]), int(name[-1])): occupancy for name, occupancy in taken.items()}
    return free | named


def started(waiting: list[WaitingRun], occupied: dict[Resource, Occupancy]) -> list[int]:
    return [run.run_id for run in match(waiting, occupied, NOW)]


def busy(
    mode: Mode = Mode.EXCLUSIVE, *, until: datetime | None = NOW + timedelta(hours=1), slots: int | None = 1
) -> Occupancy:
    return Occupancy(int(mode is Mode.SHARED), int(mode is Mode.EXCLUSIVE), slots=slots, free_from=until)


def test_the_earlier_run_of_a_line_starts_and_the_other_waits() -> None:
    assert started([run(2, [1]), run(1, [1])], board()) == [1]


def test_a_lower_sort_key_comes_before_a_lower_id() -> None:
    early = WaitingRun(-HOUR, 9, run(9, [1]).demand)
    assert started([run(1, [1]), early], board()) == [9]


def test_runs_on_different_nodes_start_together() -> None:
    assert started([run(1, [1]), run(2, [2], [1]), run(3, [3], [1])], board()) == [1, 2, 3]


def test_shared_runs_fill_exactly_the_slots_of_a_node() -> None:
    waiting = [run(number, [1], exclusive=Exclusivity.NONE) for number in (1, 2, 3)]
    assert started(waiting, board(node1=Occupancy(0, 0, slots=2))) == [1, 2]


def test_an_exclusive_run_waits_for_a_shared_one_and_keeps_the_node_from_others() -> None:
    two_slots = busy(Mode.SHARED, slots=2)
    waiting = [run(1, [1]), run(2, [1], exclusive=Exclusivity.NONE, limit=2 * HOUR)]
    assert started(waiting, board(node1=two_slots)) == []


def test_a_run_with_an_exclusive_target_excludes_every_other_user_of_it() -> None:
    waiting = [run(1, [1], [1], exclusive=Exclusivity.NODE_AND_TARGET), run(2, [2], [1]), run(3, [3], [2])]
    assert started(waiting, board()) == [1, 3]


def test_a_target_that_an_exclusive_run_waits_for_is_kept_from_later_ones() -> None:
    loaded = board(target1=busy(Mode.SHARED, slots=None))
    waiting = [run(1, [1], [1], exclusive=Exclusivity.NODE_AND_TARGET), run(2, [2], [1], limit=2 * HOUR)]
    assert started(waiting, loaded) == []


def test_a_later_run_that_ends_before_the_kept_time_goes_first() -> None:
    loaded = board(target1=busy(Mode.SHARED, slots=None))
    waiting = [run(1, [1], [1], exclusive=Exclusivity.NODE_AND_TARGET), run(2, [2], [1], limit=HOUR / 2)]
    assert started(waiting, loaded) == [2]


def test_a_run_with_an_exclusive_cluster_starts_only_in_an_idle_one() -> None:
    alone = run(1, [1], exclusive=Exclusivity.CLUSTER)
    assert started([alone, run(2, [2])], board()) == [1]
    assert started([alone, run(2, [2], limit=2 * HOUR)], board(cluster1=busy(Mode.SHARED, slots=None))) == []


def test_a_gang_takes_all_its_nodes_or_none_and_keeps_the_free_ones() -> None:
    gang = run(1, [1, 2])
    assert started([gang], board()) == [1]
    assert started([gang, run(2, [2], limit=2 * HOUR)], board(node1=busy())) == []
    assert started([gang, run(2, [2], limit=HOUR / 2)], board(node1=busy())) == [2]


def test_a_run_that_waits_for_an_unknown_end_reserves_nothing() -> None:
    overdue = busy(until=None)
    assert started([run(1, [1, 2]), run(2, [2])], board(node1=overdue)) == [2]


def test_a_run_with_a_taken_node_reserves_no_target() -> None:
    waiting = [run(1, [1]), run(2, [1], [1], exclusive=Exclusivity.NODE_AND_TARGET), run(3, [2], [1], limit=9 * HOUR)]
    assert started(waiting, board()) == [1, 3]


def cooling(until: datetime) -> Occupancy:
    return Occupancy(0, 0, free_from=until, cooling_until=until)


def test_a_cooling_resource_admits_no_run_and_is_reserved_for_the_first_waiting_one() -> None:
    alone = run(1, [1], [1], exclusive=Exclusivity.NODE_AND_TARGET)
    soon, late = NOW + timedelta(minutes=10), NOW + timedelta(hours=2)
    assert started([alone, run(2, [2], [1])], board(target1=cooling(soon))) == []
    assert started([alone, run(2, [1])], board(target1=cooling(soon))) == []
    assert started([alone, run(2, [1])], board(target1=cooling(late))) == [2]


def test_a_run_with_a_cool_down_into_the_reserved_time_does_not_go_first() -> None:
    waiting = [run(1, [1], [1], exclusive=Exclusivity.NODE_AND_TARGET), run(2, [1], cool_down=HOUR)]
    assert started(waiting, board(target1=cooling(NOW + timedelta(hours=1.5)))) == []


runs = st.builds(
    run,
    st.integers(1, 40),
    st.sets(st.integers(1, 4), min_size=1, max_size=3),
    st.sets(st.integers(1, 2)),
    exclusive=st.sampled_from(Exclusivity),
    limit=st.sampled_from([HOUR / 2, HOUR, 2 * HOUR]),
)
waiting_lists = st.lists(runs, max_size=12, unique_by=lambda run: run.run_id)
occupancies = st.builds(
    lambda shared, exclusive, slots, until: Occupancy(
        0 if exclusive else min(shared, slots), int(exclusive), slots, until
    ),
    st.integers(0, 2),
    st.booleans(),
    st.integers(1, 3),
    st.sampled_from([None, NOW, NOW + timedelta(hours=1)]),
)
boards = st.fixed_dictionaries({f"node{number}": occupancies for number in range(1, 5)}).map(
    lambda taken: board(**taken)
)
shared_by_any = st.builds(
    lambda shared, alone, until, cools: Occupancy(
        0 if alone or cools else shared,
        int(alone and not cools),
        free_from=until,
        cooling_until=until if cools else None,
    ),
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from([None, NOW + timedelta(minutes=40), NOW + timedelta(hours=1)]),
    st.booleans(),
)
whole_boards = st.builds(
    lambda nodes, first, second, cluster: {
        **nodes,
        target(1): first,
        target(2): second,
        Resource(ResourceKind.CLUSTER, CLUSTER): cluster,
    },
    boards,
    shared_by_any,
    shared_by_any,
    shared_by_any,
)


def is_too_late(run: WaitingRun, moment: datetime) -> bool:
    return run.start_by is not None and moment >= run.start_by


class PlainBoard:
    """The rule of `match` in its plainest form, one need after the other."""

    def __init__(self, occupied: dict[Resource, Occupancy]) -> None:
        self.occupied = dict(occupied)
        self.reserved_exclusive: dict[Resource, datetime] = {}
        self.reserved_shared: dict[Resource, list[datetime]] = {}

    def start_or_keep(self, waiting: WaitingRun) -> bool:
        if is_too_late(waiting, NOW):
            return False
        lacking = [need.resource for need in waiting.demand.needs if not self.occupied[need.resource].admits(need.mode)]
        kept = [start for need in waiting.demand.needs for start in self.kept_from(*need)]
        if not lacking and all(NOW + waiting.demand.occupies <= start for start in kept):
            self.start(waiting)
            return True
        nodes = [need.resource for need in waiting.demand.needs if need.resource.kind is ResourceKind.NODE]
        if not lacking or any(self.occupied[one].admits(Mode.SHARED) for one in nodes):
            self.keep(waiting, lacking, kept)
        return False

    def kept_from(self, resource: Resource, mode: Mode) -> list[datetime]:
        """Return the time from which an earlier run has reserved the resource."""
        alone = [self.reserved_exclusive[resource]] if resource in self.reserved_exclusive else []
        reserved = self.reserved_shared.get(resource, [])
        slots = self.occupied[resource].slots
        fits = mode is Mode.SHARED and (slots is None or self.occupied[resource].shared + len(reserved) < slots)
        return alone if fits or not reserved else [*alone, min(reserved)]

    def start(self, begun: WaitingRun) -> None:
        for resource, mode in begun.demand.needs:
            before, alone = self.occupied[resource], mode is Mode.EXCLUSIVE
            end: datetime | None = NOW + begun.demand.occupies
            if before.shared:
                end = before.free_from and max(before.free_from, NOW + begun.demand.occupies)
            self.occupied[resource] = Occupancy(
                before.shared + (not alone), before.exclusive + alone, before.slots, free_from=end
            )

    def keep(self, waiting: WaitingRun, lacking: list[Resource], kept: list[datetime]) -> None:
        ends = [self.occupied[resource].free_from for resource in lacking]
        start = max([NOW, *kept, *(end for end in ends if end is not None)])
        if None in ends or is_too_late(waiting, start):
            return
        for resource, mode in waiting.demand.needs:
            if mode is Mode.EXCLUSIVE:
                self.reserved_exclusive.setdefault(resource, start)
            else:
                self.reserved_shared.setdefault(resource, []).append(start)


@given(waiting=waiting_lists, late=st.sets(st.integers(1, 40)), occupied=whole_boards)
def test_matching_all_needs_at_once_agrees_with_one_need_after_the_other(
    waiting: list[WaitingRun], late: set[int], occupied: dict[Resource, Occupancy]
) -> None:
    soon = NOW + timedelta(minutes=50)
    waiting = [one._replace(start_by=soon) if one.run_id in late else one for one in waiting]
    plain = PlainBoard(occupied)
    by_the_rule = [one for one in sorted(waiting, key=lambda one: one[:2]) if plain.start_or_keep(one)]
    assert match(waiting, occupied, NOW) == by_the_rule


@given(waiting=waiting_lists, occupied=whole_boards)
def test_idle_resources_need_not_be_named(waiting: list[WaitingRun], occupied: dict[Resource, Occupancy]) -> None:
    idle = (Occupancy(0, 0), Occupancy(0, 0, slots=1))
    named = {resource: taken for resource, taken in occupied.items() if taken not in idle}
    assert match(waiting, named, NOW) == match(waiting, occupied, NOW)


@given(waiting=waiting_lists, occupied=boards)
def test_no_resource_is_given_twice(waiting: list[WaitingRun], occupied: dict[Resource, Occupancy]) -> None:
    shared: Counter[Resource] = Counter({resource: taken.shared for resource, taken in occupied.items()})
    alone: Counter[Resource] = Counter({resource: taken.exclusive for resource, taken in occupied.items()})
    for begun in match(waiting, occupied, NOW):
        for need in begun.demand.needs:
            (shared if need.mode is Mode.SHARED else alone)[need.resource] += 1
    for resource, taken in occupied.items():
        grew = (shared[resource], alone[resource]) != (taken.shared, taken.exclusive)
        assert not grew or (alone[resource] <= 1 and not (alone[resource] and shared[resource]))
        assert not grew or taken.slots is None or shared[resource] <= taken.slots


@given(waiting=waiting_lists, occupied=boards)
def test_the_order_in_which_runs_are_listed_does_not_matter(
    waiting: list[WaitingRun], occupied: dict[Resource, Occupancy]
) -> None:
    assert match(waiting, occupied, NOW) == match(waiting[::-1], occupied, NOW)


@given(waiting=waiting_lists.filter(bool), occupied=boards)
def test_the_first_of_all_starts_whenever_its_resources_admit_it(
    waiting: list[WaitingRun], occupied: dict[Resource, Occupancy]
) -> None:
    first = min(waiting, key=lambda run: run[:2])
    fits = all(occupied[need.resource].admits(need.mode) for need in first.demand.needs)
    assert (first in match(waiting, occupied, NOW)) == fits


@given(gang=st.sets(st.integers(1, 4), min_size=2, max_size=4), ends=st.data())
def test_a_gang_gets_its_nodes_in_the_face_of_an_endless_stream_of_single_runs(
    gang: set[int], ends: st.DataObject
) -> None:
    """Every hour some runs end and new ones of the same length arrive; the gang has waited longest."""
    until = {number: NOW + timedelta(minutes=ends.draw(st.integers(0, 60))) for number in range(1, 5)}
    clock, serial = NOW, 100
    for _ in range(12):
        serial += 10
        occupied = board(**{f"node{number}": busy(until=end) for number, end in until.items() if end > clock})
        waiting = [run(1, gang), *(run(serial + number, [number]) for number in range(1, 5))]
        begun = match(
            [one for one in waiting if any(occupied[need.resource].admits(need.mode) for need in one.demand.needs)],
            occupied,
            clock,
        )
        if any(one.run_id == 1 for one in begun):
            break
        until |= {
            need.resource.id: clock + one.demand.occupies
            for one in begun
            for need in one.demand.needs
            if need.resource.kind is ResourceKind.NODE
        }
        clock += timedelta(minutes=15)
    assert any(one.run_id == 1 for one in begun)
    assert clock <= NOW + timedelta(hours=1, minutes=15)


def test_a_run_starts_before_its_last_moment_and_not_at_it() -> None:
    assert started([run(1, [1], start_by=NOW + timedelta(seconds=1))], board()) == [1]
    assert started([run(1, [1], start_by=NOW), run(2, [1])], board()) == [2]


def test_a_run_keeps_nothing_for_a_moment_that_is_too_late_for_it() -> None:
    loaded = board(node2=busy(until=NOW + timedelta(hours=1)))
    long = run(2, [1], limit=9 * HOUR)
    in_time = run(1, [1, 2], start_by=NOW + timedelta(hours=1, seconds=1))
    too_late = run(1, [1, 2], start_by=NOW + timedelta(hours=1))
    assert started([in_time, long], loaded) == []
    assert started([too_late, long], loaded) == [2]
