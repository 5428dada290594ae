"""Per-second values: pieces are merged into rows, and thinned for a plot."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from math import ceil, floor, fsum, inf

MAX_CHUNK_VALUES = 600
_ROUNDING_STEPS = 1e-3  # times are in microseconds, so whole steps may appear slightly larger


@dataclass(frozen=True, slots=True)
class Stretch:
    """Values without a gap; `values[i]` starts at started_at + i x step_seconds."""

    started_at: datetime
    step_seconds: float
    values: tuple[float, ...]
    # lows, highs: ranges behind the means of a thinned stretch
    lows: tuple[float, ...] | None = None
    highs: tuple[float, ...] | None = None

    @property
    def ended_at(self) -> datetime:
        return self.start_of(len(self.values))

    def start_of(self, index: float) -> datetime:
        """Halves are allowed."""
        return self.started_at + timedelta(seconds=index * self.step_seconds)

    def part(self, first: int, end: int | None = None) -> "Stretch":
        return Stretch(
            self.start_of(first),
            self.step_seconds,
            self.values[first:end],
            self.lows and self.lows[first:end],
            self.highs and self.highs[first:end],
        )


@dataclass(frozen=True, slots=True)
class ThinnedCurve:
    """A curve for a plot; None where nothing was measured."""

    started_at: datetime
    step_seconds: float
    values: tuple[float | None, ...]
    # lows, highs: ranges behind means, else None
    lows: tuple[float | None, ...] | None
    highs: tuple[float | None, ...] | None


def weave(stored: Iterable[Stretch], pieces: Iterable[Stretch]) -> list[Stretch]:
    """Return one counter's stretches after `pieces` arrived, by start. The first value for a second wins.

    A continuing piece is appended up to MAX_CHUNK_VALUES. Stored stretches are never cut or moved.
    """
    woven = sorted(stored, key=_start)
    for piece in sorted(pieces, key=_start):
        for added in _unknown_parts(woven, piece):
            _append(woven, added)
    return woven


def _unknown_parts(woven: Sequence[Stretch], piece: Stretch) -> list[Stretch]:
    """Return the parts of a piece with step middles that no stretch covers."""
    if not _touches(woven, piece):
        return [piece]
    is_known = [_covers(woven, piece.start_of(index + 0.5)) for index in range(len(piece.values))]
    parts = []
    for known, indexes in groupby(range(len(is_known)), key=is_known.__getitem__):
        first, *rest = indexes
        if not known:
            parts.append(piece.part(first, first + 1 + len(rest)))
    return parts


def _touches(woven: Sequence[Stretch], piece: Stretch) -> bool:
    """Check if any step is covered: rare and quick to check."""
    first, last = piece.start_of(0.5), piece.start_of(len(piece.values) - 0.5)
    before = bisect_right(woven, last, key=_start)
    return before > 0 and first < woven[before - 1].ended_at


def _covers(woven: Sequence[Stretch], moment: datetime) -> bool:
    before = bisect_right(woven, moment, key=_start) - 1
    return before >= 0 and moment < woven[before].ended_at


def _append(woven: list[Stretch], added: Stretch) -> None:
    place = bisect_right(woven, added.start_of(0.5), key=_start)
    if place and _continues(woven[place - 1], added):
        open_stretch = woven[place - 1]
        room = MAX_CHUNK_VALUES - len(open_stretch.values)
        woven[place - 1] = replace(open_stretch, values=open_stretch.values + added.values[:room])
        if room >= len(added.values):
            return
        added = replace(added.part(room), started_at=woven[place - 1].ended_at)
    for offset, first in enumerate(range(0, len(added.values), MAX_CHUNK_VALUES)):
        woven.insert(place + offset, added.part(first, first + MAX_CHUNK_VALUES))


def _continues(stretch: Stretch, added: Stretch) -> bool:
    gap_seconds = abs((added.started_at - stretch.ended_at).total_seconds())
    return stretch.step_seconds == added.step_seconds and gap_seconds <= stretch.step_seconds / 2


def _start(stretch: Stretch) -> datetime:
    return stretch.started_at


def thin(stretches: Sequence[Stretch], max_points: int) -> ThinnedCurve:
    started_at = min(map(_start, stretches))
    span_seconds = (max(stretch.ended_at for stretch in stretches) - started_at).total_seconds()
    step_seconds = min(stretch.step_seconds for stretch in stretches)
    steps = ceil(span_seconds / step_seconds - _ROUNDING_STEPS)
    width_seconds = step_seconds * ceil(steps / max_points)
    spans = _spans(stretches, started_at, width_seconds)
    is_thinned = any(span.count > 1 for span in spans.values()) or any(stretch.lows for stretch in stretches)
    points = [spans.get(number) for number in range(max(spans) + 1)]
    return ThinnedCurve(
        started_at,
        width_seconds,
        values=tuple(None if span is None else span.total / span.count for span in points),
        lows=tuple(None if span is None else span.low for span in points) if is_thinned else None,
        highs=tuple(None if span is None else span.high for span in points) if is_thinned else None,
    )


@dataclass(slots=True)
class _Span:
    """Aggregates of a span, in constant memory."""

    total: float
    count: int
    low: float
    high: float

    def take(self, values: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> None:
        self.total += fsum(values)
        self.count += len(values)
        self.low, self.high = min(self.low, *lows), max(self.high, *highs)


def _spans(stretches: Iterable[Stretch], started_at: datetime, width_seconds: float) -> dict[int, _Span]:
    """Return the spans with values, by number since `started_at`.

    The cost is independent of the time between values: a node's clock may be years off.
    """
    spans: dict[int, _Span] = {}
    for stretch in stretches:
        for number, first, end in _by_width(stretch, started_at, width_seconds):
            span = spans.setdefault(number, _Span(0.0, 0, inf, -inf))
            values = stretch.values[first:end]
            span.take(values, (stretch.lows or stretch.values)[first:end], (stretch.highs or stretch.values)[first:end])
    return spans


def thin_old(stretches: Sequence[Stretch], step_seconds: float) -> list[Stretch]:
    """Return one counter's stretches as means over longer steps with ranges, in full rows.

    A step without values ends a stretch.
    """
    shortest = min(stretch.step_seconds for stretch in stretches)
    if shortest >= step_seconds:
        return list(stretches)
    width_seconds = shortest * floor(step_seconds / shortest + _ROUNDING_STEPS)
    started_at = stretches[0].started_at
    spans = _spans(stretches, started_at, width_seconds)
    rows = []
    for _, ranked in groupby(enumerate(sorted(spans)), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in ranked]
        found = [spans[number] for number in numbers]
        whole = Stretch(
            started_at + timedelta(seconds=numbers[0] * width_seconds),
            width_seconds,
            tuple(span.total / span.count for span in found),
            tuple(span.low for span in found),
            tuple(span.high for span in found),
        )
        rows += [whole.part(at, at + MAX_CHUNK_VALUES) for at in range(0, len(numbers), MAX_CHUNK_VALUES)]
    return rows


def _by_width(stretch: Stretch, origin: datetime, width_seconds: float) -> Iterator[tuple[int, int, int]]:
    """Yield each span since `origin`, with the first step and the end of the steps whose middle is in it."""
    first_seconds = (stretch.started_at - origin).total_seconds() + stretch.step_seconds / 2
    index = 0
    while index < len(stretch.values):
        span = floor((first_seconds + index * stretch.step_seconds) / width_seconds)
        end = max(index + 1, ceil(((span + 1) * width_seconds - first_seconds) / stretch.step_seconds))
        yield span, index, end
        index = end
