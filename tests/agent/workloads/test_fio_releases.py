"""Output of fio 3.0 to 3.42: reports and logs whose form changed between releases."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from factories.outcomes import DATA, as_step, captured, read_all, steps_of

from iotide_agent.workloads.base import OutputRefusedError, Parsed, Place
from iotide_agent.workloads.fio import FioWorkload
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.fio_report import read_report, read_series
from iotide_wire.units import KIB, MIB

FIO = FioWorkload()
MADE = DATA / "fio/made"


def parsed(text: str, options: FioOptions, place: Place) -> Parsed:
    step = steps_of(FIO, options, place)[-1]
    return read_all(FIO, options, place, [as_step(replace(captured("fio/seq_write_16m"), stdout=text), step)])


def latencies(found: Parsed) -> Mapping[object, float]:
    return {one.labels["percentile"]: one.value for one in found.samples if one.metric == "latency"}


def rates(found: Parsed, metric: str) -> list[float]:
    return [one.value for one in found.samples if one.metric == metric]


def test_before_3_18_operations_are_counted_by_their_latencies(place: Place) -> None:
    options = FioOptions(file_size_bytes=8 * MIB, direct=False)
    found = parsed((MADE / "before-3.18.json").read_text(), options, place)
    assert (rates(found, "throughput"), rates(found, "iops")) == ([4_194_304], [4])
    assert latencies(found) == pytest.approx({"p50": 1e-6, "p95": 4e-6, "p99": 4e-6, "p99_9": 4e-6})


def test_means_of_nothing_are_no_broken_report(place: Place) -> None:
    options = FioOptions(rw="read", file_size_bytes=MIB, block_size_bytes=4096, num_jobs=2, direct=False)
    found = parsed((MADE / "two-readers-before-3.18.json").read_text(), options, place)
    assert rates(found, "throughput") == [MIB, MIB / 2]
    assert latencies(found) == pytest.approx({"p50": 2e-6, "p95": 3e-3, "p99": 3e-3, "p99_9": 3e-3})


def test_a_report_without_latencies_has_rates_alone(place: Place) -> None:
    options = FioOptions(file_size_bytes=8 * MIB, direct=False)
    found = parsed((MADE / "without-latencies-3.42.json").read_text(), options, place)
    assert (rates(found, "throughput"), rates(found, "iops")) == ([4_194_304], [4])
    assert latencies(found) == {}


# capture with --output-format=json: options that fit it, bytes, operations, milliseconds
WITHOUT_BINS: dict[str, tuple[dict[str, object], int, int, int]] = {
    "bwlog": ({"runtime_seconds": 6}, 629_145_600, 600, 6001),
    "bwlog_unix_epoch": ({"runtime_seconds": 3}, 157_286_400, 150, 3001),
    "direct_tmpfs": ({"file_size_bytes": 64 * MIB}, 67_108_864, 64, 26),
    "e_enoent": ({"rw": "read", "file_size_bytes": MIB}, 1_048_576, 1, 4),
    "status_interval": ({"runtime_seconds": 4}, 419_430_400, 400, 4001),
    "unlink_each": ({"file_size_bytes": 16 * MIB}, 16_777_216, 16, 169),
    "verify_ok": ({"file_size_bytes": 64 * MIB, "block_size_bytes": 65536}, 67_108_864, 1024, 77),
}


@pytest.mark.parametrize("name", WITHOUT_BINS)
def test_a_report_without_bins_has_the_percentiles_that_fio_prints(name: str, place: Place) -> None:
    given, moved, operations, milliseconds = WITHOUT_BINS[name]
    options = FioOptions.model_validate(given)
    text = captured(f"fio/{name}").stdout
    found = parsed(text, options, place)
    assert rates(found, "throughput") == [pytest.approx(moved / milliseconds * 1000)]
    assert rates(found, "iops") == [pytest.approx(operations / milliseconds * 1000)]
    [job] = read_report("measure", text).jobs
    printed = (job.read if options.rw == "read" else job.write).clat_ns.percentile
    wanted = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9}
    assert latencies(found) == pytest.approx({name: printed[key] * 1e-9 for name, key in wanted.items()})


def test_percentiles_of_several_jobs_without_bins_are_not_added_up(place: Place) -> None:
    document = json.loads((MADE / "before-3.18.json").read_text())
    document["jobs"][0]["write"]["clat_ns"] = {"N": 8, "percentile": {"50.000000": 1000}}
    document["jobs"] *= 2
    options = FioOptions(file_size_bytes=8 * MIB, num_jobs=2, direct=False)
    assert latencies(parsed(json.dumps(document), options, place)) == {}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (('"total_ios": 8', '"total_ios": eight'), 'broken in its line 3; the output reads: \' "write": {'),
        (('"total_ios": 8, ', ""), "no readable jobs.0.write.total_ios; the output reads: \"{'io_bytes': 8388608"),
        (('"total_ios": 8', '"total_ios": -8'), "no readable jobs.0.write.total_ios; the output reads: '-8'"),
        (("}}}]}", "}}}"), "fio's JSON is cut off; the output reads: '{"),
    ],
)
def test_a_report_that_cannot_be_read_shows_the_offending_line(
    changed: tuple[str, str], problem: str, place: Place
) -> None:
    text = (MADE / "before-3.18.json").read_text()
    assert changed[0] in text
    with pytest.raises(OutputRefusedError) as refused:
        parsed(text.replace(*changed), FioOptions(file_size_bytes=8 * MIB), place)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("name", "curves"),
    [
        ("before-3.18_bw.log", {"fio_write_bytes_per_second": [4096, 4096]}),
        (
            "since-3.18_bw.log",
            {"fio_write_bytes_per_second": [1024, 1024], "fio_read_bytes_per_second": [3072, 3072]},
        ),
        ("all-columns-3.42_bw.log", {"fio_write_bytes_per_second": [4096, 2048]}),
    ],
)
def test_a_log_is_read_whatever_columns_a_release_adds(name: str, curves: dict[str, list[int]]) -> None:
    found = {curve.counter: list(curve.values) for curve in read_series((MADE / name).read_text())}
    assert found == {counter: [rate * KIB for rate in rates] for counter, rates in curves.items()}
