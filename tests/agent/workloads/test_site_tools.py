"""Tools without a workload of their own, listed by a site under `command`: each recorded output and its number."""

from dataclasses import replace

import pytest
from factories.outcomes import DATA, as_step, captured, steps_of

from iotide_agent.workloads.base import OutputRefusedError, Place, StepOutcome
from iotide_agent.workloads.command import CommandWorkload

TOOLS = ("iperf3", "hdparm", "time", "misc")
MEBI, BITS = 1024**2, 1 / 8
SECONDS = r"(?P<value>\d+\.\d+)"
LOST, SENT = "end.sum.lost_packets", "end.sum.packets"
RECEIVED, BANDWIDTH = "end.sum_received.bytes", "end.sum_received.bits_per_second"
FILE_SIZE = "end.streams.0.diskfile.size"
"""Size of the file that iperf3 really received."""
IOR_WRITE = r"^write +(?P<value>[\d.]+)( +[\d.]+){{8}} +{} *$"
FS_MARK = r"^ +\d+ +\d+ +\d+ +(?P<value>[\d.]+) +\d+$"

# capture: where its number is, JSON path or pattern; factor to the base unit; the number in the base unit
GOOD: list[tuple[str, str, float, float]] = [
    ("iperf3/tcp_client_J", BANDWIDTH, BITS, 1_997_540_201),
    ("iperf3/tcp_server_J", RECEIVED, 1, 6_008_209_408),
    ("iperf3/tcp_text", r" +(?P<value>[\d.]+) Gbits/sec +receiver", 1e9 * BITS, 3_062_500_000),
    ("iperf3/udp_client_J_1g", LOST, 1, 7752),
    ("iperf3/udp_client_J_1g", SENT, 1, 61_023),
    ("iperf3/udp_client_J_unlimited", LOST, 1, 97_030),
    ("iperf3/udp_server_lossy_J", LOST, 1, 97_030),
    ("iperf3/F_udp_to_file", LOST, 1, 41_443),
    ("iperf3/F_udp_to_file", SENT, 1, 91_542),
    ("iperf3/F_udp_server_J", FILE_SIZE, 1, 409_903_104),
    ("iperf3/F_recv_to_file", RECEIVED, 1, 532_152_320),
    ("iperf3/F_server_J", FILE_SIZE, 1, 532_152_320),
    ("iperf3/F_send_from_file", FILE_SIZE, 1, 532_152_320),
    # Full file system: received bytes do not measure stored bytes, and the output reports no error.
    ("iperf3/F_enospc_client", RECEIVED, 1, 264_372_118),
    ("iperf3/F_server_enospc_J", RECEIVED, 1, 264_372_118),
    ("iperf3/F_server_enospc_J", FILE_SIZE, 1, 56_016_896),
    ("hdparm/e_file", r"= +(?P<value>[\d.]+) MB/sec$", MEBI, 367.64 * MEBI),
    ("time/bash_time", rf"^real\t0m{SECONDS}s$", 1, 1.172),
    ("time/bash_time_p", rf"^real {SECONDS}$", 1, 1.36),
    ("time/gnu_time_default", rf"0:{SECONDS}elapsed", 1, 1.52),
    ("time/gnu_time_json_format", "real", 1, 1.96),
    ("time/gnu_time_p", rf"^real {SECONDS}$", 1, 1.55),
    ("time/gnu_time_v", rf"Elapsed .*: 0:{SECONDS}$", 1, 2.93),
    ("time/gnu_time_v_o_file", rf"Elapsed .*: 0:{SECONDS}$", 1, 2.40),
    ("time/touch_10000_forks", rf"^real\t0m{SECONDS}s$", 1, 46.621),
    ("time/touch_10000_one_process", rf"^real\t0m{SECONDS}s$", 1, 0.604),
    ("misc/dbench_2", r"^Throughput (?P<value>[\d.]+) MB/sec", 1e6, 705_373_000),
    ("misc/fs_mark_empty_10k", FS_MARK, 1, 10_413.2),
    ("misc/ioping", r" (?P<value>[\d.]+) k iops", 1e3, 3940),
    ("misc/ioping_batch", r"^\d+ \d+ (?P<value>\d+) ", 1, 2257),
    ("misc/stress_ng_hdd", r"hdd +(?P<value>[\d.]+) MB/sec write rate", 1e6, 3_451_460_000),
    ("ior/shared_file", IOR_WRITE.format(0), MEBI, 240.28 * MEBI),
    ("ior/shared_file", IOR_WRITE.format(1), MEBI, 229.97 * MEBI),
    ("ior/shared_file", IOR_WRITE.format(2), MEBI, 1126.24 * MEBI),
]
REFUSED = {
    "iperf3/e_refused": (BANDWIDTH, "the JSON on stdout has no end.sum_received"),
    "time/bash_time_de": (rf"^real\t0m{SECONDS}s$", "matches 0 times"),
    "time/gnu_time_child_killed": (rf"copied, {SECONDS} s", "matches 0 times"),
    "misc/fs_mark": (FS_MARK, "matches 2 times"),
    "misc/ioping_json": ("stat.iops", "not a JSON object"),
}
FAILED = {
    "iperf3/k_int": "iperf3 ended with status 1",
    "iperf3/k_term": "iperf3 ended with status 1",
    "hdparm/T_vda": "status 1: /dev/vda: Operation not permitted",
    "hdparm/t_vda": "status 1: /dev/vda: Operation not permitted",
    "hdparm/t_direct_vda": "status 1: /dev/vda: Operation not permitted",
    "hdparm/e_enoent": "status 2: /dev/nosuch: No such file or directory",
    "hdparm/e_noperm": "status 13: /dev/vda: Permission denied",
    "hdparm/t_loop": "status 5: read() hit EOF - device too small",
    "time/gnu_time_signal": "was ended by signal 15",
    "misc/dbench_k_int": "was ended by signal 2",
    "misc/dbench_k_term": "was ended by signal 15",
    "misc/fs_mark_enospc": "fs_mark ended with status 1: fopen failed to open: fs_log.txt",
}
OF_THE_OTHER_END = {"F_server_J", "F_server_enospc_J", "F_udp_server_J", "tcp_server_J", "udp_server_lossy_J"}
"""Printed by the iperf3 server, which was not timed."""


def listed(where: str, factor: float = 1) -> CommandWorkload:
    """Return a site with one program that has its number at this place."""
    place = {"pattern" if "?P<value>" in where else "json_path": where}
    number = {"title": "Number", "unit": "count", "better": "higher", "factor": factor, **place}
    return CommandWorkload({"commands": {"site": {"argv": ["true"], "metrics": {"number": number}}}})


def outcome_of(name: str) -> StepOutcome:
    """Return the capture with all output on stdout, as with `2>&1`, or `-o /dev/stdout` for time."""
    tool, _, capture = name.partition("/")
    if capture in OF_THE_OTHER_END:
        outcome = captured("iperf3/tcp_client_J")
        return replace(outcome, stdout=(DATA / f"{name}.stdout").read_text())
    outcome = captured(name)
    written = DATA / tool / f"{capture}.txt"
    return replace(outcome, stdout=outcome.stderr + outcome.stdout + (written.read_text() if written.exists() else ""))


def number_of(workload: CommandWorkload, outcome: StepOutcome, place: Place) -> float:
    options = workload.options_type()
    [step] = steps_of(workload, options, place)
    [sample] = workload.read(options, place, as_step(outcome, step)).samples
    return sample.value


@pytest.mark.parametrize(("name", "where", "factor", "value"), GOOD)
def test_number_is_the_one_that_the_tool_printed(
    name: str, where: str, factor: float, value: float, place: Place
) -> None:
    workload, outcome = listed(where, factor), outcome_of(name)
    assert workload.failure(outcome) is None
    assert number_of(workload, outcome, place) == pytest.approx(value, rel=1e-9)
    if name.startswith("time/"):
        # wait4 saw the same time, except for the start of the program that measures it.
        assert outcome.wall_seconds - 0.02 < value <= outcome.wall_seconds


@pytest.mark.parametrize(("name", "where", "factor", "value"), GOOD)
def test_output_cut_at_any_line_is_right_or_refused(
    name: str, where: str, factor: float, value: float, place: Place
) -> None:
    workload, outcome = listed(where, factor), outcome_of(name)
    for end in (position for position, character in enumerate(outcome.stdout) if character == "\n"):
        try:
            cut = number_of(workload, replace(outcome, stdout=outcome.stdout[:end]), place)
        except OutputRefusedError:
            continue
        assert cut == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("name", REFUSED)
def test_output_without_the_number_is_refused_though_the_tool_ended_well(name: str, place: Place) -> None:
    where, problem = REFUSED[name]
    outcome = outcome_of(name)
    assert listed(where).failure(outcome) is None
    with pytest.raises(OutputRefusedError, match=problem):
        number_of(listed(where), outcome, place)


@pytest.mark.parametrize("name", FAILED)
def test_failure_is_named_as_the_tool_names_it(name: str) -> None:
    assert FAILED[name] in str(listed("number").failure(captured(name)))


def test_every_capture_is_accounted_for() -> None:
    found = {f"{tool}/{path.name.partition('.')[0]}" for tool in TOOLS for path in (DATA / tool).iterdir()}
    named = {name for name, *_ in GOOD} | REFUSED.keys() | FAILED.keys()
    assert named == found | {"ior/shared_file"}
