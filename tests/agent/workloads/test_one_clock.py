"""Rates are bytes divided by the tool's own seconds: one number everywhere in a run, whatever the source of the
data.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from factories.outcomes import (
    as_step,
    captured,
    make_place,
    read_all,
    run_groups,
    run_steps,
    run_together,
    steps_of,
    two_places,
)
from factories.tiny_runs import MADE_BEFORE, ONE_WRITER, SETTINGS

from iotide_agent.workloads.base import Parsed, Place, Sample, StepOutcome, Workload
from iotide_agent.workloads.dd import DdOptions, DdWorkload, read_report
from iotide_agent.workloads.fill import FillOptions, FillWorkload, read_lines
from iotide_agent.workloads.fio import FioWorkload
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.ior import IorOptions, IorWorkload
from iotide_agent.workloads.iozone import IozoneWorkload
from iotide_agent.workloads.iozone_options import IozoneOptions
from iotide_agent.workloads.registry import all_workloads
from iotide_agent.workloads.registry import workload as workload_of
from iotide_wire.units import KIB, MIB, Unit

AGREES = 0.01
WHOLE_FILL = "total_throughput"
"""Of `fill`, with one writer and many files: no other number covers the same bytes."""
SECONDS_OF_RANDOM_SOURCE = 0.1
"""A source of random data does not start earlier: it fills 64 MiB first."""

_PLAIN = {"throughput", "operation_rate"}
_Key = tuple[str, tuple[tuple[str, object], ...]]


def measured(name: str, given: Mapping[str, object], directory: Path) -> tuple[Workload[Any], Parsed]:
    workload, place = workload_of(name, SETTINGS), make_place(directory)
    if name in MADE_BEFORE:
        (place.directory / MADE_BEFORE[name]).write_bytes(bytes(4 * MIB))
    options = workload.options_type.model_validate(given)
    return workload, read_all(workload, options, place, run_groups(workload.plan(options, [place]), place))


def rates_of_the_same_bytes(workload: Workload[Any], samples: Iterable[Sample]) -> dict[_Key, dict[str, float]]:
    """Return the rates by unit and by the bytes they cover: `total_throughput` and `throughput` are one kind."""
    units = {metric.name: metric.unit for metric in workload.metric_specs()}
    found: dict[_Key, dict[str, float]] = defaultdict(dict)
    for sample in samples:
        if units[sample.metric] in {Unit.BYTES_PER_SECOND, Unit.OPERATIONS_PER_SECOND}:
            labels = tuple(sorted((name, value) for name, value in sample.labels.items() if name != "writer"))
            found[units[sample.metric], labels][sample.metric] = sample.value
    return found


def value_of(parsed: Parsed, metric: str, **labels: object) -> float:
    [value] = [
        sample.value
        for sample in parsed.samples
        if sample.metric == metric and labels.items() <= sample.labels.items() and "writer" not in sample.labels
    ]
    return value


@pytest.mark.parametrize("name", sorted(all_workloads()))
def test_one_writer_has_one_throughput_and_no_total(name: str, tmp_path: Path) -> None:
    for number, given in enumerate(ONE_WRITER[name]):
        workload, parsed = measured(name, given, tmp_path / str(number))
        for rates in rates_of_the_same_bytes(workload, parsed.samples).values():
            throughputs = [rate for metric, rate in rates.items() if metric.removeprefix("total_") in _PLAIN]
            assert max(throughputs, default=1) <= (1 + AGREES) * min(throughputs, default=1), rates
        totals = {sample.metric for sample in parsed.samples if sample.metric.startswith("total_")}
        assert totals == ({WHOLE_FILL} if name == "fill" else set())


@pytest.mark.parametrize("data", ["zeroes", "random"])
def test_dd_with_one_writer_is_as_fast_as_it_says(data: str, place: Place) -> None:
    workload = DdWorkload()
    options = DdOptions.model_validate({"file_size_bytes": 16 * MIB, "data": data, "operations": ["write"]})
    [outcome] = run_steps(steps_of(workload, options, place), place)
    parsed = read_all(workload, options, place, [outcome])
    seconds = read_report("write", outcome.stderr, 16 * MIB, 16 * MIB).seconds
    rates = {sample.metric: sample.value for sample in parsed.samples if sample.metric.endswith("throughput")}
    assert rates == {"throughput": pytest.approx(16 * MIB / seconds, rel=AGREES)}


@pytest.mark.parametrize("data", ["zeroes", "random"])
def test_total_of_dd_starts_when_its_first_writer_does_and_not_its_source_of_data(data: str, place: Place) -> None:
    workload = DdWorkload()
    options = DdOptions.model_validate(
        {"file_size_bytes": 16 * MIB, "data": data, "operations": ["write"], "writers": 2}
    )
    outcomes = run_groups(workload.plan(options, [place]), place)
    parsed = read_all(workload, options, place, outcomes)
    spans = [_span(outcome, 16 * MIB) for outcome in outcomes]
    seconds = max(end for _, end in spans) - min(begin for begin, _ in spans)
    assert value_of(parsed, "total_throughput") == pytest.approx(32 * MIB / seconds, rel=AGREES)
    each = [sample.value for sample in parsed.samples if sample.metric == "throughput"]
    assert value_of(parsed, "total_throughput") <= (1 + AGREES) * sum(each)
    if data == "random":
        by_the_node = 32 * MIB / max(outcome.wall_seconds for outcome in outcomes)
        assert value_of(parsed, "total_throughput") > (1 + AGREES) * by_the_node
        assert min(outcome.wall_seconds for outcome in outcomes) > SECONDS_OF_RANDOM_SOURCE


def _span(outcome: StepOutcome, moved_bytes: int) -> tuple[float, float]:
    """Return begin and end by dd's own seconds, which end with its process."""
    end = outcome.started_at.timestamp() + outcome.wall_seconds
    return end - read_report("write", outcome.stderr, moved_bytes, 16 * MIB).seconds, end


def test_total_of_fill_over_targets_leaves_out_what_its_load_did_between_the_files(place: Place) -> None:
    options = FillOptions.model_validate(
        {"file_size_bytes": MIB, "file_count": 3, "fill_percent": 95, "reserve_bytes": 0, "data": "random"}
    )
    workload, places = FillWorkload(), two_places(place)
    outcomes = run_groups(workload.plan(options, places), place)
    parsed = workload.conclude(options, places, outcomes)
    spans = []
    for outcome in outcomes:
        files, _ = read_lines("fill", outcome.stdout)
        end = outcome.started_at.timestamp() + outcome.wall_seconds
        seconds = sum(read_report("fill", file.stderr, MIB, options.block_size_bytes).seconds for file in files)
        spans.append((end - seconds, end))
    seconds = max(end for _, end in spans) - min(begin for begin, _ in spans)
    assert value_of(parsed, "total_throughput") == pytest.approx(6 * MIB / seconds, rel=AGREES)


@pytest.mark.parametrize("name", ["fill", "fio", "dd", "create"])
def test_over_targets_a_total_is_of_all_of_them_and_of_none_alone(name: str, place: Place) -> None:
    workload = workload_of(name, SETTINGS)
    given = {"fill": {"file_size_bytes": MIB, "file_count": 2, "fill_percent": 95, "reserve_bytes": 0}}
    many = {"fio": {"num_jobs": 2, "file_size_bytes": MIB}, "dd": {"writers": 2, "file_size_bytes": MIB}}
    options = workload.options_type.model_validate((given | many).get(name, {"file_count": 20, "processes": 2}))
    parsed = run_together(workload, options, two_places(place))
    totals = [sample.target_id for sample in parsed.samples if sample.metric.startswith("total_")]
    assert totals
    assert set(totals) == {None}


def test_total_of_fio_is_what_fio_prints_of_the_group(place: Place) -> None:
    options = FioOptions(num_jobs=3, file_size_bytes=4 * MIB, rw="write", block_size_bytes=64 * KIB)
    workload = FioWorkload()
    [step] = steps_of(workload, options, place)
    both = tuple(argument.replace("json+", "json+,normal") for argument in step.argv)
    [outcome] = run_steps([replace(step, argv=both)], place)
    printed = outcome.files[step.output_files[0].name]
    document, end = json.JSONDecoder().raw_decode(printed[printed.index("{") :])
    words = printed[: printed.index("{")] + printed[printed.index("{") + end :]
    [milliseconds] = re.findall(r"^  WRITE: .* io=12\.0MiB .* run=\d+-(\d+)msec$", words, re.MULTILINE)
    reported = replace(outcome, files={**outcome.files, step.output_files[0].name: json.dumps(document)})
    total = value_of(read_all(workload, options, place, [reported]), "total_throughput")
    assert total == pytest.approx(12 * MIB / (int(milliseconds) / 1000), rel=AGREES)


def test_total_of_iozone_is_what_its_parent_saw(place: Place) -> None:
    options = IozoneOptions.model_validate(
        {
            "file_size_bytes": MIB,
            "max_record_size_bytes": 65536,
            "mode": "throughput",
            "processes": 3,
            "tests": ["write"],
        }
    )
    workload = IozoneWorkload()
    [outcome] = run_steps(steps_of(workload, options, place), place)
    parsed = read_all(workload, options, place, [outcome])
    seen = re.findall(r"Parent sees throughput for +3 ([a-z -]+?)\s+= +([\d.]+) kB", outcome.stdout)
    assert dict(seen).keys() >= {"initial writers", "rewriters"}
    for operation, name in (("write", "initial writers"), ("rewrite", "rewriters")):
        total = value_of(parsed, "total_throughput", operation=operation)
        assert total == pytest.approx(float(dict(seen)[name]) * KIB, rel=AGREES)


def test_throughput_of_ior_s_tasks_is_what_ior_prints(place: Place) -> None:
    workload, options = IorWorkload(), IorOptions(tasks=2, transfers_per_block=16, direct=True)
    recorded = json.loads(captured("ior/odirect").stdout)
    step = steps_of(workload, options, replace(place, direct_works=True))[0]
    parsed = workload.read(options, replace(place, direct_works=True), as_step(captured("ior/odirect"), step))
    [result] = [one for one in recorded["tests"][0]["Results"] if one["access"] == "write"]
    assert value_of(parsed, "throughput") == pytest.approx(result["bwMiB"] * MIB, rel=AGREES)


@pytest.mark.parametrize("name", sorted(all_workloads()))
def test_every_workload_names_what_stands_for_a_run_the_total_first(name: str) -> None:
    workload = workload_of(name, SETTINGS)
    primary = [metric.name for metric in workload.metric_specs() if metric.primary]
    assert primary
    for metric in primary:
        total = f"total_{metric}"
        assert total not in primary or primary.index(total) < primary.index(metric)
    labels = {metric.name: metric.labels for metric in workload.metric_specs()}
    assert all("part" not in labels[metric] and "percentile" not in labels[metric] for metric in primary)
