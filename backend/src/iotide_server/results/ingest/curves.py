"""Per-second values: woven into few rows whatever the order in which their pieces arrive, and thinned for a plot."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from math import ceil, floor, fsum, inf

MAX_CHUNK_VALUES = 600
_ROUNDING_STEPS = 1e-3  # times are kept in microseconds, so a whole number of steps may look like a little more


@dataclass(frozen=True, slots=True)
class Stretch:
    """Values without a gap: `values[i]` covers the step that starts at started_at + i x step_seconds."""

    started_at: datetime
    step_seconds: float
    values: tuple[float, ...]
    # lows, highs: of one that was thinned when it was old, the smallest and the largest value behind each mean
    lows: tuple[float, ...] | None = None
    highs: tuple[float, ...] | None = None

    @property
    def ended_at(self) -> datetime:
        """Where its last step ends."""
        return self.start_of(len(self.values))

    def start_of(self, index: float) -> datetime:
        """When step `index` starts; halves are allowed."""
        return self.started_at + timedelta(seconds=index * self.step_seconds)

    def part(self, first: int, end: int | None = None) -> "Stretch":
        """The steps from `first` up to `end`."""
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
    # lows, highs: the smallest and the largest of the values that each mean stands for; None where each stands for
    # itself
    lows: tuple[float | None, ...] | None
    highs: tuple[float | None, ...] | None


def weave(stored: Iterable[Stretch], pieces: Iterable[Stretch]) -> list[Stretch]:
    """The stretches of one counter after `pieces` arrived, by start; each second is taken from the first that tells it.

    A piece that continues a stretch is appended to it until that holds MAX_CHUNK_VALUES; a repeated piece, or the part
    of it that is known, changes nothing. Every stored stretch is kept or grown, never cut or moved.
    """
    woven = sorted(stored, key=_start)
    for piece in sorted(pieces, key=_start):
        for news in _unknown_parts(woven, piece):
            _append(woven, news)
    return woven


def _unknown_parts(woven: Sequence[Stretch], piece: Stretch) -> list[Stretch]:
    """The parts of a piece that no stretch covers; a step counts as covered when its middle is."""
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
    """Whether a stretch covers any step of the piece: hardly ever, and quicker to see than for each step."""
    first, last = piece.start_of(0.5), piece.start_of(len(piece.values) - 0.5)
    before = bisect_right(woven, last, key=_start)
    return before > 0 and first < woven[before - 1].ended_at


def _covers(woven: Sequence[Stretch], moment: datetime) -> bool:
    before = bisect_right(woven, moment, key=_start) - 1
    return before >= 0 and moment < woven[before].ended_at


def _append(woven: list[Stretch], news: Stretch) -> None:
    """Put `news` at the end of the stretch that it continues, what does not fit there into new ones."""
    place = bisect_right(woven, news.start_of(0.5), key=_start)
    if place and _continues(woven[place - 1], news):
        open_stretch = woven[place - 1]
        room = MAX_CHUNK_VALUES - len(open_stretch.values)
        woven[place - 1] = replace(open_stretch, values=open_stretch.values + news.values[:room])
        if room >= len(news.values):
            return
        news = replace(news.part(room), started_at=woven[place - 1].ended_at)
    for offset, first in enumerate(range(0, len(news.values), MAX_CHUNK_VALUES)):
        woven.insert(place + offset, news.part(first, first + MAX_CHUNK_VALUES))


def _continues(stretch: Stretch, news: Stretch) -> bool:
    gap_seconds = abs((news.started_at - stretch.ended_at).total_seconds())
    return stretch.step_seconds == news.step_seconds and gap_seconds <= stretch.step_seconds / 2


def _start(stretch: Stretch) -> datetime:
    return stretch.started_at


def thin(stretches: Sequence[Stretch], max_points: int) -> ThinnedCurve:
    """Return at most `max_points` means of one counter's stretches over equal spans of time, with their ranges."""
    started_at = min(map(_start, stretches))
    span_seconds = (max(stretch.ended_at for stretch in stretches) - started_at).total_seconds()
    step_seconds = min(stretch.step_seconds for stretch in stretches)
    steps = ceil(span_seconds / step_seconds - _ROUNDING_STEPS)
    width_seconds = step_seconds * ceil(steps / max_points)
    spans = _spans(stretches, started_at, width_seconds)
    is_thinned = any(span.count > 1 for span in spans.values()) or any(stretch.lows for stretch in stretches)
    points = [spans.get(number) for number in range(max(spans) + 1)]  # at most `max_points`, by the width
    return ThinnedCurve(
        started_at,
        width_seconds,
        values=tuple(None if span is None else span.total / span.count for span in points),
        lows=tuple(None if span is None else span.low for span in points) if is_thinned else None,
        highs=tuple(None if span is None else span.high for span in points) if is_thinned else None,
    )


@dataclass(slots=True)
class _Span:
    """Sums up one span of time in as many numbers as that takes, however many values are behind it."""

    total: float
    count: int
    low: float
    high: float

    def take(self, values: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> None:
        self.total += fsum(values)
        self.count += len(values)
        self.low, self.high = min(self.low, *lows), max(self.high, *highs)


def _spans(stretches: Iterable[Stretch], started_at: datetime, width_seconds: float) -> dict[int, _Span]:
    """Return the spans in which something was measured, by their number since `started_at`.

    They cost what the stretches hold and never the time between them: a node that lies may be years off.
    """
    spans: dict[int, _Span] = {}
    for stretch in stretches:
        for number, first, end in _by_width(stretch, started_at, width_seconds):
            span = spans.setdefault(number, _Span(0.0, 0, inf, -inf))
            values = stretch.values[first:end]
            span.take(values, (stretch.lows or stretch.values)[first:end], (stretch.highs or stretch.values)[first:end])
    return spans


def thin_old(stretches: Sequence[Stretch], step_seconds: float) -> list[Stretch]:
    """Return one counter's stretches, by start, as means over longer steps with their ranges, in rows as long as any.

    A step in which nothing was measured ends a stretch. What is measured so rarely already stays as it is.
    """
    shortest = min(stretch.step_seconds for stretch in stretches)
    if shortest >= step_seconds:
        return list(stretches)
    width_seconds = shortest * floor(step_seconds / shortest + _ROUNDING_STEPS)
    started_at = stretches[0].started_at
    spans = _spans(stretches, started_at, width_seconds)
    rows = []
    # In a stretch without a gap the number of a span and its rank differ by the same.
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
    """Each span of time since `origin`, with the first of the steps whose middle lies in it and the end of them."""
    first_seconds = (stretch.started_at - origin).total_seconds() + stretch.step_seconds / 2
    index = 0
    while index < len(stretch.values):
        span = floor((first_seconds + index * stretch.step_seconds) / width_seconds)
        end = max(index + 1, ceil(((span + 1) * width_seconds - first_seconds) / stretch.step_seconds))
        yield span, index, end
        index = end
