"""Outliers among peers; `tests/bench/comparison_peers.py` has the same simulations at full size."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from iotide_server.statistics.peers import (
    FEWEST_RUNS,
    LEAST_RATIO,
    ComparedPeers,
    PeerBasis,
    Runs,
    compared_peers,
    z_limit,
)

GROUPS = 100


def one_campaign(*levels: float, runs: int = 6, seed: int = 1) -> Runs:
    random = np.random.default_rng(seed)
    return {
        f"raid{number}": {1: list(level * (1 + 0.02 * random.standard_normal(runs)))}
        for number, level in enumerate(levels, start=1)
    }


def judged(runs: Runs) -> ComparedPeers:
    found = compared_peers(runs)
    assert found is not None
    return found


def odd(runs: Runs) -> list[str]:
    found = compared_peers(runs)
    return [] if found is None else [name for name, peer in found.members.items() if peer.is_odd]


def by_campaign(values: NDArray[np.float64], *, is_common: bool = True) -> Runs:
    """Return the runs of values by peer, campaign and run."""
    peers, campaigns, _ = values.shape
    first = [0 if is_common else peer * campaigns for peer in range(peers)]
    return {
        f"node{peer}": {first[peer] + number: list(values[peer, number]) for number in range(campaigns)}
        for peer in range(peers)
    }


def groups(
    peers: int, spread: float, *, slow: int = 0, shape: tuple[int, int] = (10, 1), noise: float = 0.03, **how: bool
) -> Iterator[Runs]:
    """Draw groups of campaigns and runs whose days differ by 5 %; the first peers are 20 % slower."""
    random = np.random.default_rng(11)
    for _ in range(GROUPS):
        levels = random.normal(0, spread, (peers, 1, 1))
        levels[:slow] += np.log(0.8)
        days = random.normal(0, 0.05, (1 if how.get("is_common", True) else peers, shape[0], 1))
        yield by_campaign(100 * np.exp(levels + days + random.normal(0, noise, (peers, *shape))), **how)


@pytest.mark.parametrize(("levels", "expected"), [((150, 150, 115), ["raid3"]), ((60, 100, 100, 101), ["raid1"])])
def test_the_one_that_is_slower_than_its_equals_is_found_and_they_are_not(
    levels: tuple[float, ...], expected: list[str]
) -> None:
    assert odd(one_campaign(*levels)) == expected


def test_the_distance_of_an_outlier_is_reported_as_ratio_and_robust_score() -> None:
    found = judged(one_campaign(100, 101, 102, 99, 80, runs=8))
    peer = found.members["raid5"]
    assert peer.difference_ratio == pytest.approx(-0.2, abs=0.02)
    assert peer.robust_z is not None
    assert peer.robust_z < -found.z_limit
    assert found.usual[1] == pytest.approx(100, abs=1)


def test_peers_within_five_percent_are_no_outliers() -> None:
    assert odd(one_campaign(100, 100, 100)) == []
    assert odd(one_campaign(*[100] * 200, 96, runs=30)) == []


def test_a_distance_within_the_spread_of_the_group_is_no_outlier() -> None:
    assert odd(one_campaign(*range(88, 112, 2), 82, runs=30)) == []
    assert odd(one_campaign(*[100, 101] * 6, 82, runs=30)) == ["raid13"]


def test_two_peers_or_three_runs_give_no_verdict() -> None:
    assert compared_peers(one_campaign(100, 50)) is None
    assert compared_peers(one_campaign(100, 100, 50, runs=3)) is None
    few = {"raid3": {1: [1.0]}, "raid4": {1: [100.0, 101.0, 99.0, 100.0]}}
    assert judged({**one_campaign(100, 100, 100), **few}).members.keys() == {"raid1", "raid2", "raid4"}


def test_a_slow_day_of_a_campaign_that_measured_all_hides_no_outlier_and_makes_none() -> None:
    days = np.array([1, 0.7, 1.2, 0.5, 0.9, 1])
    levels = np.array([1, 1.01, 0.99, 1, 0.88])
    runs = by_campaign(100 * levels[:, None, None] * days[None, :, None])
    found = judged(runs)
    assert found.basis is PeerBasis.COMMON_CAMPAIGNS
    assert odd(runs) == ["node4"]
    assert found.members["node4"].difference_ratio == pytest.approx(-0.12)
    assert found.members["node4"].campaign_ratios == pytest.approx(dict.fromkeys(range(6), -0.12))
    assert [found.usual[campaign] for campaign in range(6)] == pytest.approx(100 * days)


def test_peers_of_campaigns_of_their_own_are_compared_with_their_days() -> None:
    days = np.array([[1.0], [0.93], [1.08], [0.9]])
    runs = by_campaign(100 * days[:, :, None] * np.array([1, 1.01, 0.99, 1])[None, None, :], is_common=False)
    found = judged(runs)
    assert (found.basis, odd(runs)) == (PeerBasis.OWN_CAMPAIGNS, [])
    assert [min(peer.campaign_ratios.values()) for peer in found.members.values()] == pytest.approx(
        [0.0366, -0.0361, 0.1194, -0.0672], abs=1e-3
    )
    slow = {**runs, "node4": {9: [60.0, 61.0, 60.0, 60.0]}}
    assert odd(slow) == ["node4"]


def test_a_peer_without_a_campaign_in_common_is_not_judged_with_the_others() -> None:
    runs = {**one_campaign(100, 101, 99, 100), "new": {7: [50.0] * FEWEST_RUNS}}
    found = judged(runs)
    assert (found.basis, "new" in found.members) == (PeerBasis.COMMON_CAMPAIGNS, False)


def test_a_peer_that_measured_nothing_but_zero_is_an_outlier_and_a_group_of_zeroes_is_not_judged() -> None:
    peer = judged({**one_campaign(100, 101, 99, 100), "dead": {1: [0.0] * 6}}).members["dead"]
    assert (peer.is_odd, peer.difference_ratio, peer.robust_z) == (True, -1, None)
    assert compared_peers(one_campaign(0, 0, 0, 100)) is None


@pytest.mark.parametrize(("peers", "spread"), [(3, 0.0), (8, 0.02), (8, 0.03), (16, 0.03), (64, 0.02), (64, 0.03)])
def test_few_groups_of_peers_that_differ_a_little_have_an_outlier(peers: int, spread: float) -> None:
    assert sum(map(bool, map(odd, groups(peers, spread)))) <= 0.1 * GROUPS


def test_few_groups_measured_on_days_of_their_own_have_an_outlier() -> None:
    assert sum(map(bool, map(odd, groups(8, 0.02, shape=(1, 4), is_common=False)))) <= 0.1 * GROUPS


@pytest.mark.parametrize("shape", [(10, 1), (1, 10)])
def test_a_fifth_less_is_found_among_sixteen_peers_that_differ_by_three_percent(shape: tuple[int, int]) -> None:
    found = ["node0" in odd(runs) for runs in groups(16, 0.03, slow=1, shape=shape)]
    assert sum(found) >= 0.9 * GROUPS


def test_three_slow_peers_of_eight_make_no_healthy_one_an_outlier() -> None:
    named = [name for runs in groups(8, 0.0, slow=3, noise=0.1) for name in odd(runs)]
    assert sum(name not in {"node0", "node1", "node2"} for name in named) <= 0.05 * GROUPS


def test_the_furthest_of_more_peers_may_be_further_away() -> None:
    assert [round(z_limit(peers), 1) for peers in (3, 8, 64, 20_000)] == [3.4, 3.7, 3.8, 4.7]


@given(st.lists(st.floats(1.0, 1e6), min_size=3, max_size=9), st.floats(1e-9, 1e9))
def test_the_answer_does_not_depend_on_the_unit(levels: Sequence[float], factor: float) -> None:
    own = judged({f"{place}": {1: [level] * 4} for place, level in enumerate(levels)})
    scaled = judged({f"{place}": {1: [factor * level] * 4} for place, level in enumerate(levels)})
    for name, peer in own.members.items():
        other = scaled.members[name]
        assert other.difference_ratio == pytest.approx(peer.difference_ratio, rel=1e-6, abs=1e-9)
        assert not peer.is_odd or abs(peer.difference_ratio) >= LEAST_RATIO
