"""Numbers as storage really gives them: noise with some memory, spikes, modes, and what is known to have happened."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt
from random import Random
from typing import Final

from iotide_server.demo_history.sites import Figure
from iotide_server.demo_history.truth import Truth, TruthKind

_SPIKES: Final = 0.01  # of the runs; each meets something else that slows it down by a tenth to a half


@dataclass(slots=True)
class SeriesNoise:
    """The numbers of one series, one run after the other."""

    figure: Figure
    truths: Sequence[Truth]  # those that are about it
    random: Random
    _wave: float = 0.0

    def value(self, at: float) -> float:
        """The next run's number, at that fraction of all days."""
        ratio, spread = 1.0, self.figure.variation
        for truth in self.truths:
            if truth.kind is TruthKind.DRIFT:
                ratio *= 1 + (truth.ratio - 1) * at
            elif not truth.is_true(at):
                continue
            elif truth.kind is TruthKind.NOISIER:
                spread *= truth.ratio
            elif truth.kind is not TruthKind.MODES or self.random.random() < truth.share:
                ratio *= truth.ratio
        memory = self.figure.memory
        self._wave = memory * self._wave + sqrt(1 - memory**2) * self.random.gauss()
        ratio *= exp(spread * self._wave)
        if self.random.random() < _SPIKES:
            ratio *= self.random.uniform(0.5, 0.9)
        return self.figure.level / ratio if self.figure.is_time else self.figure.level * ratio
