import numpy as np
import pytest

from iotide_server.statistics.shrinkage import Scatter, squeezed

RUNS_FREEDOM = 6  # of four runs a side


def drawn(random: np.random.Generator, sigmas: list[float]) -> list[Scatter]:
    """Return sample variances of numbers with these true scatters."""
    chances = random.chisquare(RUNS_FREEDOM, len(sigmas)) / RUNS_FREEDOM
    return [Scatter(sigma**2 * chance, RUNS_FREEDOM) for sigma, chance in zip(sigmas, chances, strict=True)]


def test_numbers_that_scatter_alike_share_what_is_known_of_it() -> None:
    own = drawn(np.random.default_rng(2), [0.03] * 10)
    found = squeezed(own)
    before, after = (np.std([np.log(one.variance) for one in several]) for several in (own, found))
    assert after < before / 3
    assert {one.freedom for one in found} == {60}
    assert all(0.02 < one.variance**0.5 < 0.04 for one in found)


def test_one_that_scatters_more_keeps_its_own_variance_and_does_not_spoil_the_others() -> None:
    own = drawn(np.random.default_rng(3), [0.01] * 9 + [0.2])
    found = squeezed(own)
    assert found[-1].variance == pytest.approx(own[-1].variance, rel=0.2)
    assert found[-1].freedom < 8
    assert all(one.variance < 4e-4 for one in found[:-1])


def test_numbers_that_have_little_in_common_stay_near_their_own() -> None:
    own = drawn(np.random.default_rng(4), [0.001, 0.004, 0.02, 0.1, 0.3])
    found = squeezed(own)
    assert all(one.freedom < 9 for one in found)
    assert found[-1].variance == pytest.approx(own[-1].variance, rel=0.5)
    assert [one.variance for one in found] == sorted(one.variance for one in found)


def test_few_numbers_and_different_counts_of_runs_are_allowed() -> None:
    assert squeezed([]) == []
    assert squeezed([Scatter(4.0, 6)]) == [Scatter(4.0, 6)]
    pair = squeezed([Scatter(4.0, 6), Scatter(5.0, 12)])
    assert all(4.0 < one.variance < 5.0 for one in pair)
    mixed = squeezed([Scatter(4.0, 6), Scatter(5.0, 12), Scatter(4.5, 3), Scatter(5.5, 30)])
    assert all(one.freedom <= 51 for one in mixed)
