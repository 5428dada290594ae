import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.statistics.thinning import FEWEST_POINTS, min_max_lttb, thinned

# tsdownsample 0.1.5.1: MinMaxLTTBDownsampler().downsample(times, values, n_out=len(indices), minmax_ratio=4)
SELECTED = {
    60: [0, 1, 6, 7, 12, 14, 19, 20, 25, 27, 32, 33, 38, 40, 45, 47, 51, 53, 55, 59],
    400: [
        0,
        7,
        19,
        40,
        59,
        73,
        92,
        119,
        131,
        152,
        171,
        179,
        211,
        218,
        237,
        270,
        277,
        290,
        310,
        329,
        343,
        369,
        376,
        399,
    ],
}


@pytest.mark.parametrize("count", SELECTED)
def test_it_selects_what_tsdownsample_selects(count: int) -> None:
    times = [86400.0 * number for number in range(count)]
    values = [float((number * 7919) % 1009) + (300 if number > count // 2 else 0) for number in range(count)]
    assert min_max_lttb(times, values, len(SELECTED[count])) == SELECTED[count]


finite = st.floats(-1e12, 1e12)


@given(st.lists(st.tuples(st.integers(0, 10**6), finite), min_size=1, max_size=200), st.integers(FEWEST_POINTS, 60))
def test_ends_and_extremes_are_kept_within_the_requested_number(points: list[tuple[int, float]], most: int) -> None:
    times = sorted(float(at) for at, _ in points)
    values = [value for _, value in points]
    chosen = thinned(times, values, most)
    assert chosen == sorted(set(chosen))
    assert len(chosen) <= most
    assert {0, len(values) - 1} <= set(chosen)
    shown = [values[index] for index in chosen]
    assert (min(shown), max(shown)) == (min(values), max(values))
    if len(values) <= most:
        assert len(chosen) == len(values)


def test_fewer_than_five_points_show_nothing() -> None:
    with pytest.raises(ValueError, match="ask for 5 at least"):
        thinned([1.0], [1.0], 4)
