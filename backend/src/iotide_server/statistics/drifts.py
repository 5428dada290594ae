"""Lines and curves through a series that changes slowly."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, log, sqrt
from typing import Final

import numpy as np
import scipy  # first use costs 0.5 s of CPU and 60 MB
from numpy.polynomial import legendre
from numpy.typing import NDArray

from iotide_server.statistics.course import LEAST_SHIFT, MOST_P, DriftShape, FittedDrift
from iotide_server.statistics.ranks import Values, independent_ratio, memory

MOST_DEGREE: Final = 3
RATES: Final = (1.5, 2.5, 4.0, 6.0, 10.0)  # of an exponential, over the whole series
FEWEST_PERIOD_RUNS: Final = 40  # a wave of fewer is not slow
MOST_PERIODS: Final = 6
CONFIDENCE: Final = 0.95
PATH_PARTS: Final = 40
_PERIOD_STEP: Final = 1.08  # between two periods that are tried
_STEP_PARAMETERS: Final = 3
_CHOSEN: Final = 1  # one more parameter: the kind of curve. Without it, a fifth of short lines are called curves
_ROUNDS: Final = 15
_ROUNDING: Final = 1e-9  # of the mean distance from the median
_LEAST_WEIGHED: Final = 1e-3  # of it; a closer run has the same weight


@dataclass(frozen=True, slots=True)
class _Fit:
    values: Values
    parameters: int
    distance: float  # mean absolute residual
    independent: float  # ratio of independent runs, by the residuals
    line: FittedDrift | None = None

    @classmethod
    def of(cls, series: Values, values: Values, parameters: int) -> "_Fit":
        left = series - values
        return cls(values, parameters, float(np.abs(left).mean()), independent_ratio(memory([left], parameters)))


def fitted_drift(series: Values, left_by_steps: Values, steps: int, recalled: float) -> FittedDrift | None:
    """Return the line or curve that fits better than the steps, or None.

    Schwarz's criterion for Laplacian noise compares the fits by mean absolute distance and number of parameters. A
    change of level counts as three of them (Zhang and Siegmund 2007, Biometrics 63, 22). The criterion uses the number
    of independent runs at the smallest autocorrelation, because each fit sees as autocorrelation what another explains.

    Args:
        left_by_steps: residuals of the steps.
        recalled: their lag-1 autocorrelation.
    """
    runs, centre = len(series), float(np.median(series))
    base = float(np.abs(series - centre).mean())
    if not base or not centre:
        return None
    certain = (*_line(series), *_curves(series, base))
    fits = [fit for fit in certain if np.ptp(fit.values) >= LEAST_SHIFT * abs(centre)]
    if not fits:
        return None
    independent = runs * max(independent_ratio(recalled), *(fit.independent for fit in fits))

    def criterion(distance: float, parameters: int) -> float:
        return independent * log(max(distance, _ROUNDING * base)) + parameters * log(runs) / 2

    best = min(fits, key=lambda fit: criterion(fit.distance, fit.parameters))
    by_steps = criterion(float(np.abs(left_by_steps).mean()), _STEP_PARAMETERS * steps + 1)
    if criterion(best.distance, best.parameters) > by_steps:
        return None
    return best.line or _curve(best.values)


def _line(series: Values) -> Iterator[_Fit]:
    """Return the line of Theil (1950) and Sen (1968) if the slope's interval excludes 0.

    The residuals' autocorrelation widens the interval. The fit of least absolute distance is compared with curves.
    """
    numbers = np.arange(len(series))
    slope, intercept, *sure = scipy.stats.theilslopes(series, numbers, alpha=1 - MOST_P)
    values = intercept + slope * numbers
    widened = 1 / sqrt(_Fit.of(series, values, 2).independent)
    low, high = (slope + (end - slope) * widened for end in sure)
    if low <= 0 <= high:
        return
    ends = scipy.stats.theilslopes(series, numbers, alpha=CONFIDENCE)[2:]
    lowest, highest = (_gained(series, float(slope + (end - slope) * widened)) for end in ends)
    start, end = float(values[0]), float(values[-1])
    path = ((0, start), (len(series) - 1, end))
    found = FittedDrift(DriftShape.LINE, _gained(series, float(slope)), lowest, highest, start, end, path)
    nearest = _nearest(series, _polynomials(len(series), 1))
    yield replace(_Fit.of(series, nearest, 2), line=found)


def _gained(series: Values, slope: float) -> float | None:
    last = len(series) - 1
    start = float(np.median(series)) - slope * last / 2
    return slope * last / abs(start) if start * float(np.median(series)) > 0 else None


def _curves(series: Values, base: float) -> Iterator[_Fit]:
    """Return the curves whose likelihood ratio to a constant level has p < 0.001; `base` is that level's distance."""
    for parameters, bases in _bases(len(series)):
        fit = _Fit.of(series, _nearest(series, bases), parameters + _CHOSEN)
        independent = len(series) * fit.independent
        ratio = 2 * independent * log(base / max(fit.distance, _ROUNDING * base))
        if scipy.stats.chi2.sf(ratio, fit.parameters - 1) < MOST_P:
            yield fit


def _bases(runs: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Return the number of parameters and the functions of each kind of curve: choices x runs x functions.

    Ageing is a polynomial or an exponential, a season a sine.
    """
    for degree in range(2, MOST_DEGREE + 1):
        yield degree + 1, _polynomials(runs, degree)
    rates = np.array([*RATES, *(-rate for rate in RATES)])[:, None]
    yield 3, _with_level(np.exp(-rates * np.linspace(0, 1, runs) - np.maximum(-rates, 0)))
    shortest, longest = max(FEWEST_PERIOD_RUNS, runs / MOST_PERIODS), 1.2 * runs
    if shortest < longest:
        periods = np.geomspace(shortest, longest, 1 + ceil(log(longest / shortest) / log(_PERIOD_STEP)))
        angles = 2 * np.pi * np.arange(runs) / periods[:, None]
        yield 4, _with_level(np.cos(angles), np.sin(angles))


def _polynomials(runs: int, degree: int) -> NDArray[np.float64]:
    powers: NDArray[np.float64] = np.asarray(legendre.legvander(np.linspace(-1, 1, runs), degree), dtype=np.float64)
    return powers[None]


def _with_level(*functions: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([np.ones_like(functions[0]), *functions], axis=2)


def _nearest(series: Values, bases: NDArray[np.float64]) -> Values:
    """Return the fit of least absolute distance of all choices, by iteratively reweighted least squares."""
    least = _LEAST_WEIGHED * float(np.abs(series - np.median(series)).mean())
    weights = np.ones(bases.shape[:2])
    for _ in range(_ROUNDS):
        weighted = (bases * weights[:, :, None]).transpose(0, 2, 1)
        factors = np.linalg.solve(weighted @ bases, weighted @ series[None, :, None])
        values = (bases @ factors)[:, :, 0]
        weights = 1 / np.maximum(np.abs(series - values), least)
    nearest: Values = values[int(np.argmin(np.abs(series - values).mean(axis=1)))]
    return nearest


def _curve(values: Values) -> FittedDrift:
    start, end = float(values[0]), float(values[-1])
    is_wave = abs(end - start) < np.ptp(values) / 2
    runs = np.unique(np.linspace(0, len(values) - 1, PATH_PARTS + 1).round().astype(int))
    path = tuple((int(run), float(values[run])) for run in runs)
    shift = (end - start) / abs(start) if start else None
    return FittedDrift(DriftShape.WAVE if is_wave else DriftShape.CURVE, shift, None, None, start, end, path)
