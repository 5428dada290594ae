"""Other load during a run, without the load's own use of CPU, disk and network."""

from dataclasses import replace

import pytest
from agent.judging.rows import MEGABYTE, Counters, done, phase, place

from iotide_agent.judging.phases import ParallelSteps
from iotide_agent.judging.share import measure_foreign, why_unmeasured
from iotide_wire.foreign import ForeignDuring
from iotide_wire.measured import StepRole

PRESSURE: Counters = {"psi_cpu_some_ratio": 0.25, "psi_io_some_ratio": 0.75}


def read(disk: float, *, user: float = 0.0, net: float = 0.0, seconds: int = 60) -> ParallelSteps:
    """Return a phase that reads 100 MB/s, with these rates of disk and network and this CPU time of programs."""
    counters: Counters = {
        "read_bytes_per_second": 100 * MEGABYTE,
        "write_bytes_per_second": 0.0,
        "disk_read_bytes_per_second": disk * MEGABYTE,
        "disk_write_bytes_per_second": 0.0,
        "net_receive_bytes_per_second": net * MEGABYTE,
        "net_send_bytes_per_second": 0.0,
        "cpu_user_ratio": user,
        **PRESSURE,
    }
    return phase(done("read", seconds=float(seconds), user=24.0), counters, seconds)


def test_other_load_is_measured_also_below_the_limit_of_a_flag() -> None:
    during = measure_foreign([read(105, user=0.15, net=200)], (place(),))
    assert during is not None
    assert during.seconds == 60.0
    assert during.cpu_ratio == pytest.approx(0.15 - 24 / 60 / 4)
    assert (during.storage_ratio, during.storage_bytes_per_second) == pytest.approx((5 / 105, 5 * MEGABYTE))
    assert during.network_bytes_per_second == pytest.approx((200 - 1.25 * 105) * MEGABYTE)
    assert during.network_ratio == pytest.approx(1 - 1.25 * 105 / 200)
    assert (during.psi_cpu_ratio, during.psi_io_ratio) == pytest.approx((0.25, 0.75))


def test_network_bytes_that_the_storage_may_have_caused_are_not_foreign() -> None:
    during = measure_foreign([read(100, net=110)], (place(),))
    assert during is not None
    assert (during.storage_ratio, during.network_ratio, during.network_bytes_per_second) == (0.0, 0.0, 0.0)


def test_phases_count_by_their_seconds() -> None:
    during = measure_foreign([read(100, seconds=10), read(160, seconds=30)], (place(),))
    assert during is not None
    assert during.seconds == 40.0
    assert during.storage_bytes_per_second == pytest.approx(45 * MEGABYTE)


def test_traffic_of_programs_or_streams_is_not_distinguished() -> None:
    fuse = measure_foreign([read(100, user=0.9, net=100)], (place("fuse.glusterfs"),))
    assert fuse is not None
    assert (fuse.cpu_ratio, fuse.network_ratio) == (None, None)
    stream = replace(read(100, net=100), outcomes=(done("receive", role=StepRole.RECEIVER),))
    during = measure_foreign([stream], (place(),))
    assert during is not None
    assert (during.network_ratio, during.network_bytes_per_second) == (None, None)


def test_a_load_that_was_too_short_or_invisible_has_no_result() -> None:
    assert measure_foreign([read(500, seconds=4)], (place(),)) is None
    unseen = phase(done(bytes_moved=10**12), {"read_bytes_per_second": 0.0, "write_bytes_per_second": 0.0})
    assert measure_foreign([unseen], (place(),)) is None
    assert measure_foreign([], (place(),)) is None


def test_a_node_with_few_counters_has_few_values() -> None:
    during = measure_foreign([phase(done(), {"load1": 1.0})], (place(),))
    assert during == ForeignDuring(seconds=60.0, **dict.fromkeys(ForeignDuring.model_fields.keys() - {"seconds"}))


def test_reasons_of_unknown_use_are_given_by_phase_unless_one_phase_is_known() -> None:
    short = [read(500, seconds=1), read(500, seconds=4)]
    assert why_unmeasured(short, (place(),)) == "read 1 whole second, 5 needed; read 4 whole seconds, 5 needed"
    assert why_unmeasured([*short, read(100)], (place(),)) == ""
    unseen = phase(done(bytes_moved=10**12), {"read_bytes_per_second": 0.0, "write_bytes_per_second": 0.0})
    assert "the load's processes were not found" in why_unmeasured([unseen], (place(),))
    assert "fuse.glusterfs may run as a program" in why_unmeasured([read(100)], (place("fuse.glusterfs"),))
    assert why_unmeasured([], (place(),)) == "no step ran"
