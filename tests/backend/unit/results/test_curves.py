from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.results.ingest.curves import MAX_CHUNK_VALUES, Stretch, thin, thin_old, weave

START = datetime(2026, 11, 21, tzinfo=UTC)


def stretch(first: float, *values: float, step_seconds: float = 1.0) -> Stretch:
    return Stretch(START + timedelta(seconds=first), step_seconds, tuple(values))


def by_second(stretches: list[Stretch]) -> dict[datetime, float]:
    return {piece.start_of(index): value for piece in stretches for index, value in enumerate(piece.values)}


def test_pieces_of_consecutive_seconds_become_one_row() -> None:
    pieces = [stretch(second, float(second)) for second in range(100)]
    assert weave([], pieces) == [stretch(0, *map(float, range(100)))]


def test_a_repeated_piece_is_stored_once() -> None:
    stored = [stretch(0, 1, 2, 3)]
    assert weave(stored, [stretch(0, 1, 2, 3), stretch(1, 2, 3)]) == stored


def test_a_piece_that_has_grown_since_adds_only_what_is_new() -> None:
    assert weave([stretch(0, 1, 2)], [stretch(0, 1, 2, 3, 4)]) == [stretch(0, 1, 2, 3, 4)]


def test_a_full_row_is_left_and_a_new_one_begun() -> None:
    values = [float(value) for value in range(1000)]
    woven = weave([stretch(0, *values[:500])], [stretch(500, *values[500:])])
    assert woven == [stretch(0, *values[:600]), stretch(600, *values[600:])]


def test_a_gap_begins_a_new_row() -> None:
    assert weave([stretch(0, 1, 2)], [stretch(5, 6)]) == [stretch(0, 1, 2), stretch(5, 6)]


def test_a_late_piece_fills_the_gap_it_came_from() -> None:
    assert weave([stretch(0, 1, 2), stretch(4, 5)], [stretch(1, 9, 3, 4, 9)]) == [stretch(0, 1, 2, 3, 4), stretch(4, 5)]


def test_a_sampler_that_is_a_little_late_still_continues_its_row() -> None:
    assert weave([stretch(0, 1, 2)], [stretch(2.3, 3)]) == [stretch(0, 1, 2, 3)]


def test_another_step_is_another_row() -> None:
    assert weave([stretch(0, 1, 2)], [stretch(2, 3, step_seconds=0.5)]) == [
        stretch(0, 1, 2),
        stretch(2, 3, step_seconds=0.5),
    ]


@given(st.data())
def test_no_order_of_arrival_loses_or_doubles_a_second(data: st.DataObject) -> None:
    length = data.draw(st.integers(min_value=1, max_value=1500))
    cuts = sorted(data.draw(st.sets(st.integers(min_value=1, max_value=length), max_size=12)) | {0, length})
    pieces = [stretch(first, *map(float, range(first, end))) for first, end in pairwise(cuts)]
    repeated = data.draw(st.lists(st.sampled_from(pieces), max_size=5))
    woven: list[Stretch] = []
    for piece in data.draw(st.permutations(pieces + repeated)):
        woven = weave(woven, [piece])
    assert by_second(woven) == {START + timedelta(seconds=second): float(second) for second in range(length)}
    assert all(1 <= len(row.values) <= MAX_CHUNK_VALUES for row in woven)


@given(st.lists(st.integers(min_value=0, max_value=50), min_size=1, max_size=20))
def test_stored_rows_are_only_ever_grown(starts: list[int]) -> None:
    woven: list[Stretch] = []
    for first in starts:
        before = {row.started_at: row.values for row in woven}
        woven = weave(woven, [stretch(first, 1, 2, 3)])
        after = {row.started_at: row.values for row in woven}
        assert all(after[start][: len(values)] == values for start, values in before.items())


def test_a_short_curve_is_shown_unchanged() -> None:
    curve = thin([stretch(0, 1, 2, 3)], max_points=600)
    assert (curve.started_at, curve.step_seconds, curve.values) == (START, 1.0, (1.0, 2.0, 3.0))
    assert (curve.lows, curve.highs) == (None, None)


def test_a_long_curve_is_shown_by_the_means_of_equal_spans() -> None:
    curve = thin([stretch(0, 1, 3, 5, 7, 10)], max_points=3)
    assert (curve.step_seconds, curve.values) == (2.0, (2.0, 6.0, 10.0))


def test_a_stall_shorter_than_a_span_is_seen_in_its_lowest_value() -> None:
    curve = thin([stretch(0, 9, 0, 9, 9), stretch(6, 9)], max_points=4)
    assert (curve.values, curve.lows, curve.highs) == ((4.5, 9, None, 9), (0, 9, None, 9), (9, 9, None, 9))


def test_a_gap_stays_a_gap() -> None:
    assert thin([stretch(0, 1, 2), stretch(4, 5)], max_points=600).values == (1.0, 2.0, None, None, 5.0)


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 600)), min_size=1, max_size=5), st.integers(1, 700))
def test_never_more_points_than_asked_for(rows: list[tuple[int, int]], max_points: int) -> None:
    curve = thin(weave([], [stretch(first, *[1.0] * count) for first, count in rows]), max_points)
    assert 1 <= len(curve.values) <= max_points
    assert all(value is None or value == pytest.approx(1.0) for value in curve.values)


def test_old_values_become_means_of_a_minute_with_their_ranges() -> None:
    (thinned,) = thin_old([Stretch(START, 1.0, tuple(float(second) for second in range(150)))], 60.0)
    assert thinned == Stretch(START, 60.0, (29.5, 89.5, 134.5), (0.0, 60.0, 120.0), (59.0, 119.0, 149.0))


def test_a_gap_in_old_values_stays_a_gap() -> None:
    later = START + timedelta(seconds=600)
    stretches = [Stretch(START, 1.0, (1.0,) * 60), Stretch(later, 1.0, (2.0,) * 60)]
    assert [(one.started_at, one.values) for one in thin_old(stretches, 60.0)] == [(START, (1.0,)), (later, (2.0,))]


def test_thinning_again_changes_nothing() -> None:
    once = thin_old([Stretch(START, 1.0, (1.0, 5.0) * 60)], 60.0)
    assert thin_old(once, 60.0) == once


def test_a_plot_of_old_values_shows_the_ranges_that_were_kept() -> None:
    old = Stretch(START, 60.0, (2.0, 4.0), (1.0, 3.0), (5.0, 9.0))
    alone, together = thin([old], 600), thin([old], 1)
    assert (alone.lows, alone.highs) == ((1.0, 3.0), (5.0, 9.0))
    assert (together.values, together.lows, together.highs) == ((3.0,), (1.0,), (9.0,))
