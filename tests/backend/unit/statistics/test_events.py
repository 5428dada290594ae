import pytest

from iotide_server.statistics.course import Effect
from iotide_server.statistics.events import event_effect

BEFORE = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 99.8, 100.1]
LOWER = [90.0, 91.0, 89.0, 90.5, 89.5, 90.2, 89.8, 90.1]


@pytest.mark.parametrize(("look", "runs"), [(4, 4), (8, 8)])
def test_an_event_that_cost_a_tenth_is_seen_at_each_look(look: int, runs: int) -> None:
    found = event_effect(BEFORE + LOWER, len(BEFORE), look)
    assert (found.effect, found.runs_before, found.runs_after) == (Effect.SHIFTED, 8, runs)
    assert found.shift_ratio == pytest.approx(-0.1, abs=0.005)
    assert found.p_value is not None
    assert found.p_value < 0.01


def test_until_its_runs_are_there_an_event_is_pending() -> None:
    assert event_effect(BEFORE + LOWER[:3], len(BEFORE), 4).effect is Effect.PENDING
    assert event_effect(BEFORE + LOWER[:7], len(BEFORE), 8).effect is Effect.PENDING


def test_an_event_with_fewer_than_six_runs_before_it_has_no_verdict() -> None:
    found = event_effect(BEFORE[:5] + LOWER, 5, 4)
    assert (found.effect, found.p_value) == (Effect.TOO_FEW_BEFORE, None)
    assert event_effect(BEFORE[:6] + LOWER, 6, 4).effect is Effect.SHIFTED


def test_only_the_last_twenty_runs_of_a_long_past_count() -> None:
    found = event_effect([10.0] * 100 + BEFORE * 3 + BEFORE, 124, 8)
    assert (found.effect, found.runs_before) == (Effect.NONE_SHOWN, 20)


@pytest.mark.parametrize("after", [BEFORE[::-1], [value * 0.98 for value in BEFORE], [100.0, 50.0, 100.0, 100.0] * 2])
def test_small_and_uncertain_changes_are_not_shown(after: list[float]) -> None:
    assert event_effect(BEFORE + after, len(BEFORE), 8).effect is Effect.NONE_SHOWN
