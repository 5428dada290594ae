from datetime import UTC, datetime, timedelta

from iotide_server.overview.attention import (
    ORDER,
    KnownMount,
    Needed,
    StaleSeries,
    in_order,
    of_mounts,
    of_stale,
)
from iotide_server.schedules.failing import FailingSchedule, FiringResult, LostMount, Streak

NOW = datetime(2026, 11, 20, tzinfo=UTC)
DAY = timedelta(days=1)
GONE = "nothing is mounted there any more; mount it again, or retire the target"


def mount(node: int | None, problem: str | None = None, seen_days_ago: float = 0) -> KnownMount:
    seen_at = NOW - seen_days_ago * DAY
    if node is None:
        return KnownMount(1, 3, "home", "/home", None, None, None, None, None, created_at=NOW - 90 * DAY)
    return KnownMount(1, 3, "home", "/home", node, f"c0{node}", "/home", problem, seen_at, NOW - 90 * DAY)


def failing(*nodes: int, last_days_ago: float = 1) -> FailingSchedule:
    """A schedule that did not find the target on these nodes at its last firing."""
    last_at, since = NOW - last_days_ago * DAY, NOW - 15 * DAY
    streak = Streak(3, since, FiringResult(1, 1, "weekly", last_at, 1, None, 1, 1, 0))
    lost = [LostMount(3, "home", "/home", node, f"c0{node}", since, last_at) for node in nodes]
    return FailingSchedule(1, 1, "weekly", streak, "not mounted", tuple(lost))


def test_a_mount_that_its_agent_no_longer_announces_is_lost_since_its_last_report() -> None:
    (item,) = of_mounts([mount(1), mount(2, GONE, seen_days_ago=3), mount(3, GONE, seen_days_ago=2)], [])
    assert (item.kind, item.words) == ("lost_mount", "/home (home) is not mounted on c02, c03")
    assert (item.since, item.target_id, item.node_id) == (NOW - 3 * DAY, 3, 2)


def test_another_file_system_in_its_place_is_named() -> None:
    problem = "ext4 from /dev/sda1 at / is mounted there, and the target was made on nfs4; mount that again"
    (item,) = of_mounts([mount(1), mount(2, problem)], [])
    assert item.words == "home on c02: ext4 from /dev/sda1 at / is mounted there, and the target was made on nfs4"


def test_a_mount_that_runs_missed_is_lost_until_its_agent_announces_it_again() -> None:
    (item,) = of_mounts([mount(1), mount(2, seen_days_ago=30)], [failing(2)])
    assert (item.kind, item.since) == ("lost_mount", NOW - 15 * DAY)
    assert of_mounts([mount(1), mount(2, seen_days_ago=0.5)], [failing(2)]) == []


def test_a_target_without_a_node_has_vanished() -> None:
    (item,) = of_mounts([mount(1, GONE, seen_days_ago=2), mount(2, GONE, seen_days_ago=5)], [])
    words = "home is not mounted on any node: /home is missing on c01, c02"
    assert (item.kind, item.words, item.since) == ("vanished_target", words, NOW - 5 * DAY)
    (retired,) = of_mounts([mount(None)], [])
    assert (retired.kind, retired.words) == ("vanished_target", "home is not mounted on any node")


def test_a_target_that_all_nodes_have_needs_nothing() -> None:
    assert of_mounts([mount(1), mount(2)], []) == []


def test_series_that_stopped_alike_are_one_item() -> None:
    def stale(number: int, words: str, schedule_id: int | None = None) -> StaleSeries:
        return StaleSeries(number, 1, "dd", words, NOW - number * DAY, schedule_id)

    one, other = of_stale([stale(1, "a"), stale(2, "a"), stale(3, "b", 7)])
    assert (one.series_id, one.series_count, one.since) == (2, 2, NOW - DAY)
    assert (one.remedy, other.remedy) == ("measure it again, or retire its target", "check its schedule")


def test_the_gravest_kind_comes_first_and_of_one_kind_what_lasts_longest() -> None:
    kinds = list(ORDER)
    items = [Needed(kind, 1, "", "", NOW - days * DAY) for kind in reversed(kinds) for days in (1, 2)]
    ordered = in_order(items)
    assert [item.kind for item in ordered] == [kind for kind in kinds for _ in range(2)]
    assert all(ordered[index].since == NOW - 2 * DAY for index in range(0, len(ordered), 2))
