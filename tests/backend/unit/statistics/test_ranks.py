import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from iotide_server.statistics.ranks import MOST_MEMORY, independent_ratio, memory, p_value


def test_without_memory_p_is_that_of_scipy() -> None:
    before, after = np.arange(9.0), np.arange(4.5, 12.5)
    assert p_value(before, after) == pytest.approx(mannwhitneyu(before, after).pvalue)


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


def test_a_memory_is_never_negative_and_never_so_high_that_nothing_counts() -> None:
    assert memory([np.array([1.0, 2.0] * 20)]) == 0
    assert memory([np.arange(200.0)]) == MOST_MEMORY
    assert memory([np.full(20, 3.0)]) == 0
    assert memory([np.arange(3.0)]) == 0
