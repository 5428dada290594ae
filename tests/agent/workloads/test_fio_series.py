from datetime import UTC, datetime

import pytest
from factories.outcomes import DATA, read_all, run_steps, steps_of

from iotide_agent.workloads.base import Place
from iotide_agent.workloads.fio import FioWorkload
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.fio_report import read_series
from iotide_wire.units import KIB, MIB

BEGIN = 1_795_281_390_000


def line(milliseconds: int, rate: int, direction: int = 1) -> str:
    return f"{BEGIN + milliseconds}, {rate}, {direction}, 0, 0\n"


def test_jobs_add_up_in_each_second_and_directions_stay_apart() -> None:
    text = line(1000, 100) + line(1000, 50, 0) + line(2000, 300) + line(1000, 20) + line(2000, 30)
    write, read = read_series(text)
    assert (write.counter, list(write.values)) == ("fio_write_bytes_per_second", [120 * KIB, 330 * KIB])
    assert (read.counter, list(read.values)) == ("fio_read_bytes_per_second", [50 * KIB])
    assert write.started_at == datetime.fromtimestamp(BEGIN / 1000, UTC)


def test_clock_that_drifts_between_jobs_loses_no_byte() -> None:
    text = "".join(line(1000 + 1002 * second, 1000) for second in range(600))
    [curve] = read_series(text)
    assert sum(curve.values) == pytest.approx(600_000 * KIB, rel=5e-3)
    assert all(value > 900 * KIB for value in curve.values)


def test_recorded_log_is_read_to_the_kibibyte() -> None:
    [curve] = read_series((DATA / "fio/bw_bw.1.log").read_text())
    assert curve.counter == "fio_write_bytes_per_second"
    assert list(curve.values) == [rate * KIB for rate in (102_400, 102_400, 102_502, 102_400, 102_502)]


def test_second_in_which_nothing_moved_is_nought() -> None:
    [curve] = read_series(line(1000, 10) + line(4000, 10))
    assert list(curve.values) == [10 * KIB, 0, 0, 10 * KIB]


def test_last_line_that_was_cut_does_not_count() -> None:
    [curve] = read_series(line(1000, 10) + line(2000, 12345)[:20])
    assert list(curve.values) == [10 * KIB]


def test_log_that_was_too_long_to_be_kept_gives_no_curve() -> None:
    assert read_series(line(1000, 10) + "[iotide left out 5 bytes here]\n" + line(9000, 10)) == []
    assert read_series("") == []


def test_clock_that_was_set_by_decades_makes_no_curve_of_a_billion_seconds() -> None:
    assert read_series(f"1000, 10, 1, 0, 0\n{line(1000, 10)}") == []
    assert read_series(f"{'9' * 30}, 10, 1, 0, 0\n") == []


def test_real_run_has_a_curve_of_what_it_wrote(place: Place) -> None:
    options = FioOptions(
        rw="write", file_size_bytes=8 * MIB, block_size_bytes=64 * KIB, direct=False, num_jobs=2, runtime_seconds=2.1
    )
    parsed = read_all(FioWorkload(), options, place, run_steps(steps_of(FioWorkload(), options, place), place))
    [curve] = parsed.curves
    [throughput] = [sample.value for sample in parsed.samples if sample.metric == "total_throughput"]
    assert curve.counter == "fio_write_bytes_per_second"
    assert len(curve.values) in {2, 3}
    assert max(curve.values) > 0.2 * throughput
