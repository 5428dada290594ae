"""Generated series with known changes, on which `./dev bench detector` scores detectors.

Each is one cell's runs, in per cent of some rate, with noise of a known spread and memory. In a mixture, two thirds
have steps. A step is of at least three standard deviations of the noise: a smaller one cannot be located within three
runs, and luck would decide the score. The others have no change, however their values move. The first mixture was fixed
before our own detector was written, by the scores of two others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

LEVEL: Final = 100.0
LEAST_STEP, LARGEST_STEP = 0.03, 0.30
STEP_SIGMAS: Final = 3.0
STEPPED: Final = 10
"""Series with steps for each one of another kind."""
HALVING_NOISE: Final = 0.02
AGEING: Final = 0.20
"""Share of the rate that is lost."""
SEASON: Final = 0.10
"""Share of the rate, up and down."""


class Kind(StrEnum):
    """Kind of change in a series."""

    STABLE = "stable"
    STEP = "step"
    SPIKE = "spike"
    DRIFT = "drift"
    BIMODAL = "bimodal"
    VARIANCE = "variance"
    AGEING = "ageing"
    SEASON = "season"


MIXED: Final = (Kind.STABLE, Kind.STEP, Kind.SPIKE, Kind.DRIFT, Kind.BIMODAL, Kind.VARIANCE)


@dataclass(frozen=True, slots=True)
class Setting:
    """Conditions of generated series.

    Attributes:
        noises: coefficients of variation.
        memories: lag-1 autocorrelations.
        steps: fewest and most steps of a series.
        apart: runs between two steps, and before the first and after the last.
        quantum: values are rounded to multiples of this share of the level, so that they repeat; 0 for none.
    """

    runs: int = 200
    noises: tuple[float, ...] = (0.01, 0.03, 0.05)
    memories: tuple[float, ...] = (0.0, 0.3, 0.6)
    kinds: tuple[Kind, ...] = MIXED
    steps: tuple[int, int] = (2, 3)
    apart: int = 20
    quantum: float = 0.0


MIXTURE: Final = Setting()


@dataclass(frozen=True, slots=True)
class Labelled:
    """A series and its real changes.

    Attributes:
        values: one per run, in time order.
        changes: the indices of the first runs after each step.
    """

    kind: Kind
    noise: float
    memory: float
    values: tuple[float, ...]
    changes: tuple[int, ...]


def labelled_series(seed: int, each: int, setting: Setting = MIXTURE) -> Iterator[Labelled]:
    """Return this many series of each kind, noise and memory, and ten times as many with steps; one seed gives the same
    series.
    """
    random = np.random.default_rng(seed)
    for kind, noise, memory in product(setting.kinds, setting.noises, setting.memories):
        for _ in range(STEPPED * each if kind is Kind.STEP else each):
            yield _series(random, kind, noise, memory, setting)


def halvings(seed: int, count: int, runs: int, memory: float) -> Iterator[Labelled]:
    """Return series whose rate halves in the middle."""
    random = np.random.default_rng(seed)
    level = np.where(np.arange(runs) < runs // 2, 1.0, 0.5)
    for _ in range(count):
        values = LEVEL * level * (1 + HALVING_NOISE * _remembering(random, memory, runs))
        yield Labelled(Kind.STEP, HALVING_NOISE, memory, tuple(values.tolist()), (runs // 2,))


def _series(random: np.random.Generator, kind: Kind, noise: float, memory: float, setting: Setting) -> Labelled:
    runs = setting.runs
    level = np.ones(runs)
    spread = np.ones(runs)
    changes: tuple[int, ...] = ()
    if kind is Kind.STEP:
        changes = _places(random, int(random.integers(setting.steps[0], setting.steps[1] + 1)), setting)
        least = max(LEAST_STEP, STEP_SIGMAS * noise)
        for place in changes:
            size = random.uniform(least, max(LARGEST_STEP, 2 * least))
            level[place:] *= 1 + size if random.random() < 0.5 else 1 / (1 + size)
    elif kind is Kind.SPIKE:
        places = random.choice(runs, size=int(random.integers(1, 6)), replace=False)
        level[places] *= 1 + random.choice([-1, 1], size=len(places)) * random.uniform(0.1, 0.5, size=len(places))
    elif kind is Kind.DRIFT:
        level += np.linspace(0, random.choice([-1, 1]) * random.uniform(0.05, 0.3), runs)
    elif kind is Kind.BIMODAL:
        level += random.choice([0.0, random.uniform(0.1, 0.3)], size=runs)
    elif kind is Kind.VARIANCE:
        (place,) = _places(random, 1, setting)
        spread[place:] = random.uniform(2, 4)
    elif kind is Kind.AGEING:
        level -= AGEING * _settling(random, runs)
    elif kind is Kind.SEASON:
        level += SEASON * np.sin(2 * np.pi * (np.arange(runs) / random.uniform(runs / 2, 2 * runs) + random.random()))
    values = LEVEL * level * (1 + noise * spread * _remembering(random, memory, runs))
    if setting.quantum:
        values = np.round(values / (LEVEL * setting.quantum)) * (LEVEL * setting.quantum)
    return Labelled(kind, noise, memory, tuple(values.tolist()), changes)


def _settling(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return a rise from 0 to 1 that becomes slower."""
    rate = random.uniform(2, 6)
    settled: NDArray[np.float64] = np.expm1(-rate * np.linspace(0, 1, runs)) / np.expm1(-rate)
    return settled


def _places(random: np.random.Generator, count: int, setting: Setting) -> tuple[int, ...]:
    """Return this many runs in time order, far enough apart."""
    free = setting.runs - setting.apart * (count + 1)
    gaps = np.sort(random.integers(0, free + 1, size=count))
    return tuple(int(gap) + setting.apart * (number + 1) for number, gap in enumerate(gaps))


def _remembering(random: np.random.Generator, memory: float, runs: int) -> NDArray[np.float64]:
    """Return normal noise of variance 1 with this lag-1 autocorrelation."""
    fresh = random.standard_normal(runs)
    values = np.empty(runs)
    values[0] = fresh[0]
    for number in range(1, runs):
        values[number] = memory * values[number - 1] + np.sqrt(1 - memory**2) * fresh[number]
    return values
