"""fio with several parallel jobs: each as a writer, and all together."""

import json
from dataclasses import replace

import pytest
from factories.outcomes import DATA, as_step, captured, read_all, run_steps, steps_of

from iotide_agent.workloads.base import Parsed, Place
from iotide_agent.workloads.fio import FioWorkload
from iotide_agent.workloads.fio_options import FioOptions
from iotide_wire.measured import FlagCode, FlagEffect
from iotide_wire.units import MIB

FIO = FioWorkload()


def rates_of(parsed: Parsed) -> dict[tuple[str, object], float]:
    """Return the rates by metric and writer, without the latencies."""
    return {
        (sample.metric, sample.labels.get("writer")): sample.value
        for sample in parsed.samples
        if sample.metric != "latency"
    }


def test_jobs_work_side_by_side_on_files_of_their_own(place: Place) -> None:
    options = FioOptions(
        rw="randread", num_jobs=3, io_engine="libaio", io_depth=4, file_size_bytes=MIB, runtime_seconds=1.0
    )
    steps = steps_of(FIO, options, place)

    parsed = read_all(FIO, options, place, run_steps(steps, place))

    assert set(place.directory.iterdir()) == set(steps[0].declared_files)
    assert all(file.stat().st_size == MIB for file in steps[0].declared_files)
    assert [flag.effect for flag in parsed.flags if flag.code is FlagCode.DURATION] == [FlagEffect.MARKED]
    rates = rates_of(parsed)
    own = [rates.pop(("throughput", writer)) for writer in (1, 2, 3)]
    assert 0 < rates.pop(("total_throughput", None)) <= 1.01 * sum(own)
    assert 1 <= rates["first_done", None] <= rates["last_done", None] < 2
    assert rates["fairness", None] > 1 / 3
    assert {metric for metric, _ in rates} == {"iops", "first_done", "last_done", "fairness"}


def test_job_alone_is_no_writer_and_has_no_total(place: Place) -> None:
    options = FioOptions(rw="randrw", block_size_bytes=8192, runtime_seconds=3)
    outcome = as_step(captured("fio/mixed_rw"), steps_of(FIO, options, place)[-1])
    parsed = Parsed.of_all([FIO.read(options, place, outcome), FIO.conclude(options, [place], [outcome])])
    assert {metric for metric, _ in rates_of(parsed)} == {"throughput", "iops"}
    assert {tuple(sample.labels) for sample in parsed.samples if sample.metric != "latency"} == {
        ("operation", "direct")
    }


def test_each_writer_has_its_rate_and_the_slowest_sets_the_total(place: Place) -> None:
    options = FioOptions(num_jobs=2, file_size_bytes=512 * MIB, direct=False)
    [step] = steps_of(FIO, options, place)
    report = json.loads((DATA / "fio/seq_write.json").read_text())
    slow = json.loads(json.dumps(report["jobs"][0]))
    slow["write"]["runtime"] *= 10
    report["jobs"].append(slow)
    outcome = as_step(replace(captured("fio/seq_write_json"), stdout=json.dumps(report)), step)
    parsed = read_all(FIO, options, place, [outcome])
    assert rates_of(parsed) == {
        ("throughput", 1): pytest.approx(512 * MIB / 2.778),
        ("throughput", 2): pytest.approx(512 * MIB / 27.78),
        ("iops", None): pytest.approx(1024 / 27.78),
        ("total_throughput", None): pytest.approx(1024 * MIB / 27.78),
        ("first_done", None): pytest.approx(2.778),
        ("last_done", None): pytest.approx(27.78),
        ("fairness", None): pytest.approx(1.1**2 / (2 * 1.01)),
    }
    [straggler] = [flag for flag in parsed.flags if flag.code is FlagCode.STRAGGLER]
    assert straggler.measured == "last writer finished after 27.8 s, the median of the others 2.78 s"
    assert straggler.target_id == place.target_id


def test_of_writers_that_ended_early_each_keeps_its_own(place: Place) -> None:
    options = FioOptions(num_jobs=2)
    [step] = steps_of(FIO, options, place)
    assert rates_of(FIO.read_cut(options, place, as_step(captured("fio/e_enospc_multi"), step))) == {
        ("throughput", 1): pytest.approx(134_217_728 / 1.111),
        ("throughput", 2): pytest.approx(55_574_528 / 0.509),
        ("iops", None): pytest.approx((128 + 53) / 1.111),
    }
