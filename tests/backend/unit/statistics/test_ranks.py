import numpy as np
import pytest
from scipy.stats import mannwhitneyu, ttest_ind

from iotide_server.statistics.ranks import MOST_MEMORY, independent_ratio, memory, p_value


def test_without_memory_p_is_the_smaller_one_of_ranks_and_means() -> None:
    before, after = np.arange(9.0), np.arange(4.5, 13.5)
    assert p_value(before, after) == pytest.approx(mannwhitneyu(before, after).pvalue)
    far = after + 20
    assert p_value(before, far) == pytest.approx(5 * ttest_ind(before, far, equal_var=False).pvalue)
    wild = np.append(after, 1e6)  # no scatter of means hides a shift of ranks
    assert p_value(before, wild) == pytest.approx(mannwhitneyu(before, wild).pvalue)
    assert p_value(before, after + 1e6) < 1e-12


def test_equal_values_on_both_sides_leave_the_ranks_to_decide() -> None:
    before, after = np.full(9, 0.1), np.full(5, 0.3)
    assert p_value(before, after) == pytest.approx(mannwhitneyu(before, after).pvalue)
    assert p_value(before, before) == 1


def test_p_grows_with_memory_as_if_there_were_fewer_runs() -> None:
    before, after = np.arange(20.0), np.arange(10.0, 30.0)
    ps = [p_value(before, after, recalled) for recalled in (0.0, 0.3, 0.6, 0.9)]
    assert ps == sorted(ps)
    assert ps[0] < 0.001 < ps[-1] < 1
    assert independent_ratio(0.6) == pytest.approx(0.25)


@pytest.mark.parametrize("recalled", [0.0, 0.3, 0.6])
def test_the_memory_of_segments_is_found_whatever_their_levels(recalled: float) -> None:
    random = np.random.default_rng(1)
    values = np.zeros(2000)
    for number in range(1, 2000):
        values[number] = recalled * values[number - 1] + random.standard_normal()
    values[1000:] += 50
    assert memory([values[:1000], values[1000:]]) == pytest.approx(recalled, abs=0.05)


@pytest.mark.parametrize("recalled", [0.3, 0.6])
def test_short_segments_do_not_lower_the_memory(recalled: float) -> None:
    random = np.random.default_rng(5)
    found = []
    for _ in range(400):
        fresh = random.standard_normal(90)
        values = np.zeros(90)
        for number in range(1, 90):
            values[number] = recalled * values[number - 1] + fresh[number]
        found.append(memory(np.split(values[30:], 3)))
    assert np.mean(found) == pytest.approx(recalled, abs=0.08)  # 0.1 to 0.15 less without the correction


def test_a_memory_is_never_negative_and_never_so_high_that_nothing_counts() -> None:
    assert memory([np.array([1.0, 2.0] * 20)]) == 0
    assert memory([np.arange(200.0)]) == MOST_MEMORY
    assert memory([np.full(20, 3.0)]) == 0
    assert memory([np.arange(3.0)]) == 0


@pytest.mark.parametrize("count", [14, 15, 16])
def test_few_residuals_of_many_parameters_have_an_unknown_memory_taken_as_large(count: int) -> None:
    residuals = np.random.default_rng(1).standard_normal(count)
    assert memory([residuals], 6) == MOST_MEMORY
