"""Reader of a whole IO500 result directory: each phase agrees with what IOR, mdtest and find wrote about it."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from iotide_agent.workloads.base import OutputRefusedError
from iotide_agent.workloads.io500_report import (
    CONFIG,
    RESULT,
    SUMMARY,
    Io500Phase,
    Io500Result,
    check_config,
    check_summary,
    read_result,
)
from iotide_agent.workloads.io500_score import HALF_DIGIT, SCORED_PHASES
from iotide_agent.workloads.rank_report import RankTable, read_ior_ranks, read_mdtest_ranks
from iotide_wire.units import GIB, MIB

_FIND: Final = "find"
_IOR_ROW: Final = re.compile(r"^(write|read) +(\d{1,12}(?:\.\d{1,8})?) +\S.*\n", re.MULTILINE)
_MDTEST_ROW: Final = re.compile(
    r"^   (File \w+)(?: +:)? +(\d{1,15}\.\d{3}) +(\d{1,15}\.\d{3}) +(\d{1,15}\.\d{3}) +\d+\.\d{3}$", re.MULTILINE
)
_MDTEST_RATES: Final = re.compile(r"^SUMMARY rate.*\n(?:   .*\n)+", re.MULTILINE)
_MDTEST_FINISHED: Final = re.compile(r"^-- finished at .* --\n", re.MULTILINE)
_MDTEST_ROWS: Final = {"write": "File creation", "stat": "File stat", "read": "File read", "delete": "File removal"}
_FIND_HEAD: Final = re.compile(r"runtime: (\d{1,12}\.\d{6}) rate: (\d{1,18}\.\d{6})\n")
_KILO: Final = 1000.0
_HALF_MILLI: Final = 0.5e-3


def read_directory(step: str, files: Mapping[str, str]) -> Io500Result:
    """Return the run of a directory's files by name; raise OutputRefusedError if one is missing or disagrees.

    An external find program leaves no file.
    """
    if missing := [name for name in (RESULT, SUMMARY, CONFIG) if name not in files]:
        raise OutputRefusedError(step, f"the result directory has no {missing[0]}", ", ".join(sorted(files)))
    result = read_result(step, files[RESULT])
    check_summary(step, result, files[SUMMARY])
    check_config(step, result, files[CONFIG])
    left = set(SCORED_PHASES) - set(check_phases(step, result, files)) - {_FIND}
    if left:
        raise OutputRefusedError(step, f"the result directory has no {min(left)}.txt", ", ".join(sorted(files)))
    return result


def ranks_of(step: str, result: Io500Result, phase: Io500Phase, files: Mapping[str, str]) -> RankTable | None:
    """Return the table of ranks of a phase of IOR or mdtest; None if its release or phase has none."""
    text = files.get(f"{phase.name}.csv")
    program, _, operation = phase.name.rpartition("-")
    if text is None or result.procs is None:
        return None
    if program.startswith("ior-"):
        return read_ior_ranks(step, text, operation, result.procs)
    if not program.startswith("mdtest-") or operation not in _MDTEST_ROWS:
        return None
    tables, row = read_mdtest_ranks(step, text, result.procs), _MDTEST_ROWS[operation]
    if row not in tables:
        raise OutputRefusedError(step, f"the table of ranks of {phase.name} has no {row}", ", ".join(tables))
    return tables[row]


def check_phases(step: str, result: Io500Result, files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the phases whose own file was there; raise OutputRefusedError for a file with another value.

    The value of mdtest before 4.0 is a mean of each task's own rate, so it only lies between the smallest and largest.
    """
    return tuple(_checked(step, result, files))


def _checked(step: str, result: Io500Result, files: Mapping[str, str]) -> Iterator[str]:
    for phase in result.phases:
        name = f"{phase.name}.csv" if phase.name == _FIND else f"{phase.name}.txt"
        text = files.get(name)
        if text is None or not phase.is_scored:
            continue
        allowed = _FINDERS[phase.name.partition("-")[0]](phase, text)
        if allowed is None:
            raise OutputRefusedError(step, f"{name} has no complete result", text[-500:])
        low, high = allowed
        if not low <= phase.value <= high:
            around = f"{round(low, 3)} to {round(high, 3)}"
            problem = f"{name} is of {around}, but result.txt has {round(phase.value, 3)} for {phase.name}"
            raise OutputRefusedError(step, problem, text[-500:])
        yield phase.name


def _by_ior(phase: Io500Phase, text: str) -> tuple[float, float] | None:
    # Releases of 2020 print a second table.
    row = next((row for row in _IOR_ROW.finditer(text) if phase.name.endswith(f"-{row[1]}")), None)
    if row is None:
        return None
    half_digit = 0.5 * 10.0 ** -len(row[2].partition(".")[2])
    return _around(float(row[2]) * MIB, half_digit * MIB, HALF_DIGIT * GIB)


def _by_mdtest(phase: Io500Phase, text: str) -> tuple[float, float] | None:
    wanted, rates = _MDTEST_ROWS[phase.name.rpartition("-")[2]], _MDTEST_RATES.search(text)
    if rates is None or _MDTEST_FINISHED.search(text, rates.end()) is None:
        return None
    rows = [row for row in _MDTEST_ROW.finditer(rates[0]) if row[1] == wanted]
    if len(rows) != 1:
        return None
    slack = _HALF_MILLI + HALF_DIGIT * _KILO
    return float(rows[0][3]) - slack, float(rows[0][2]) + slack


def _by_find(_phase: Io500Phase, text: str) -> tuple[float, float] | None:
    head = _FIND_HEAD.match(text)
    return _around(float(head[2]), HALF_DIGIT, HALF_DIGIT * _KILO) if head else None


def _around(value: float, *half_digits: float) -> tuple[float, float]:
    slack = sum(half_digits) + value * 1e-9
    return value - slack, value + slack


_FINDERS: Final = {"ior": _by_ior, "mdtest": _by_mdtest, _FIND: _by_find}
