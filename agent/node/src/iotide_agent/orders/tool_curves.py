"""Makes pieces of a run's curves out of what the tools themselves tell of each second."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import groupby
from math import isfinite
from typing import Final

from iotide_agent.workloads.base import Curve
from iotide_wire.messages import CurvePiece

STEP_SECONDS: Final = 1.0
MAX_PIECE_VALUES: Final = 600


def check_curve(curve: Curve) -> None:
    """Raise ValueError for a curve that cannot be sent, by its counter's name or a value that is not finite."""
    if not all(map(isfinite, curve.values)):
        raise ValueError(f"curve {curve.counter} holds what is no finite number; leave out what was not measured")
    if curve.values:
        CurvePiece(counter=curve.counter, started_at=curve.started_at, step_seconds=STEP_SECONDS, values=(0.0,))


def added_up(curves: Iterable[Curve], started_at: datetime) -> list[CurvePiece]:
    """The curves in the seconds of the load, which began at `started_at`, those of one counter added up."""
    by_counter: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for curve in curves:
        first = round((curve.started_at - started_at).total_seconds() / STEP_SECONDS)
        for second, value in enumerate(curve.values, start=first):
            by_counter[curve.counter][second] += value
    return [piece for counter, values in by_counter.items() for piece in _pieces(counter, values, started_at)]


def _pieces(counter: str, values: Mapping[int, float], started_at: datetime) -> Iterator[CurvePiece]:
    seconds = sorted(values)
    # In a stretch without a gap a second and its rank differ by the same number.
    for _, stretch in groupby(enumerate(seconds), key=lambda ranked: ranked[1] - ranked[0]):
        known = [second for _, second in stretch]
        for begin in range(0, len(known), MAX_PIECE_VALUES):
            part = known[begin : begin + MAX_PIECE_VALUES]
            yield CurvePiece(
                counter=counter,
                started_at=started_at + timedelta(seconds=part[0] * STEP_SECONDS),
                step_seconds=STEP_SECONDS,
                values=tuple(values[second] for second in part),
            )
