"""Made-up series whose changes are known: what `./dev bench detector` judges detectors by.

Each is 200 runs of one cell, in per cent of some rate, with noise of a known spread and memory. Two thirds have two or
three steps. A step is of 3 to 30 % and of at least three standard deviations of the noise: where a smaller one lies
nobody could tell within three runs, and a detector would be judged by luck. The others have none to be found, however
their values move. It was settled on before our own detector was written, by how two others do on it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

RUNS: Final = 200
LEVEL: Final = 100.0
NOISES: Final = (0.01, 0.03, 0.05)
"""Coefficients of variation."""
MEMORIES: Final = (0.0, 0.3, 0.6)
"""Lag-1 autocorrelations."""
LEAST_STEP, LARGEST_STEP = 0.03, 0.30
STEP_SIGMAS: Final = 3.0
STEPS: Final = (2, 3)
STEPPED: Final = 10
"""Series with steps for each one of another kind."""
APART: Final = 20
"""Runs between two steps, and before the first and after the last."""


class Kind(StrEnum):
    """What happens to a series."""

    STABLE = "stable"
    STEP = "step"
    SPIKE = "spike"
    DRIFT = "drift"
    BIMODAL = "bimodal"
    VARIANCE = "variance"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A series and where it truly changed.

    Attributes:
        values: one per run, in time order.
        changes: the indices of the first runs after each step.
    """

    kind: Kind
    noise: float
    memory: float
    values: tuple[float, ...]
    changes: tuple[int, ...]


def labelled_series(seed: int, each: int) -> Iterator[Labelled]:
    """So many series of each kind, noise and memory, ten times as many with steps; the same for the same seed."""
    random = np.random.default_rng(seed)
    for kind, noise, memory in product(Kind, NOISES, MEMORIES):
        for _ in range(STEPPED * each if kind is Kind.STEP else each):
            yield _series(random, kind, noise, memory)


def _series(random: np.random.Generator, kind: Kind, noise: float, memory: float) -> Labelled:
    level = np.ones(RUNS)
    spread = np.ones(RUNS)
    changes: tuple[int, ...] = ()
    if kind is Kind.STEP:
        changes = _places(random, int(random.integers(STEPS[0], STEPS[1] + 1)))
        for place in changes:
            least = max(LEAST_STEP, STEP_SIGMAS * noise)
            size = random.uniform(least, LARGEST_STEP)
            level[place:] *= 1 + size if random.random() < 0.5 else 1 / (1 + size)
    elif kind is Kind.SPIKE:
        places = random.choice(RUNS, size=int(random.integers(1, 6)), replace=False)
        level[places] *= 1 + random.choice([-1, 1], size=len(places)) * random.uniform(0.1, 0.5, size=len(places))
    elif kind is Kind.DRIFT:
        level += np.linspace(0, random.choice([-1, 1]) * random.uniform(0.05, 0.3), RUNS)
    elif kind is Kind.BIMODAL:
        level += random.choice([0.0, random.uniform(0.1, 0.3)], size=RUNS)
    elif kind is Kind.VARIANCE:
        (place,) = _places(random, 1)
        spread[place:] = random.uniform(2, 4)
    values = LEVEL * level * (1 + noise * spread * _remembering(random, memory))
    return Labelled(kind, noise, memory, tuple(values.tolist()), changes)


def _places(random: np.random.Generator, count: int) -> tuple[int, ...]:
    """So many runs in time order, far enough apart."""
    free = RUNS - APART * (count + 1)
    gaps = np.sort(random.integers(0, free + 1, size=count))
    return tuple(int(gap) + APART * (number + 1) for number, gap in enumerate(gaps))


def _remembering(random: np.random.Generator, memory: float) -> NDArray[np.float64]:
    """Normal noise of variance 1, each value with so much of the one before."""
    fresh = random.standard_normal(RUNS)
    values = np.empty(RUNS)
    values[0] = fresh[0]
    for number in range(1, RUNS):
        values[number] = memory * values[number - 1] + np.sqrt(1 - memory**2) * fresh[number]
    return values
