from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.runs.forecast import Expectation, Held, Holding, Queued, expected_start
from iotide_server.runs.resources import Mode, Resource, ResourceKind, needs
from iotide_wire.plan import Exclusivity

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
NODE, TARGET, CLUSTER = ResourceKind.NODE, ResourceKind.TARGET, ResourceKind.CLUSTER


def after(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def run(
    number: int,
    *nodes: int,
    minutes: float = 10,
    exclusive: Exclusivity = Exclusivity.NODE,
    cool_down: float = 0.0,
    not_before: datetime | None = None,
    obstacle: str | None = None,
) -> Queued:
    wanted = needs(exclusive, nodes, [1], 1)
    return Queued(number, (0.0, number), wanted, minutes * 60, cool_down * 60, not_before, obstacle)


def held(minutes: float | None, mode: Mode = Mode.EXCLUSIVE) -> Held:
    return Held(mode, None if minutes is None else after(minutes), 7)


def expected(
    *queue: Queued,
    node1: tuple[Held, ...] = (),
    target1: tuple[Held, ...] = (),
    slots: int = 1,
    obstacle: str | None = None,
) -> Expectation:
    """Return the expected start of the last run of the queue."""
    holdings = {Resource(NODE, number): Holding(f"n{number}", slots, None, ()) for number in range(1, 5)}
    holdings[Resource(NODE, 1)] = Holding("n1", slots, obstacle, node1)
    holdings[Resource(TARGET, 1)] = Holding("nfs", None, None, target1)
    holdings[Resource(CLUSTER, 1)] = Holding("blade", None, None, ())
    found = expected_start(queue[-1].run_id, queue, holdings, NOW)
    assert found is not None
    return found


def test_a_run_at_the_head_of_its_queue_starts_now() -> None:
    assert expected(run(1, 1)) == Expectation(NOW)


def test_runs_of_one_node_follow_one_another_with_their_cool_down() -> None:
    assert expected(run(1, 1), run(2, 1, cool_down=2), run(3, 1)) == Expectation(after(22))


def test_runs_of_different_nodes_do_not_wait_for_one_another() -> None:
    assert expected(run(1, 1), run(2, 2)) == Expectation(NOW)


def test_a_gang_waits_for_the_last_of_its_nodes_and_keeps_the_others() -> None:
    gang = run(2, 1, 2)
    assert expected(run(1, 1), gang) == Expectation(after(10))
    assert expected(run(1, 1), gang, run(3, 2)) == Expectation(after(20))


def test_a_run_with_an_exclusive_target_waits_for_all_its_users_and_they_for_it() -> None:
    alone = run(3, 3, exclusive=Exclusivity.NODE_AND_TARGET)
    assert expected(run(1, 1, minutes=5), run(2, 2, minutes=15), alone) == Expectation(after(15))
    assert expected(run(1, 1, minutes=5), alone, run(4, 4)) == Expectation(after(15))


def test_runs_that_share_a_node_wait_for_a_slot() -> None:
    shared = [run(number, 1, minutes=10 * number, exclusive=Exclusivity.NONE) for number in (1, 2, 3)]
    assert expected(*shared, slots=2) == Expectation(after(10))
    assert expected(*shared, run(4, 1), slots=2) == Expectation(after(40))


def test_a_run_waits_for_taken_resources_and_overdue_runs_are_about_to_end() -> None:
    assert expected(run(1, 1), node1=(held(30),)) == Expectation(after(30))
    assert expected(run(1, 1), node1=(held(-5),)) == Expectation(NOW)
    assert expected(run(1, 1), target1=(held(20, Mode.SHARED),)) == Expectation(NOW)


def test_a_run_that_is_not_tried_yet_waits_for_its_time() -> None:
    assert expected(run(1, 1, not_before=after(3))) == Expectation(after(3))


@pytest.mark.parametrize(
    ("slots", "taken", "because"),
    [
        (1, (held(None),), "the end of run 7 on node n1 is not known"),
        (2, (held(None, Mode.SHARED), held(None, Mode.SHARED)), "the end of run 7 on node n1 is not known"),
        (2, (held(None, Mode.SHARED), held(20, Mode.SHARED)), None),
    ],
)
def test_an_unknown_end_makes_the_start_of_waiting_runs_unknown(
    slots: int, taken: tuple[Held, ...], because: str | None
) -> None:
    found = expected(run(1, 1, exclusive=Exclusivity.NONE), node1=taken, slots=slots)
    assert found == (Expectation(after(20)) if because is None else Expectation(None, because))


def test_a_run_that_will_not_start_has_a_reason_and_blocks_no_run_behind_it() -> None:
    broken = run(1, 2, obstacle="target nfs on node n2: nothing is mounted there")
    assert expected(broken) == Expectation(None, "target nfs on node n2: nothing is mounted there")
    assert expected(broken, run(2, 2)) == Expectation(NOW)
    assert expected(run(1, 1), obstacle="node n1: silent") == Expectation(None, "node n1: silent")
    assert expected(run(1, 1, 2), run(2, 2), obstacle="node n1: silent") == Expectation(NOW)
