from statistics import median
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, mannwhitneyu

from iotide_server.statistics.peers import adjusted_p_values, odd_ones
from iotide_server.statistics.summary import robust_sigma


def peers(*levels: float, runs: int = 6, seed: int = 1) -> dict[str, list[float]]:
    random = np.random.default_rng(seed)
    return {
        f"raid{number}": list(level * (1 + 0.02 * random.standard_normal(runs)))
        for number, level in enumerate(levels, start=1)
    }


def odd(runs: dict[str, list[float]]) -> list[str]:
    return [name for name, peer in odd_ones(runs).items() if peer.is_odd]


@pytest.mark.parametrize(("levels", "expected"), [((150, 150, 115), ["raid3"]), ((60, 100, 100, 101), ["raid1"])])
def test_the_one_that_is_slower_than_its_equals_is_found_and_they_are_not(
    levels: tuple[float, ...], expected: list[str]
) -> None:
    assert odd(peers(*levels)) == expected


def test_how_far_it_is_off_is_told_by_ratio_and_robust_score() -> None:
    found = odd_ones(peers(100, 101, 102, 99, 80, runs=8))["raid5"]
    assert found.difference_ratio == pytest.approx(-0.2, abs=0.02)
    assert found.robust_z is not None
    assert found.robust_z < -5
    assert found.p_value < 0.05


def test_equals_and_those_within_five_percent_are_not_odd() -> None:
    assert odd(peers(100, 100, 100)) == []
    assert odd(peers(100, 100, 96, runs=30)) == []


def test_two_peers_or_three_runs_say_nothing() -> None:
    assert odd_ones(peers(100, 50)) == {}
    assert odd_ones(peers(100, 100, 50, runs=3)) == {}
    assert "raid3" not in odd_ones(peers(100, 100, 100) | {"raid3": [1.0], "raid4": [100.0, 101.0, 99.0, 100.0]})


def test_among_equals_chance_finds_few() -> None:
    names = [name for seed in range(200) for name in odd(peers(*[100] * 8, seed=seed))]
    assert len(names) / (200 * 8) < 0.01


def test_three_equal_raid_sets_give_nothing_in_200_draws() -> None:
    assert [seed for seed in range(200) if odd(peers(400, 400, 400, runs=8, seed=seed))] == []


@pytest.mark.parametrize(("runs", "method"), [(5, "exact"), (30, "asymptotic")])
def test_p_values_are_those_of_scipy_of_few_runs_and_of_many(runs: int, method: Literal["exact", "asymptotic"]) -> None:
    group = peers(100, 101, 99, 97, runs=runs)
    plain = []
    for name in group:
        others = [value for other, values in group.items() if other != name for value in values]
        plain.append(mannwhitneyu(group[name], others, method=method).pvalue)
    found = [peer.p_value for peer in odd_ones(group).values()]
    assert found == pytest.approx(false_discovery_control(plain), rel=1e-9)


def test_adjusted_p_values_are_those_of_scipy() -> None:
    p_values = [0.01, 0.8, 0.03, 0.02, 0.01, 1.0]
    assert adjusted_p_values(p_values) == pytest.approx(false_discovery_control(p_values))
    assert adjusted_p_values([]) == []


@given(st.lists(st.sampled_from((0.0, 1.0, 2.0, 80.0, 100.0, 101.0)) | st.floats(1.0, 1e6), min_size=3, max_size=9))
def test_each_is_compared_with_the_medians_of_all_others(levels: list[float]) -> None:
    found = odd_ones({f"{place}": [level] * 4 for place, level in enumerate(levels)})
    for place, peer in enumerate(found.values()):
        others = levels[:place] + levels[place + 1 :]
        usual = median(others)
        sigma = robust_sigma(others, usual)
        assert (peer.usual, peer.robust_z) == (usual, (levels[place] - usual) / sigma if sigma else None)
