"""Distributions in plain Python are those of scipy."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats

from iotide_server.statistics import distributions

freedoms = st.floats(0.2, 9_000)


@example(1.2e-7, 400.0)
@given(st.floats(-30, 30), freedoms)
def test_tails_of_t(t: float, freedom: float) -> None:
    assert distributions.t_tail(t, freedom) == pytest.approx(stats.t.sf(t, freedom), rel=1e-8)


@given(st.floats(1e-3, 1e3), freedoms, freedoms)
def test_tails_and_densities_of_f(f: float, freedom: float, other: float) -> None:
    assert distributions.f_tail(f, freedom, other) == pytest.approx(stats.f.sf(f, freedom, other), rel=1e-7, abs=1e-12)
    density = stats.f.pdf(f, freedom, other)
    assert distributions.f_density(f, freedom, other) == pytest.approx(density, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("tail", [0.4, 0.05, 0.025, 1e-6])
@pytest.mark.parametrize("freedom", [1, 3, 6.2, 54, 9_000])
def test_quantiles(tail: float, freedom: float) -> None:
    assert distributions.t_quantile(tail, freedom) == pytest.approx(stats.t.isf(tail, freedom))
    for share in (tail, 1 - tail):
        expected = stats.f.isf(share, freedom, 5)
        assert distributions.f_quantile(share, freedom, 5) == pytest.approx(expected)


@pytest.mark.parametrize("x", [0.05, 0.7, 3, 7.9, 8, 400])
def test_derivatives_of_the_log_gamma_function(x: float) -> None:
    assert distributions.digamma(x) == pytest.approx(special.digamma(x), rel=1e-9)
    assert distributions.trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-9)
    assert distributions.trigamma_inverse(distributions.trigamma(x)) == pytest.approx(x)
