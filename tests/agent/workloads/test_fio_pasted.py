"""Job files as people paste them: accepted with what is left out, or refused with all reasons at once."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from factories.outcomes import DATA, as_step, captured, read_all, run_steps, run_together, steps_of, two_places
from pydantic import ValidationError

from iotide_agent.workloads.base import Before, Parsed, Place, Step
from iotide_agent.workloads.fio import FioWorkload
from iotide_agent.workloads.fio_job_file import JobFileError, files_bytes, read_job_file, write_job_file
from iotide_agent.workloads.fio_options import FioOptions
from iotide_wire.measured import FlagCode
from iotide_wire.units import KIB, MIB

FIO = FioWorkload()
MADE = DATA / "fio/made"


def pasted(name: str) -> FioOptions:
    return FioOptions(job_file=(MADE / f"{name}.fio").read_text())


def rates(found: Parsed) -> dict[tuple[object, object], float]:
    return {
        (one.labels["job"], one.labels["operation"]): one.value for one in found.samples if one.metric == "throughput"
    }


def run(options: FioOptions, place: Place) -> Parsed:
    outcomes = run_steps(steps_of(FIO, options, place), place)
    assert [FIO.failure(outcome) for outcome in outcomes] == [None] * len(outcomes)
    return read_all(FIO, options, place, outcomes)


def test_a_mixed_job_of_one_direction_has_the_rate_of_that_direction(place: Place) -> None:
    found = run(pasted("fio-mix-100"), place)
    assert rates(found).keys() == {("reads", "read"), ("writes", "write")}
    assert all(rate > 0 for rate in rates(found).values())
    assert FlagCode.FSYNC not in {flag.code for flag in found.flags}


@pytest.mark.parametrize(
    ("keys", "operations"),
    [
        ("rwmixread=100", ("read",)),
        ("rwmixwrite=100", ("write",)),
        ("rwmixwrite=0", ("read",)),
        ("rwmixread=99", ("read", "write")),
        ("", ("read", "write")),
    ],
)
def test_the_share_of_reads_decides_what_a_mixed_job_does(keys: str, operations: Sequence[str]) -> None:
    [job] = read_job_file(f"[a]\nrw=rw\nsize=1m\n{keys}\n", MIB)
    assert job.operations == operations


def test_a_direction_that_did_nothing_is_no_failure_and_has_no_number(place: Place) -> None:
    text = "[reads]\nrw=randrw\nrwmixread=99\nbs=4k\nsize=8m\nnumjobs=2\nend_fsync=1\n"
    options = FioOptions(job_file=text)
    report = replace(captured("fio/seq_write_16m"), stdout=(MADE / "idle-writes.json").read_text())
    step = steps_of(FIO, options, place)[-1]
    found = FIO.read(options, place, as_step(report, step))
    together = FIO.conclude(options, [place], [as_step(report, step)])
    writers = [one.labels.get("writer") for one in found.samples if one.metric == "throughput"]
    assert writers == [1, 2, 2]
    totals = {one.labels["operation"]: one.value for one in together.samples if one.metric == "total_throughput"}
    assert totals == {"read": 16 * MIB / 2}


def test_options_of_a_mixed_load_may_leave_one_direction_idle(place: Place) -> None:
    options = FioOptions(rw="rw", read_percent=99, block_size_bytes=64 * KIB, file_size_bytes=64 * KIB)
    outcomes = run_steps(steps_of(FIO, options, place), place)
    found = read_all(FIO, options, place, outcomes)
    [operation] = {one.labels["operation"] for one in found.samples}
    assert operation in {"read", "write"}


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("fio-harmless-keys", "name, description, thread, group_reporting, directory"),
        ("pasted-logs", "gtod_reduce, write_lat_log, write_bw_log, log_avg_msec, percentile_list, threads, unlink"),
        ("pasted-groups", "directory, fallocate"),
        ("fio-mix-100", ""),
    ],
)
def test_keys_that_change_nothing_are_left_out_and_listed_once(name: str, left_out: str, place: Place) -> None:
    steps = steps_of(FIO, pasted(name), place)
    listed = [step.phase.partition("; left out: ")[2] for step in steps if "left out" in step.phase]
    assert listed == ([left_out] if left_out else [])
    [text, *_] = [file.text for step in steps for file in step.input_files]
    passed = {line.partition("=")[0] for line in text.splitlines()}
    assert passed.isdisjoint(left_out.split(", "))


def test_pasted_logs_run_with_the_curve_and_latencies_that_iotide_records(place: Place) -> None:
    found = run(pasted("pasted-logs"), place)
    assert rates(found).keys() == {("4k random (write)", "write")}
    assert {one.metric for one in found.samples} == {"throughput", "iops", "latency"}
    assert [curve.counter for curve in found.curves] == ["fio_write_bytes_per_second"]


def test_groups_of_jobs_are_steps_and_reads_are_laid_out_and_cold(place: Place) -> None:
    steps = steps_of(FIO, pasted("pasted-groups"), place)
    assert [(step.name, step.before) for step in steps] == [
        ("jobs-1", Before.SYNC),
        ("layout-2", Before.SYNC),
        ("jobs-2", Before.DROP),
        ("layout-3", Before.SYNC),
        ("jobs-3", Before.DROP),
    ]
    found = run(pasted("pasted-groups"), place)
    assert rates(found).keys() == {("fill", "write"), ("look", "read"), ("look again", "read"), ("late", "read")}


def steps(text: str, place: Place) -> list[Step]:
    return [step for step in steps_of(FIO, FioOptions(job_file=text), place) if step.name.startswith("jobs")]


@pytest.mark.parametrize(
    ("text", "even"),
    [
        ("[a]\nsize=1m", [True]),
        ("[a]\nsize=1m\nnumjobs=2\n[b]\nstonewall\nsize=1m", [True, True]),
        ("[global]\ntime_based\nruntime=1m\nsize=1m\n[a]\n[b]\nrw=write", [True]),
        ("[global]\ntime_based\nsize=1m\n[a]\nruntime=1m\n[b]\nruntime=2m", [False]),
        ("[a]\nsize=1m\n[b]\nsize=1m", [False]),
        ("[a]\nsize=1m\nramp_time=5", [False]),
        ("[a]\nsize=1m\n[b]\nstonewall\nstartdelay=9\nsize=1m", [True, False]),
        ("[a]\nrw=write\nverify=md5\nsize=1m", [False]),
    ],
)
def test_groups_whose_jobs_begin_and_end_together_are_checked_for_steadiness(
    text: str, even: list[bool], place: Place
) -> None:
    assert [step.is_even for step in steps(text, place)] == even


def test_a_plan_of_an_older_agent_had_all_jobs_in_one_step(place: Place) -> None:
    options = FioOptions(job_file="[a]\nrw=write\nsize=1m\n[b]\nstonewall\nrw=write\nsize=1m\n")
    [first, _] = steps_of(FIO, options, place)
    whole = write_job_file(options.jobs(), direct_works=place.direct_works)
    older = replace(first, name="jobs", input_files=(replace(first.input_files[0], text=whole),))
    [outcome] = run_steps([older], place)
    assert rates(FIO.read(options, place, outcome)).keys() == {("a", "write"), ("b", "write")}


def test_groups_on_two_targets_have_a_race_each(place: Place) -> None:
    options = FioOptions(job_file="[global]\nrw=write\nsize=1m\nend_fsync=1\n[a]\n[b]\nstonewall\n")
    found = run_together(FIO, options, two_places(place))
    fair = [dict(one.labels) for one in found.samples if one.metric == "fairness"]
    assert fair == [{"operation": "all", "job": "a"}, {"operation": "all", "job": "b"}]


def test_verified_writes_are_the_rate_of_the_writes_alone(place: Place) -> None:
    text = "[w]\nrw=randwrite\nbs=4k\nsize=1m\nverify=crc32c\nverify_dump=1\nend_fsync=1\n"
    found = run(FioOptions(job_file=text), place)
    assert rates(found).keys() == {("w", "write")}
    assert list(place.scratch.glob("*.state")) == []


@pytest.mark.parametrize(
    ("keys", "data_bytes"),
    [
        ("size=1m\noffset=1m", 2 * MIB),
        ("size=1m\nnumjobs=3\noffset_increment=2m\nfilename=x", 5 * MIB),
        ("filesize=64k\nnrfiles=8", 512 * KIB),
        ("filesize=2m\nsize=1m", 2 * MIB),
    ],
)
def test_space_of_files_counts_offsets_and_file_sizes(keys: str, data_bytes: int, place: Place) -> None:
    text = f"[a]\nrw=write\nbs=64k\n{keys}\n"
    assert files_bytes(read_job_file(text, 2**40)) == data_bytes
    run(FioOptions(job_file=text), place)
    assert sum(path.stat().st_size for path in place.directory.iterdir()) <= data_bytes


def test_a_switch_that_is_off_is_not_passed_on() -> None:
    jobs = read_job_file("[global]\nsize=1m\ntime_based\n[a]\ntime_based=0\n[b]\nnorandommap=0\n", 2 * MIB)
    assert write_job_file(jobs, direct_works=True) == "[a]\nsize=1048576\n[b]\nsize=1048576\ntime_based\n"


REFUSED = """\
[global]
ioengine=rbd
filename=/dev/sda
exitall
[a]
rw=randtrim
pool=x
[b]
wait_for=c
verify=md5
rw=randrw
size=3g
[c]
size=many
"""


def test_a_refused_file_names_all_its_reasons_at_once() -> None:
    with pytest.raises(ValidationError) as refused:
        FioOptions(job_file=REFUSED)
    said = str(refused.value)
    for reason in (
        "section [global], ioengine = 'rbd': use one of psync",
        "section [global], filename = '/dev/sda': write it like data.1",
        "section [global], exitall = '': remove it: each job runs to its planned end",
        "section [a], rw = 'randtrim': use one of read",
        "section [a], pool = 'x': remove it",
        "section [a], size = '': give the size of its file",
        "section [b], wait_for = 'c': name a section above it",
        "section [b], verify = 'md5': use it with reads or writes alone",
        "section [c], size = 'many': use a number of bytes",
        "all files need 3221225472 bytes; raise space_bytes from 1073741824",
        "allowed keys: blockalign, bs, ",
    ):
        assert reason in said
    assert said.count("allowed keys") == 1


def test_sections_with_the_same_problem_are_named_together() -> None:
    text = "[global]\nsize=1m\n[a]\nprio=3\n[b]\nprio=3\n"
    with pytest.raises(JobFileError, match=r"^job file, sections \[a\], \[b\], prio = '3': remove it; allowed keys: "):
        read_job_file(text, 2**40)


def test_more_groups_than_a_run_has_steps_for_are_refused() -> None:
    text = "[global]\nsize=4k\nstonewall\nfilename=x\n" + "".join(f"[j{number}]\n" for number in range(51))
    with pytest.raises(JobFileError, match="the jobs run in 51 groups, one after another; use at most 50"):
        read_job_file(text, 2**40)
