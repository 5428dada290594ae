"""Rule: how many times faster one target is than another, over all sizes measured on both."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from iotide_server.advice.findings import Advice, Evidence, Finding, Fine, Severity, Unknown
from iotide_server.advice.scene import Scene, ScenePoint, listed
from iotide_server.statistics.comparison import geometric_mean
from iotide_server.statistics.summary import Ratio, ratio
from iotide_wire.names import Titles, described
from iotide_wire.units import Unit, format_number

CODE: Final = "headline_ratio"
LEAST_SPREAD: Final = 1.25
"""Largest ratio over smallest, above which a single number is wrong by a quarter for some sizes. With intervals: the
largest lower bound over the smallest upper bound, so that scatter over many sizes does not trigger it.
"""
FEW_RUNS_SLACK: Final = 0.10  # tolerance of a claim against a ratio without interval
DISAGREEING_SHARE: Final = 0.1  # share of settings that may exclude a claim by chance; none of fewer than ten
MOST_SETTINGS: Final = 12  # listed settings; with more, and without intervals, scatter is indistinguishable

_Settings = Mapping[str, ScenePoint]


@dataclass(frozen=True, slots=True)
class PairRatio:
    """Ratio of two targets at one setting."""

    setting: str
    ratio: Ratio
    fast: ScenePoint
    slow: ScenePoint

    def allows(self, claimed: float) -> bool:
        low, high = self.ratio.low, self.ratio.high
        if low is None or high is None:
            return abs(claimed / self.ratio.median - 1) <= FEW_RUNS_SLACK
        return low <= claimed <= high


def headline_ratios(scene: Scene) -> Iterator[Finding]:
    """Compare each target of a campaign with its slowest one, by operation."""
    alike: defaultdict[Hashable, list[ScenePoint]] = defaultdict(list)
    for point in scene.rates:
        cell = point.cell
        alike[cell.campaign_id, cell.workload, cell.variant, cell.nodes, point.metric, point.operation].append(point)
    for points in alike.values():
        yield from _judge(points, scene.claimed_ratio)


def _judge(points: Sequence[ScenePoint], claimed: float | None) -> Iterator[Finding]:
    varying = _varying(points)
    by_target: defaultdict[tuple[str, ...], dict[str, ScenePoint]] = defaultdict(dict)
    for point in points:
        by_target[point.cell.targets].setdefault(setting_words(_described(point), point.cell.titles, varying), point)
    shared = frozenset.intersection(*(frozenset(settings) for settings in by_target.values()))
    if len(by_target) <= 1 or not shared:
        return
    speeds = {
        targets: geometric_mean([settings[name].median for name in shared]) for targets, settings in by_target.items()
    }
    slowest = min(speeds, key=speeds.__getitem__)
    for targets, settings in by_target.items():
        if targets != slowest:
            names = [name for name in settings if name in shared]
            yield _pair(settings, by_target[slowest], names, claimed)


def _pair(fast: _Settings, slow: _Settings, names: Sequence[str], claimed: float | None) -> Finding:
    pairs = [PairRatio(name, ratio(slow[name], fast[name]), fast[name], slow[name]) for name in names]
    medians = [pair.ratio.median for pair in pairs]
    one, other = (listed(side.cell.targets) for side in (pairs[0].fast, pairs[0].slow))
    subject = f"{pairs[0].fast.place}, compared with {other}"
    disagreeing = 0 if claimed is None else sum(not pair.allows(claimed) for pair in pairs)
    refuted = disagreeing > DISAGREEING_SHARE * len(pairs)
    if not refuted and len(pairs) > MOST_SETTINGS and not _has_intervals(pairs):
        because = f"{_range(medians)} times as fast over {len(pairs)} settings, some with fewer than four runs"
        return Unknown(CODE, subject, f"{because}; scatter and effects of the settings cannot be separated")
    if not refuted and _spread(pairs) < LEAST_SPREAD:
        return Fine(subject, f"{_range(medians)} times as fast over {len(pairs)} settings, which show no difference")
    return Advice(
        code=CODE,
        severity=Severity.HIGH if refuted else Severity.LOW,
        subject=subject,
        title=(
            f"Results do not support “{format_number(claimed or 0)} times”: {one} is "
            f"{_range(medians)} times as fast as {other}"
            if refuted
            else f"{one} is {_range(medians)} times as fast as {other}, depending on the setting"
        ),
        explanation=_explained(pairs, claimed if refuted else None),
        evidence=tuple(_evidence(pairs)),
        remedy=f"State “{_range_words(pairs)}” and name the settings. A mean over them hides their effect.",
        source="NUS SVU report on GPFS: claims about 10 times as fast as NFS, but its own table shows 3.6 to 4.7 times",
    )


def _has_intervals(pairs: Sequence[PairRatio]) -> bool:
    return all(pair.ratio.low is not None for pair in pairs)


def _spread(pairs: Sequence[PairRatio]) -> float:
    """Return the smallest factor between the ratios that the intervals allow."""
    lows = [pair.ratio.median if pair.ratio.low is None else pair.ratio.low for pair in pairs]
    highs = [pair.ratio.median if pair.ratio.high is None else pair.ratio.high for pair in pairs]
    return max(lows) / min(highs)


def _listed_pairs(pairs: Sequence[PairRatio]) -> Sequence[PairRatio]:
    if len(pairs) <= MOST_SETTINGS:
        return pairs
    ranked = sorted(pairs, key=lambda pair: pair.ratio.median)
    return [*ranked[: MOST_SETTINGS // 2], *ranked[-MOST_SETTINGS // 2 :]]


def _explained(pairs: Sequence[PairRatio], refuted: float | None) -> str:
    ratios = "; ".join(f"{pair.setting}: {pair.ratio.words}" for pair in _listed_pairs(pairs))
    more = f"; {len(pairs) - MOST_SETTINGS} others are in between" if len(pairs) > MOST_SETTINGS else ""
    words = [f"By setting: {ratios}{more}."]
    if refuted is not None:
        agreeing = [pair.setting for pair in pairs if pair.allows(refuted)]
        named = ", ".join(agreeing) if len(agreeing) <= MOST_SETTINGS else f"{len(agreeing)} of {len(pairs)} settings"
        where = f"only with {named}" if agreeing else "with none of them"
        words.append(f"{format_number(refuted)} agrees {where}.")
    if not _has_intervals(pairs):
        fewest = min(min(pair.fast.n, pair.slow.n) for pair in pairs)
        words.append(
            f"With {fewest} run{'s' * (fewest > 1)} per setting there are no intervals; more repeats may change them."
        )
    else:
        words.append("Parentheses show 95 % intervals.")
    return " ".join(words)


def _evidence(pairs: Sequence[PairRatio]) -> Iterator[Evidence]:
    for pair in _listed_pairs(pairs):
        for point in (pair.slow, pair.fast):
            yield point.evidence(f"{listed(point.cell.targets)}, {pair.setting}")
        yield Evidence(f"ratio, {pair.setting}", pair.ratio.median, Unit.RATIO)


def _range_words(pairs: Sequence[PairRatio]) -> str:
    lows = [pair.ratio.low for pair in pairs if pair.ratio.low is not None]
    highs = [pair.ratio.high for pair in pairs if pair.ratio.high is not None]
    if len(lows) == len(pairs):
        return f"{format_number(min(lows))} to {format_number(max(highs))} times, depending on the setting"
    return f"{_range([pair.ratio.median for pair in pairs])} times by median, depending on the setting"


def _range(values: Sequence[float]) -> str:
    low, high = format_number(min(values)), format_number(max(values))
    return low if low == high else f"{low} to {high}"


def _varying(points: Sequence[ScenePoint]) -> list[str]:
    described = [_described(point) for point in points]
    names = dict.fromkeys(name for one in described for name in one)
    return [name for name in names if len({repr(one.get(name)) for one in described}) > 1]


def setting_words(values: Mapping[str, Any], titles: Titles, varying: Sequence[str]) -> str:
    return described(values, titles, varying) or "the only setting"


def _described(point: ScenePoint) -> dict[str, Any]:
    return {**point.cell.options, **point.labels}
