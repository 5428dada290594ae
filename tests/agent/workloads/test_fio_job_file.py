import json
import re
from dataclasses import replace

import pytest
from factories.outcomes import read_all, run_steps, steps_of
from factories.written import ENOUGH_RATIO, stored_ratio
from pydantic import ValidationError

from iotide_agent.workloads.base import OutputRefusedError, Parsed, Place
from iotide_agent.workloads.fio import FioWorkload
from iotide_agent.workloads.fio_job_file import JobFileError, files_bytes, read_job_file, write_job_file
from iotide_agent.workloads.fio_options import FioOptions
from iotide_wire.expressions import evaluate
from iotide_wire.measured import FlagCode
from iotide_wire.units import MIB

FIO = FioWorkload()
PASTED = """\
; job file from a mail
[global]
ioengine=libaio
size = 2m     # each
direct=0

[fill]
rw=write
blocksize=64k
end_fsync=1
filename=shared
[look-up]
stonewall
readwrite=randread
bs=4k
iodepth=4
numjobs=2
runtime=1
time_based
filename=shared
"""


def measured(text: str, place: Place) -> Parsed:
    options = FioOptions(job_file=text)
    outcomes = run_steps(steps_of(FIO, options, place), place)
    assert [FIO.failure(outcome) for outcome in outcomes] == [None] * len(outcomes)
    return read_all(FIO, options, place, outcomes)


def test_file_is_read_by_the_rules_of_the_manual_and_written_again() -> None:
    jobs = read_job_file(PASTED, 2 * MIB)
    assert [job.name for job in jobs] == ["fill", "look-up"]
    assert write_job_file(jobs, direct_works=True) == (
        "[fill]\nioengine=libaio\nsize=2097152\ndirect=0\nrw=write\nbs=65536\nend_fsync=1\nfilename=shared\n"
        "[look-up]\nioengine=libaio\nsize=2097152\ndirect=0\nstonewall\nrw=randread\nbs=4096\niodepth=4\nnumjobs=2\n"
        "runtime=1\ntime_based\nfilename=shared\n"
    )
    assert (jobs[1].timed_seconds, jobs[1].clones, jobs[1].operations) == (1.0, 2, ("read",))


@pytest.mark.parametrize(
    ("line", "key", "remedy"),
    [
        ("exec_prerun=rm -rf /", "exec_prerun", "no program other than fio is started"),
        ("exec_postrun = touch x", "exec_postrun", "no program other than fio is started"),
        ("ioengine=external:/tmp/evil.so", "ioengine", "use one of psync"),
        ("ioengine=rbd", "ioengine", "use one of psync"),
        ("filename=/etc/passwd", "filename", "a plain name in the run's own directory"),
        ("filename=../../x", "filename", "a plain name"),
        ("filename=a:b", "filename", "a plain name"),
        ("filename=-", "filename", "a plain name"),
        ("filename_format=/tmp/$jobname", "filename_format", "all files are created in the run's own directory"),
        ("opendir=/home", "opendir", "all files are created"),
        ("include other.fio", "include other.fio", "remove it"),
        ("include=/etc/fio.d", "include", "remove it"),
        ("cpus_allowed=0", "cpus_allowed", "remove it; allowed keys: "),
        ("readonly", "readonly", "remove it"),
        ("cgroup=x", "cgroup", "remove it"),
        ("read_iolog=/etc/shadow", "read_iolog", "remove it"),
        ("fill_device=1", "fill_device", "remove it"),
        ("mmapshared=/dev/shm/x", "mmapshared", "remove it"),
        ("size=10%", "size", "use a number of bytes"),
        ("size=16MiB", "size", "k, m, g or t for powers of 1024"),
        ("size=${HOME}", "size", "use a number of bytes"),
        ("bs=$mb_memory", "bs", "use a number of bytes"),
        ("rw=trimwrite", "rw", "use one of read"),
        ("runtime=forever", "runtime", "use a whole number with us, ms"),
        ("runtime=٣0s", "runtime", "use a whole number with us, ms"),
        (f"runtime={'9' * 400}", "runtime", "use a whole number with us, ms"),
        ("bssplit=٤k/100", "bssplit", "write it like"),
        ("bssplit=0/100", "bssplit", "write it like"),
        (f"bsrange=4k-{'9' * 5000}", "bsrange", "write it like"),
        ("buffer_pattern='/etc/shadow'", "buffer_pattern", "write it like 0xdeadbeef"),
        ("verify_pattern=%o", "verify_pattern", "write it like 0xdeadbeef"),
        ("rw=read:x", "rw", "write it like read:8k"),
        ("continue_on_error=all", "continue_on_error", "a job that ignores errors is no measurement"),
        ("steadystate=iops:10%", "steadystate", "each job runs to its planned end"),
        (f"nrfiles={'9' * 5000}", "nrfiles", "use a whole number from 1 to 10000"),
        (f"bs={'9' * 19}", "bs", "use a number of bytes"),
        ("numjobs=1000", "numjobs", "use a whole number from 1 to 64"),
        ("stonewall=x", "stonewall", "without a value"),
        ("%comment", "%comment", "remove it"),
    ],
)
@pytest.mark.parametrize("section", ["global", "job"])
def test_invalid_entries_are_rejected_with_section_key_and_remedy(
    section: str, line: str, key: str, remedy: str
) -> None:
    text = f"[{section}]\nsize=1m\n{line}\n" + ("[job]\n" if section == "global" else "")
    with pytest.raises(JobFileError, match=re.escape(f"section [{section}], {key} = ")) as refused:
        read_job_file(text, 2**40)
    assert remedy in str(refused.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rw=read\n[a]\nsize=1m", "begin with a section"),
        ("[global]\nsize=1m", "add at least one job"),
        ("[a]\nrw=read", "give the size of its file"),
        ("[a]\nsize=1m\n[a]\nsize=1m", "give each job its own name"),
        ("[a/../../b]\nsize=1m", "use letters, digits"),
        ("[a]\nsize=1m\nnumjobs=64\n" + "".join(f"[b{n}]\nsize=1m\nnumjobs=64\n" for n in range(4)), "320 threads"),
        ("[a]\nsize=3m\n[b]\nsize=2m\nnumjobs=4", "all files need 11534336 bytes; raise space_bytes from 10485760"),
    ],
)
def test_file_that_cannot_be_bounded_is_refused(text: str, problem: str) -> None:
    with pytest.raises(JobFileError, match=re.escape(problem)):
        read_job_file(text, 10 * MIB)


def test_a_line_break_that_only_python_knows_begins_no_line_for_fio() -> None:
    for mark in "\x0b\x0c\x1c\u2028\r":
        with pytest.raises(JobFileError):
            read_job_file(f"[a]\nsize=1m{mark}exec_prerun=id\n", 2**40)


def test_file_of_several_jobs_takes_its_room_once() -> None:
    assert files_bytes(read_job_file(PASTED, 2 * MIB)) == 2 * MIB
    apart = read_job_file("[a]\nsize=1m\nnumjobs=3\n[b]\nsize=2m", 10 * MIB)
    assert files_bytes(apart) == 5 * MIB


def test_space_is_what_the_scheduler_foresees_and_what_bounds_the_file() -> None:
    options = FioOptions(job_file="[a]\nsize=4m", space_bytes=8 * MIB)
    assert evaluate(FIO.bytes_needed, options.model_dump()) == 8 * MIB
    with pytest.raises(
        ValidationError, match=r"job file, section \[a\], size = '4194304': all files need 4194304 bytes"
    ):
        FioOptions(job_file="[a]\nsize=4m", space_bytes=2 * MIB)


def test_jobs_are_measured_by_their_names_in_the_run_s_own_directory(place: Place) -> None:
    parsed = measured(PASTED, place)
    rates = {
        (sample.labels["job"], sample.labels["operation"]): sample.value
        for sample in parsed.samples
        if sample.metric == "throughput"
    }
    assert rates.keys() == {("fill", "write"), ("look-up", "read")}
    assert {path.name for path in place.directory.iterdir()} == {"shared"}
    assert (place.directory / "shared").stat().st_size == 2 * MIB


def test_clones_of_a_job_count_together_and_ramp_is_left_out(place: Place) -> None:
    text = "[r]\nrw=randread\nbs=4k\nsize=1m\nnumjobs=2\nioengine=libaio\niodepth=8\nruntime=1\nramp_time=1\ntime_based"
    parsed = measured(text, place)
    [iops] = [sample.value for sample in parsed.samples if sample.metric == "iops"]
    [throughput] = [sample.value for sample in parsed.samples if sample.metric == "total_throughput"]
    # Requests in flight at the end of the ramp count as bytes but not as operations: up to the depth of each clone.
    assert throughput == pytest.approx(4096 * iops, rel=0.01, abs=2 * (8 + 1) * 4096)
    assert {path.name for path in place.directory.iterdir()} == {"r.0.0", "r.1.0"}
    writers = [sample.labels.get("writer") for sample in parsed.samples if sample.metric == "throughput"]
    assert writers == [1, 2]
    assert {tuple(sample.labels) for sample in parsed.samples if sample.metric == "fairness"} == {
        ("operation", "job", "direct")
    }


def test_flags_concern_the_job_that_deserves_them(place: Place) -> None:
    parsed = measured("[raw]\nrw=write\nsize=1m\n[flushed]\nrw=write\nsize=1m\nend_fsync=1\n", place)
    assert [flag.labels for flag in parsed.flags if flag.code is FlagCode.FSYNC] == [{"job": "raw"}]


@pytest.mark.parametrize("flush", ["end_fsync=1\n", ""])
def test_direct_that_the_target_refuses_becomes_buffered_and_is_flagged(flush: str, place: Place) -> None:
    text = f"[a]\nrw=write\nsize=1m\nbuffered=0\n{flush}"
    parsed = measured(text, replace(place, direct_works=False))
    assert {sample.labels["direct"] for sample in parsed.samples} == {False}
    codes = {flag.code for flag in parsed.flags}
    assert FlagCode.NO_DIRECT in codes
    assert (FlagCode.FSYNC in codes) is not bool(flush)
    assert FlagCode.FSYNC not in {flag.code for flag in measured(text, place).flags}


@pytest.mark.parametrize(
    ("keys", "is_flushed"),
    [
        ("fsync=1", True),
        ("fdatasync=2", True),
        ("sync=dsync", True),
        ("fsync_on_close=1", True),
        ("fsync=3", False),
        ("fsync=1000", False),
        ("fsync=0", False),
        ("sync=none", False),
        ("fsync=1\nnrfiles=2", False),
        ("fsync=1\nioengine=libaio\niodepth=8", False),
    ],
)
def test_flush_within_a_job_counts_where_it_leaves_at_most_a_hundredth(
    keys: str, place: Place, *, is_flushed: bool
) -> None:
    parsed = measured(f"[a]\nrw=write\nsize=1m\n{keys}\n", place)
    assert (FlagCode.FSYNC in {flag.code for flag in parsed.flags}) is not is_flushed


def test_fio_flushes_after_each_write_but_the_last(place: Place) -> None:
    options = FioOptions(job_file="[a]\nrw=write\nsize=1m\nfsync=1\n")
    [outcome] = run_steps(steps_of(FIO, options, place), place)
    [job] = json.loads(outcome.files[outcome.step.output_files[0].name])["jobs"]
    assert job["write"]["total_ios"] - job["sync"]["total_ios"] in {0, 1}


@pytest.mark.parametrize(
    ("keys", "is_flagged"),
    [
        ("zero_buffers", True),
        ("buffer_compress_percentage=100", True),
        ("buffer_compress_percentage=50", True),
        ("dedupe_percentage=100", True),
        ("scramble_buffers=0", True),
        ("scramble_buffers=0\nrefill_buffers", False),
        ("refill_buffers", False),
        ("dedupe_percentage=0\nbs=1m", False),
        ("", True),
        ("bs=64k", True),
        ("bs=128k", True),
        ("bs=1m\nscramble_buffers=0", True),
    ],
)
def test_data_that_compresses_or_repeats_is_flagged(keys: str, place: Place, *, is_flagged: bool) -> None:
    parsed = measured(f"[a]\nrw=write\nsize=2m\nend_fsync=1\n{keys}\n", place)
    flags = [flag for flag in parsed.flags if flag.code is FlagCode.ZEROES]
    assert [flag.labels for flag in flags] == ([{"job": "a"}] if is_flagged else [])
    assert (stored_ratio([place.directory / "a.0.0"]) < ENOUGH_RATIO) is is_flagged


def test_report_that_lacks_a_job_is_refused(place: Place) -> None:
    options = FioOptions(job_file="[a]\nrw=write\nsize=1m\n[b]\nrw=write\nsize=1m\n")
    [outcome] = run_steps(steps_of(FIO, options, place), place)
    file = outcome.step.output_files[0].name
    report = json.loads(outcome.files[file])
    report["jobs"][1]["jobname"] = "a"
    with pytest.raises(OutputRefusedError, match="1 clones of job a were planned, fio reports 2"):
        FIO.read(options, place, replace(outcome, files={**outcome.files, file: json.dumps(report)}))
    del report["jobs"][1]
    with pytest.raises(OutputRefusedError, match="2 jobs were planned, fio reports 1"):
        FIO.read(options, place, replace(outcome, files={**outcome.files, file: json.dumps(report)}))


def test_posixaio_works_with_threads_of_its_own(place: Place) -> None:
    *_, step = steps_of(FIO, FioOptions(job_file="[a]\nsize=1m\nioengine=posixaio\ndirect=1"), place)
    assert step.threads is None
