import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.statistics.summary import Tier, Variation, summarize, tier, variation

rates = st.floats(min_value=1e-3, max_value=1e12)
samples = st.lists(rates, min_size=1, max_size=40)
enough = st.lists(rates, min_size=4, max_size=40)


@given(samples)
def test_the_median_lies_in_the_range_of_the_runs(values: list[float]) -> None:
    summary = summarize(values)
    assert min(values) == summary.low <= summary.median <= summary.high == max(values)
    assert summary.run_count == len(values)


@given(
    st.lists(rates, min_size=1, max_size=20).flatmap(lambda values: st.tuples(st.just(values), st.permutations(values)))
)
def test_the_order_of_runs_changes_nothing(orders: tuple[list[float], list[float]]) -> None:
    before, after = map(summarize, orders)
    assert (before.median, before.low, before.high) == (after.median, after.low, after.high)
    assert before.variation_ratio == pytest.approx(after.variation_ratio)


@given(enough, st.sampled_from([1e-6, 0.5, 1024.0, 1e6]))
def test_spread_does_not_depend_on_the_unit(values: list[float], factor: float) -> None:
    plain, scaled = summarize(values), summarize([value * factor for value in values])
    assert scaled.variation_ratio == pytest.approx(plain.variation_ratio, rel=1e-6, abs=1e-9)
    assert scaled.robust_spread_ratio == pytest.approx(plain.robust_spread_ratio, rel=1e-6, abs=1e-9)


@given(st.lists(st.floats(min_value=90, max_value=110), min_size=5, max_size=20))
def test_one_outlier_moves_variation_and_leaves_the_robust_spread_in_bounds(values: list[float]) -> None:
    with_outlier = summarize([*values, 1e6])
    assert with_outlier.variation_ratio is not None
    assert variation(with_outlier.variation_ratio) is Variation.UNRANKABLE
    assert with_outlier.robust_spread_ratio is not None
    assert with_outlier.robust_spread_ratio <= 1.4826 * 20 / 90


def test_known_values() -> None:
    summary = summarize([100.0, 110.0, 90.0, 104.0])
    assert summary.median == 102.0
    assert summary.variation_ratio == pytest.approx((212 / 3) ** 0.5 / 101)  # deviations -1, 9, -11, 3 from the mean
    assert summary.robust_spread_ratio == pytest.approx(1.4826 * 5 / 102)  # deviations 2, 2, 8, 12


@pytest.mark.parametrize("count", [1, 2, 3])
def test_fewer_than_four_runs_have_no_spread(count: int) -> None:
    summary = summarize([100.0, 300.0, 200.0][:count])
    assert summary.variation_ratio is None
    assert summary.robust_spread_ratio is None


def test_a_zero_centre_has_no_relative_spread() -> None:
    summary = summarize([-1.0, 0.0, 0.0, 1.0])
    assert summary.variation_ratio is None
    assert summary.robust_spread_ratio is None


@pytest.mark.parametrize("values", [[], [float("nan")], [1.0, float("inf")]])
def test_invalid_values_are_not_summarized(values: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        summarize(values)


@pytest.mark.parametrize(
    ("run_count", "shown"),
    [
        (1, Tier.ONE_RUN),
        (2, Tier.FEW_RUNS),
        (3, Tier.FEW_RUNS),
        (4, Tier.ENOUGH_RUNS),
        (100, Tier.ENOUGH_RUNS),
    ],
)
def test_the_possible_claims_grow_with_the_runs(run_count: int, shown: Tier) -> None:
    assert tier(run_count) is shown


def test_no_run_shows_nothing() -> None:
    with pytest.raises(ValueError, match="run_count must be at least 1, not 0"):
        tier(0)


@pytest.mark.parametrize(
    ("ratio", "grade"),
    [
        (0.0, Variation.STEADY),
        (0.05, Variation.STEADY),
        (0.051, Variation.FLAGGED),
        (0.10, Variation.FLAGGED),
        (0.11, Variation.NOISY),
        (0.25, Variation.NOISY),
        (0.26, Variation.UNRANKABLE),
    ],
)
def test_variation_grades_at_their_limits(ratio: float, grade: Variation) -> None:
    assert variation(ratio) is grade
