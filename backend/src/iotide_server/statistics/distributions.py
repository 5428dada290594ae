"""Student's t, F and the derivatives of the log-gamma function.

Plain Python: the API compares without loading numpy and scipy; tests compare it with scipy.
"""

from collections.abc import Callable
from math import exp, inf, lgamma, log, log1p
from typing import Final

_TINY: Final = 1e-300
_EPSILON: Final = 1e-13
_MOST_TERMS: Final = 1_000
_SERIES_FROM: Final = 8.0  # argument from which the asymptotic series has 10 digits
_HALVINGS: Final = 80


def t_tail(t: float, freedom: float) -> float:
    """Return the probability of a value above `t`."""
    total = freedom + t * t
    if abs(t) < 1:
        # The other way round, else a small t is lost next to the degrees of freedom.
        half = (1 - beta_ratio(t * t / total, 0.5, freedom / 2)) / 2
    else:
        half = beta_ratio(freedom / total, freedom / 2, 0.5) / 2
    return half if t >= 0 else 1 - half


def t_quantile(tail: float, freedom: float) -> float:
    """Return the t whose upper tail is `tail`, below 0.5."""
    return _decreasing(lambda t: t_tail(t, freedom), tail)


def f_tail(f: float, freedom: float, other: float) -> float:
    """Return the probability of a ratio of variances above `f`; `other` is the denominator's degrees of freedom."""
    return beta_ratio(other / (other + freedom * f), other / 2, freedom / 2)


def f_quantile(tail: float, freedom: float, other: float) -> float:
    return _decreasing(lambda f: f_tail(f, freedom, other), tail)


def f_density(f: float, freedom: float, other: float) -> float:
    a, b = freedom / 2, other / 2
    scale = a * log(freedom) + b * log(other) - _log_beta(a, b)
    return exp(scale + (a - 1) * log(f) - (a + b) * log(other + freedom * f))


def beta_ratio(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (NIST DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_ratio(1 - x, b, a)
    front = exp(a * log(x) + b * log1p(-x) - _log_beta(a, b)) / a
    return front / _beta_fraction(x, a, b)


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Return 1 + d1 / (1 + d2 / (1 + ...)), by the algorithm of Lentz (1976, Appl. Opt. 15)."""
    value = c = 1.0
    d = 0.0
    for term in range(1, _MOST_TERMS):
        m = term // 2
        if term % 2:
            d_term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d_term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + d_term * d or _TINY)
        c = 1 + d_term / c or _TINY
        value *= c * d
        if abs(c * d - 1) < _EPSILON:
            break
    return value


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def digamma(x: float) -> float:
    """Return the derivative of the log-gamma function (NIST DLMF 5.11.2)."""
    shift = 0.0
    while x < _SERIES_FROM:
        shift -= 1 / x
        x += 1
    square = 1 / (x * x)
    return shift + log(x) - 1 / (2 * x) - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))


def trigamma(x: float) -> float:
    """Return the second derivative of the log-gamma function."""
    shift = 0.0
    while x < _SERIES_FROM:
        shift += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    return shift + 1 / x + square / 2 + square / x * series


def trigamma_inverse(value: float) -> float:
    """Return the x above 0 with this trigamma."""
    return _decreasing(trigamma, value)


def _decreasing(function: Callable[[float], float], wanted: float) -> float:
    """Return where a decreasing function of positive numbers has the value `wanted`, by bisection."""
    low, high = 0.0, 1.0
    while function(high) > wanted:
        low, high = high, 2 * high
        if high == inf:
            return inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2 if low else high / 2
        if high - low <= _EPSILON * high:
            break
        low, high = (middle, high) if function(middle) > wanted else (low, middle)
    return (low + high) / 2
