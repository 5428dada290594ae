"""Series that grow point by point, with their stored changes after each analysis, as the server keeps them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from iotide_server.results.models import Point
from iotide_server.statistics.changepoints import FEWEST_RUNS, analyse
from iotide_server.trends.changes.keeping import AnalysedPoints, keep_changes
from iotide_server.trends.models import ChangePoint

_FIRST = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Fates:
    """Number of reported changes, and of those that were withdrawn or are over."""

    reported: int = 0
    withdrawn: int = 0
    over: int = 0

    def __add__(self, other: "Fates") -> "Fates":
        return Fates(self.reported + other.reported, self.withdrawn + other.withdrawn, self.over + other.over)


def fates(values: Sequence[float]) -> Fates:
    """Count over all analyses, one a day with one more point. A withdrawn change that returns remains withdrawn."""
    points = [
        Point(at=_FIRST + timedelta(days=day), median=value, cell_id=day, campaign_id=day)
        for day, value in enumerate(values)
    ]
    rows: list[ChangePoint] = []
    withdrawn: set[int] = set()
    for count in range(FEWEST_RUNS, len(values) + 1):
        analysed = AnalysedPoints(points[:count], count, points[count - 1].at)
        rows += keep_changes(rows, analyse(values[:count]), analysed)
        rows.sort(key=lambda row: row.at)
        gone = [row for row in rows if row.confirmed_at is not None and row.gone_at is not None]
        withdrawn |= {id(row) for row in gone if row.over_at is None}
    reported = [row for row in rows if row.confirmed_at is not None]
    over = sum(row.over_at is not None for row in reported if id(row) not in withdrawn)
    return Fates(len(reported), len(withdrawn), over)


def regimes(
    random: np.random.Generator, count: int, *, spread: float, memory: float, regime_share: float
) -> list[float]:
    """Return values around 100 with autocorrelated noise, and regimes of 5 to 20 days at 30 to 80 % of the level.

    Args:
        regime_share: number of regimes for each run.
    """
    fresh = random.standard_normal(count) * np.sqrt(1 - memory**2)
    noise = np.empty(count)
    noise[0] = random.standard_normal()
    for number in range(1, count):
        noise[number] = memory * noise[number - 1] + fresh[number]
    level = np.full(count, 100.0)
    for _ in range(random.poisson(regime_share * count)):
        start = int(random.integers(20, count))
        level[start : start + int(random.integers(5, 21))] = 100 * random.uniform(0.3, 0.8)
    values: list[float] = (level * np.exp(spread * noise)).tolist()
    return values
