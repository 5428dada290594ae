"""Messages of `./dev bench micro stream` if this machine does not record 4 Gbit/s."""

import pytest
from micro_stream import shortfalls

from iotide_agent.workloads.base import Parsed, Sample
from iotide_agent.workloads.stream_options import MEGABIT, StreamOptions
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.units import MIB

NO_DIRECT = Flag(code=FlagCode.NO_DIRECT, effect=FlagEffect.MARKED, measured="tmpfs refuses O_DIRECT", limit="O_DIRECT")


def measured(lossless_mbit_s: int, *flags: Flag, granted_bytes: int = 64 * MIB) -> Parsed:
    samples = [
        Sample("lossless_rate", float(lossless_mbit_s * MEGABIT), {}, 7),
        Sample("socket_buffer", 64.0 * MIB, {"rate_bytes_per_second": 1}, 7),
        Sample("socket_buffer", float(granted_bytes), {"rate_bytes_per_second": 2}, 7),
    ]
    return Parsed(samples, flags)


def test_the_target_is_4_gbit_for_30_seconds_past_the_cache_with_the_whole_buffer() -> None:
    assert shortfalls(measured(4096), StreamOptions(duration_seconds=30)) == []


@pytest.mark.parametrize(
    ("parsed", "seconds", "says"),
    [
        (measured(4095), 30, "4095 Mbit/s were recorded without loss, 4096 Mbit/s or more are needed"),
        (measured(0), 5, "0 Mbit/s were recorded without loss, 1 Mbit/s or more are needed"),
        (measured(5120, NO_DIRECT), 30, "refuses O_DIRECT: name one on a disk with --directory"),
        (measured(5120, granted_bytes=212_992), 30, "208 KiB instead of 64 MiB: raise net.core.rmem_max"),
    ],
)
def test_each_reason_is_a_sentence(parsed: Parsed, seconds: float, says: str) -> None:
    [problem] = shortfalls(parsed, StreamOptions(duration_seconds=seconds))
    assert says in problem


def test_quick_look_need_not_reach_it() -> None:
    assert shortfalls(measured(1024), StreamOptions(duration_seconds=5)) == []
