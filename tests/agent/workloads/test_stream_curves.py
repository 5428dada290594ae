import random

import pytest
from factories.lossy_relay import Faults, through_relay
from factories.outcomes import run_groups

from iotide_agent.workloads.base import Place
from iotide_agent.workloads.stream import StreamWorkload
from iotide_agent.workloads.stream_options import MEGABIT, StreamOptions

STREAM = StreamWorkload()


def test_each_second_of_both_ends_is_a_curve_that_adds_up_to_what_was_counted(place: Place) -> None:
    asked = StreamOptions(rate_bytes_per_second=128 * MEGABIT, duration_seconds=2, files="single")
    [(receive, send)] = STREAM.plan(asked, [place])
    numbers = random.Random(7).sample(range(3, 3900, 3), 8 + 6 + 4)  # noqa: S311 - repeatable on purpose
    faults = Faults(frozenset(numbers[:8]), frozenset(numbers[8:14]), frozenset(numbers[14:]))
    with through_relay(send, faults) as (relayed, _):
        outcomes = run_groups([(receive, relayed)], place)

    curves = {curve.counter: curve for outcome in outcomes for curve in STREAM.read(asked, place, outcome).curves}
    assert {counter: sum(curve.values) for counter, curve in curves.items() if "_datagrams_" in counter} == {
        "stream_missing_datagrams_per_second": 8,
        "stream_dropped_datagrams_per_second": 0,
        "stream_duplicated_datagrams_per_second": 6,
        "stream_reordered_datagrams_per_second": 4,
        "stream_late_datagrams_per_second": 0,
    }
    rates = [curves[f"stream_{what}_bytes_per_second"] for what in ("sent", "received")]
    assert [rate.values[0] for rate in rates] == pytest.approx([16_000_000, 16_000_000], rel=0.05)
    assert all(value > 0 for value in curves["stream_ring_bytes"].values)
    assert all(0 <= value < 1 for value in curves["stream_sender_lag_seconds"].values)
    began = [curve.started_at for curve in curves.values()]
    assert (max(began) - min(began)).total_seconds() < 1, "both ends report the same seconds"
