"""Scores of change detectors on series with known changes, all at once and run by run."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from factories.agreement import agreed, same_change
from labelled import Kind, Labelled

from iotide_server.statistics.changepoints import FEWEST_RUNS, analyse
from iotide_server.statistics.course import CONFIRMING_RUNS, Analysis, LevelChange

TOLERANCE_RUNS: Final = 3


def ours(values: Sequence[float]) -> list[int]:
    """Return the changes of our own analysis."""
    return [change.index for change in analyse(values).changes]


@dataclass
class Score:
    """A detector's score.

    Attributes:
        false_of: false changes by kind of series.
        runs_of: runs judged, by kind of series.
    """

    found: int = 0
    missed: int = 0
    false_of: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(Kind, 0))
    runs_of: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(Kind, 0))
    seconds: float = 0.0

    @property
    def precision(self) -> float:
        """Share of the reported changes that are real."""
        named = self.found + sum(self.false_of.values())
        return self.found / named if named else 0.0

    @property
    def recall(self) -> float:
        """Share of the real changes that were reported."""
        real = self.found + self.missed
        return self.found / real if real else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def false_per_100(self) -> float:
        """False changes in a hundred runs of stable series."""
        runs = self.runs_of[Kind.STABLE]
        return 100 * self.false_of[Kind.STABLE] / runs if runs else 0.0

    def take(self, series: Labelled, named: Iterable[int]) -> None:
        """Count the answer for one series; each change is found once."""
        open_changes = list(series.changes)
        self.runs_of[series.kind] += len(series.values)
        for index in named:
            near = [change for change in open_changes if abs(change - index) <= TOLERANCE_RUNS]
            if near:
                open_changes.remove(min(near, key=lambda change: abs(change - index)))
                self.found += 1
            else:
                self.false_of[series.kind] += 1
        self.missed += len(open_changes)


def scored(series: Iterable[Labelled], answers: Iterable[Sequence[int]]) -> Score:
    """Score the answers for complete series."""
    score = Score()
    for one, named in zip(series, answers, strict=True):
        score.take(one, named)
    return score


@dataclass(frozen=True)
class Streamed:
    """Alerts of a series that grew run by run.

    Attributes:
        delays: runs from the first one after a change to the alert, for each change with an alert.
    """

    kind: Kind
    runs: int
    delays: tuple[int, ...]
    missed: int
    false_alerts: int


def false_alerts_per_100(streamed: Sequence[Streamed]) -> float:
    """Return the false alerts in a hundred runs."""
    return 100 * sum(one.false_alerts for one in streamed) / sum(one.runs for one in streamed)


def windowed(analyses: Iterable[Analysis]) -> Iterator[tuple[Analysis, ...]]:
    """Rolling window as wide as the number of runs that confirm a change."""
    newest: deque[Analysis] = deque(maxlen=1 + CONFIRMING_RUNS)
    for analysis in analyses:
        newest.append(analysis)
        if len(newest) == newest.maxlen:
            yield tuple(newest)


def stream(series: Labelled) -> Streamed:
    """Grow a series and analyse it after each run."""
    alerted: list[LevelChange] = []
    delays: dict[int, int] = {}
    false_alerts = 0
    runs = len(series.values)
    for newest in windowed(analyse(series.values[:count]) for count in range(FEWEST_RUNS, runs + 1)):
        for change in agreed(*newest):
            if any(same_change(change, known) for known in alerted):
                continue
            alerted.append(change)
            near = [
                true for true in series.changes if abs(true - change.index) <= TOLERANCE_RUNS and true not in delays
            ]
            if near:
                delays[near[0]] = newest[-1].run_count - near[0]
            else:
                false_alerts += 1
    return Streamed(series.kind, runs, tuple(delays.values()), len(series.changes) - len(delays), false_alerts)
