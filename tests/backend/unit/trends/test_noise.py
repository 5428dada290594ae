from datetime import UTC, datetime, timedelta

from iotide_server.statistics.course import ScatterChange
from iotide_server.trends.changes.noise import SAME_POINTS, NoiseChange, noise_change

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
TIMES = [NOW + timedelta(days=day) for day in range(200)]


def found(index: int, before: float = 0.01, after: float = 0.03) -> ScatterChange:
    return ScatterChange(index, index, 200 - index, before, after, 1e-5)


def first(index: int = 100) -> NoiseChange:
    return noise_change(found(index), TIMES, None, 150, NOW)


def test_a_new_change_lies_between_two_points_and_is_not_confirmed() -> None:
    made = first()
    assert (made.previous_at, made.at) == (TIMES[99], TIMES[100])
    assert (made.found_at, made.found_points, made.confirmed_at, made.is_noisier) == (NOW, 150, None, True)


def test_two_points_more_confirm_it_once() -> None:
    same = noise_change(found(100), TIMES, first(), 151, NOW + timedelta(hours=1))
    assert same.confirmed_at is None
    confirmed = noise_change(found(100 + SAME_POINTS), TIMES, same, 152, NOW + timedelta(hours=2))
    assert (confirmed.at, confirmed.found_at) == (TIMES[100 + SAME_POINTS], NOW)
    assert confirmed.confirmed_at == NOW + timedelta(hours=2)
    assert (
        noise_change(found(100), TIMES, confirmed, 153, NOW + timedelta(hours=3)).confirmed_at == confirmed.confirmed_at
    )


def test_one_elsewhere_or_the_other_way_is_another() -> None:
    for other in (found(101 + SAME_POINTS), found(100, 0.03, 0.01)):
        made = noise_change(other, TIMES, first(), 151, NOW + timedelta(hours=1))
        assert (made.found_points, made.confirmed_at) == (151, None)
