import pytest
from factories.outcomes import run_groups

from iotide_agent.workloads.base import Place
from iotide_agent.workloads.stream import StreamWorkload
from iotide_agent.workloads.stream_options import MEGABIT, StreamOptions

STREAM = StreamWorkload()


def test_each_second_of_a_stream_is_a_curve(place: Place) -> None:
    asked = StreamOptions(rate_bytes_per_second=128 * MEGABIT, duration_seconds=2, files="single")
    [receive, _] = run_groups(STREAM.plan(asked, [place]), place)
    curves = {curve.counter: curve.values for curve in STREAM.read(asked, place, receive).curves}
    assert curves.keys() == {
        "stream_received_bytes_per_second",
        "stream_missing_datagrams_per_second",
        "stream_ring_bytes",
    }
    assert curves["stream_received_bytes_per_second"][0] == pytest.approx(16_000_000, rel=0.05)
    assert set(curves["stream_missing_datagrams_per_second"]) == {0.0}
    assert all(value > 0 for value in curves["stream_ring_bytes"])
