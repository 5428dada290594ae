"""The IO500's result directory: releases of several years, tampered and cut."""

import re
from dataclasses import replace
from math import prod

import pytest
from factories.io500 import PUBLISHED, RUN_2025, PublishedRun
from factories.outcomes import DATA

from iotide_agent.workloads.base import OutputRefusedError
from iotide_agent.workloads.io500_directory import check_phases, ranks_of, read_directory
from iotide_agent.workloads.io500_report import check_config, check_summary, read_result
from iotide_agent.workloads.io500_samples import read_samples
from iotide_agent.workloads.io500_score import (
    BANDWIDTH_PHASES,
    SCORED_PHASES,
    checksum,
    geometric_mean,
    possible_checksums,
    score,
    score_tolerance,
)
from iotide_wire.measured import FlagCode
from iotide_wire.units import GIB

TEXT = RUN_2025.text()


def invalid(reasons: dict[str, str]) -> PublishedRun:
    """Return the run as if it were invalid, with the checksum of that."""
    printed = {name: str(RUN_2025.phases[name]) for name in SCORED_PHASES}
    [*found] = possible_checksums(RUN_2025.version, printed, RUN_2025.means, RUN_2025.score, is_valid=False)
    return replace(RUN_2025, reasons=reasons, checksum=f"{found[0]:X}")


@pytest.mark.parametrize("year", PUBLISHED)
def test_published_runs_have_the_score_and_checksum_that_follow_from_their_phases(year: str) -> None:
    run = PUBLISHED[year]
    result = read_result("io500", run.text())
    assert result.score == float(run.score)
    assert result.bandwidth == float(run.means["BW"]) * GIB
    assert result.metadata == float(run.means["MD"]) * 1000
    assert (result.is_valid, result.reasons, result.procs) == (True, (), run.procs)
    assert {phase.name for phase in result.phases} == run.phases.keys()


def test_phases_are_in_base_units() -> None:
    phases = {phase.name: phase for phase in read_result("io500", TEXT).phases}
    assert phases["ior-easy-write"].value == 64.129392 * GIB
    assert phases["ior-easy-write"].stonewall_value == 12.34 * GIB
    assert phases["find"].value == pytest.approx(528_053.786)
    assert phases["mdtest-hard-write"].stonewall_value == pytest.approx(12_345.678)
    assert phases["find"].seconds == 301.2345
    assert not phases["timestamp"].is_measured


def test_bandwidth_at_the_stonewall_of_2020_is_left_out_because_its_unit_differs() -> None:
    phases = {phase.name: phase for phase in read_result("io500", PUBLISHED["2020"].text()).phases}
    assert phases["ior-easy-write"].stonewall_value is None
    assert phases["mdtest-easy-write"].stonewall_value is not None


def test_score_is_the_root_of_two_geometric_means() -> None:
    assert abs(score(0.436010, 4.869162) - 1.457054) <= score_tolerance(0.436010, 4.869162)
    values = [float(str(RUN_2025.phases[name])) for name in BANDWIDTH_PHASES]
    assert geometric_mean(values) == pytest.approx(prod(values) ** 0.25)
    assert geometric_mean([0.0, 0.0]) == 0.0
    assert geometric_mean([0.0, 4.0]) == pytest.approx(4.0)


def test_text_cut_at_any_byte_is_refused_with_a_line() -> None:
    for end in range(len(TEXT)):
        with pytest.raises(OutputRefusedError):
            read_result("io500", TEXT[:end])


def test_every_changed_digit_of_a_score_is_refused() -> None:
    printed = {
        *(match.span(1) for match in re.finditer(r"^(?:score|MD|BW|SCORE) += ([\d.]+)$", TEXT, re.MULTILINE)),
        *(match.span(1) for match in re.finditer(r"^hash += (\w+)$", TEXT, re.MULTILINE)),
        *(match.span(1) for match in re.finditer(r"^version += (.+)$", TEXT, re.MULTILINE)),
    }
    # An unscored phase is protected by no checksum.
    begin = TEXT.index("[ior-rnd4K-easy-read]")
    scored = [span for span in printed if not begin < span[0] < TEXT.index("[SCORE]")]
    assert len(scored) == 12 + 3 + 1 + 1
    for first, last in scored:
        for at in range(first, last):
            other = "1" if TEXT[at] != "1" else "2"
            with pytest.raises(OutputRefusedError):
                read_result("io500", f"{TEXT[:at]}{other}{TEXT[at + 1 :]}")


def test_validity_cannot_be_changed_without_the_checksum() -> None:
    run = invalid({"ior-hard-write": "Runtime is smaller than expected minimum runtime"})
    with pytest.raises(OutputRefusedError, match="hash is not that of these values"):
        read_result("io500", run.text().replace(" [INVALID]", ""))
    with pytest.raises(OutputRefusedError, match="hash is not that of these values"):
        read_result("io500", replace(RUN_2025, reasons={"": "invented"}).text())


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[mdtest-hard-stat]", "[mdtest-hard-sta]", "mdtest-hard-stat is not in result.txt"),
        ("[find]", "[ior-easy-write]", "has ior-easy-write twice"),
        ("score           = 64.129392", "score           = 64.12939", "has no score as the IO500 prints it"),
        ("score           = 64.129392", "speed           = 64.129392", "has no score as the IO500 prints it"),
        ("score           = 64.129392", "score           = -4.129392", "has no score as the IO500 prints it"),
        ("BW              = 39.259077", "BW              = 39.259089", "but the mean of its phases is 39.2590"),
        ("SCORE           = 115.514482", "SCORE           = 116.514482", "which is 115.5144"),
        ("exe             = ./tool", "./tool", "neither a section nor a value of the IO500"),
        ("; END", "; FIN", "a start, but no end"),
        ("procs           = 1280", "procs           = 12x0", "has no procs as the IO500 prints it"),
        ("[SCORE]", "[SCOREY]", "does not end with its score"),
        ("t_delta         = 301.2345", "t_delta         = 301.2345\nt_delta         = 1.0000", "has t_delta twice"),
    ],
)
def test_tampered_text_is_refused_with_its_line(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    with pytest.raises(OutputRefusedError, match=problem):
        read_result("io500", TEXT.replace(old, new, 1))


def test_text_after_the_end_is_refused() -> None:
    with pytest.raises(OutputRefusedError, match="continues after its end"):
        read_result("io500", TEXT + TEXT)


def test_invalid_run_keeps_its_values_and_says_why() -> None:
    run = invalid({"": "stonewall-time 2s != 300s", "find": "Find didn't find anything, this is likely invalid."})
    result = read_result("io500", run.text())
    assert not result.is_valid
    assert result.reasons == (
        "stonewall-time 2s != 300s",
        "find: Find didn't find anything, this is likely invalid.",
    )
    assert result.score == float(RUN_2025.score)
    check_summary("io500", result, run.summary())
    codes = {flag.measured: flag.code for flag in read_samples(result, "io500-mini", 7).flags}
    assert codes == {
        "stonewall-time 2s != 300s": FlagCode.DURATION,
        "find: Find didn't find anything, this is likely invalid.": FlagCode.ERRORS,
    }


def test_reason_without_the_mark_is_an_invalid_run_too() -> None:
    """Releases of 2022 and 2023 marked no score for a stonewall time below 30 s."""
    text = TEXT.replace("\n\n\n[ior-easy-write]", "\n; ERROR INVALID stonewall-time < 30s\n\n\n[ior-easy-write]")
    result = read_result("io500", text)
    assert (result.is_valid, result.reasons) == (False, ("stonewall-time < 30s",))


def test_second_line_of_a_failed_find_belongs_to_its_reason() -> None:
    run = invalid({"find": 'Exit code 1 != 0 from find command: "x"\nPossible error: Operation not permitted'})
    [reason] = read_result("io500", run.text()).reasons
    assert reason == 'find: Exit code 1 != 0 from find command: "x"'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("64.129392 GiB/s", "64.129399 GiB/s"),
        ("find      528.053786 kIOPS : time 301.235", "find      528.053786 kIOPS : time 301.239"),
        ("64.129392 GiB/s : time 301.235 seconds", "64.129392 GiB/s : time 301.235 seconds [INVALID]"),
        ("mdtest-hard-stat", "mdtest-soft-stat"),
    ],
)
def test_summary_of_something_else_is_refused(old: str, new: str) -> None:
    result, summary = read_result("io500", TEXT), RUN_2025.summary()
    check_summary("io500", result, summary)
    assert old in summary
    with pytest.raises(OutputRefusedError, match=r"result_summary.txt"):
        check_summary("io500", result, summary.replace(old, new, 1))


def test_config_of_another_run_is_refused() -> None:
    config = "[global]\ndatadir = /mnt/run\nverbosity = 1\n\n[find]\nexternal-mpi-args = \nnproc = \n"
    own = checksum([("datadir", "/mnt/run"), ("verbosity", "1"), ("external-mpi-args", "")])
    result = replace(read_result("io500", TEXT), config_hash=f"{own:X}")
    check_config("io500", result, config)
    with pytest.raises(OutputRefusedError, match="has the config-hash"):
        check_config("io500", result, config.replace("verbosity = 1", "verbosity = 2"))


_IOR_NAMES = ("access", "bw(MiB/s)", "IOPS", "Latency(s)", "block(KiB)", "xfer(KiB)", "open(s)", "wr/rd(s)", "total(s)")
_IOR_CELLS = ("write", "65668", "16433", "0.077315", "10158080000", "4096", "0.161156", "302.92", "303.22")
IOR_TEXT = "".join("  ".join(cells) + " \n" for cells in (_IOR_NAMES, ["------"] * 9, _IOR_CELLS))
MDTEST_TEXT = """SUMMARY rate (in ops/sec): (of 1 iterations)
   Operation                     Max            Min           Mean        Std Dev
   ---------                     ---            ---           ----        -------
   File creation              365532.421     365532.421     365532.421          0.000
   File stat                       0.000          0.000          0.000          0.000

SUMMARY time (in ms/op): (of 1 iterations)
   File creation                 315.157        315.157        315.157          0.000
-- finished at 07/01/2026 12:10:00 --

"""
FIND_TEXT = "runtime: 315.121840 rate: 528053.786343\nrank, errors, unknown, found, total, checked\n"
FILES = {"ior-easy-write.txt": IOR_TEXT, "mdtest-easy-write.txt": MDTEST_TEXT, "find.csv": FIND_TEXT}


def test_phase_is_compared_with_what_its_program_printed() -> None:
    result = read_result("io500", TEXT)
    assert check_phases("io500", result, FILES) == ("ior-easy-write", "mdtest-easy-write", "find")


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("ior-easy-write.txt", "65668 ", "65669 ", "but result.txt has"),
        ("ior-easy-write.txt", "write ", "read  ", "no complete result"),
        ("mdtest-easy-write.txt", "365532.421", "365532.431", "but result.txt has"),
        ("mdtest-easy-write.txt", "-- finished", "-- begun", "no complete result"),
        ("find.csv", "528053.786343", "528053.796343", "but result.txt has"),
        ("find.csv", "runtime", "run", "no complete result"),
    ],
)
def test_phase_that_its_program_contradicts_is_refused(file: str, old: str, new: str, problem: str) -> None:
    result = read_result("io500", TEXT)
    with pytest.raises(OutputRefusedError, match=problem):
        check_phases("io500", result, FILES | {file: FILES[file].replace(old, new)})


def test_samples_keep_short_runs_apart() -> None:
    parsed = read_samples(read_result("io500", TEXT), "io500-mini", 7)
    assert {sample.labels["series"] for sample in parsed.samples} == {"io500-mini"}
    of_run = {sample.metric: sample.value for sample in parsed.samples if "operation" not in sample.labels}
    assert of_run["score"] == 115.514482
    assert of_run.keys() == {"mean_throughput", "mean_operation_rate", "score"}
    phases = {
        sample.labels["operation"] for sample in parsed.samples if sample.metric in {"throughput", "operation_rate"}
    }
    assert phases == RUN_2025.phases.keys() - {"timestamp"}
    assert parsed.flags == []


def test_marked_score_without_a_reason_has_a_flag() -> None:
    [flag] = read_samples(replace(read_result("io500", TEXT), is_valid=False), "io500", 7).flags
    assert (flag.code, flag.measured) == (FlagCode.ERRORS, "the score is marked [INVALID], without a reason")


def test_phase_whose_times_disagree_is_marked() -> None:
    text = TEXT.replace("t_delta         = 301.2345", "t_delta         = 288.2345", 1)
    [flag] = read_samples(read_result("io500", text), "io500", 7).flags
    assert (flag.code, flag.labels["operation"]) == (FlagCode.TIME_SET, "ior-easy-write")


RECORDED = {path.name: path.read_text() for path in sorted((DATA / "mpi/io500").iterdir())}
"""Result directory of a run with a stonewall of one second, by two nodes with one task each."""


def test_recorded_directory_agrees_with_itself() -> None:
    result = read_directory("io500", RECORDED)
    assert (result.score, result.is_valid, result.procs) == (3.484825, False, 2)
    assert result.run_reasons == ("stonewall-time 1s != 300s",)
    assert {phase.name for phase in result.phases if phase.reasons} == {
        *("ior-easy-write", "mdtest-easy-write", "ior-hard-write", "mdtest-hard-write")
    }


@pytest.mark.parametrize("file", ["result.txt", "result_summary.txt", "config.ini", "mdtest-hard-stat.txt"])
def test_directory_without_a_file_is_refused(file: str) -> None:
    with pytest.raises(OutputRefusedError, match=f"the result directory has no {file}"):
        read_directory("io500", {name: text for name, text in RECORDED.items() if name != file})


def test_directory_of_an_external_find_has_no_file_of_it() -> None:
    files = {name: text for name, text in RECORDED.items() if name != "find.csv"}
    assert read_directory("io500", files) == read_directory("io500", RECORDED)


def test_recorded_result_cut_at_any_byte_is_refused() -> None:
    text = RECORDED["result.txt"]
    for end in range(len(text)):
        with pytest.raises(OutputRefusedError):
            read_result("io500", text[:end])


def test_recorded_phases_have_a_table_of_ranks() -> None:
    result = read_directory("io500", RECORDED)
    for phase in result.phases:
        table = ranks_of("io500", result, phase, RECORDED)
        assert (table is None) == (phase.name in {"timestamp", "find"}), phase.name
        if table is not None and table.total_seconds is not None:
            assert table.amount / table.total_seconds == pytest.approx(phase.value, rel=1e-6)
        if table is not None:
            assert [rank.rank for rank in table.ranks] == [0, 1]


def test_number_of_processes_that_no_table_has_is_refused() -> None:
    result = replace(read_directory("io500", RECORDED), procs=10**18)
    with pytest.raises(OutputRefusedError, match="the table has 2 rows"):
        ranks_of("io500", result, result.phases[0], RECORDED)
