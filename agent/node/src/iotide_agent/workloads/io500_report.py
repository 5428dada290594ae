"""Reader of an IO500 result directory: the value of each phase, the score, and whether the run is valid."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from iotide_agent.workloads.base import OutputRefusedError
from iotide_agent.workloads.io500_score import (
    BANDWIDTH_PHASES,
    HALF_DIGIT,
    METADATA_PHASES,
    SCORED_PHASES,
    checksum,
    geometric_mean,
    mean_tolerance,
    possible_checksums,
    score,
    score_tolerance,
)
from iotide_wire.units import GIB

RESULT: Final = "result.txt"
SUMMARY: Final = "result_summary.txt"
CONFIG: Final = "config.ini"
_KILO: Final = 1000.0
_TIMESTAMP: Final = "timestamp"
_SECTION: Final = re.compile(r"\[([A-Za-z0-9-]{1,40})\]")
_PAIR: Final = re.compile(r"([A-Za-z0-9_-]{1,80}) *= ?(.*)")
_INVALID: Final = re.compile(r"; ERROR INVALID (.*)")
_CONTINUED: Final = "Possible error: "
"""Second line of the message about a find program that failed."""
_BEGAN: Final = re.compile(r"; START \d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_ENDED: Final = re.compile(r"; END \d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_VALUE: Final = re.compile(r"\d{1,18}\.\d{6}")
_TOTAL: Final = re.compile(r"(\d{1,18}\.\d{6})(?: \[INVALID\]| )?")
_SECONDS: Final = re.compile(r"\d{1,12}\.\d{4}")
_STONEWALL: Final = re.compile(r"\d{1,18}\.(?:\d{2}|\d{6})")
_HALF_MILLISECOND: Final = 0.6e-3
"""Half of the last digit of the summary's time, and the rounding of the other number."""
_COUNT: Final = re.compile(r"\d{1,18}")
_HASH: Final = re.compile(r"[0-9A-F]{1,8}")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_EMPTY_BUT_SET: Final = frozenset({"external-mpi-args", "external-extra-args"})
"""Options whose default is an empty text. Others without a value are not part of the config-hash."""
_HEAD: Final = "run"
_SCORES: Final = frozenset({"SCORE", "SCOREX"})
_SUMMARY_ROW: Final = re.compile(
    r"\[(?P<kind>RESULT|      )\] +(?P<name>[A-Za-z0-9-]{1,40}) +(?P<value>\d{1,18}\.\d{6}) (?P<unit>GiB/s|kIOPS) +"
    r": time (?P<seconds>\d{1,12}\.\d{3}) seconds(?P<invalid> \[INVALID\])?"
)


@dataclass(frozen=True, slots=True)
class Io500Phase:
    """Value in bytes or operations per second, with why the IO500 calls it invalid.

    Attributes:
        seconds: of the whole phase, with its preparation; None if the run was to print no times.
        clock_seconds: between begin and end by the time of day, in whole seconds.
        stonewall_value: at the stonewall, before slow ranks caught up; None if the release prints another unit.
    """

    name: str
    value: float
    seconds: float | None
    clock_seconds: float | None
    stonewall_value: float | None
    reasons: tuple[str, ...]
    command: str

    @property
    def is_bandwidth(self) -> bool:
        return _is_bandwidth(self.name)

    @property
    def is_measured(self) -> bool:
        """False for the phase that only marks a moment for find."""
        return self.name != _TIMESTAMP

    @property
    def is_scored(self) -> bool:
        return self.name in SCORED_PHASES


@dataclass(frozen=True, slots=True)
class Io500Result:
    """A whole run.

    Attributes:
        procs: None before 2023.
        bandwidth, metadata: geometric means in bytes and operations per second.
        score: the IO500's own number, root of GiB/s x kIOPS.
        is_valid: neither a phase nor the whole run broke a rule of the IO500.
        run_reasons: why the whole run is invalid, apart from its phases.
    """

    version: str
    config_hash: str
    mode: str
    procs: int | None
    phases: tuple[Io500Phase, ...]
    bandwidth: float
    metadata: float
    score: float
    is_valid: bool
    run_reasons: tuple[str, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why it is invalid, of the whole run and then by phase."""
        of_phases = (f"{phase.name}: {reason}" for phase in self.phases for reason in phase.reasons)
        return (*self.run_reasons, *of_phases)


@dataclass(slots=True)
class _Part:
    name: str
    line: str
    pairs: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)


def read_result(step: str, text: str) -> Io500Result:
    """Return the run of a result.txt; raise OutputRefusedError with the line that is missing, cut or wrong.

    The score is computed from the phases again, and the checksum over them is compared.
    """
    head, *parts = _parts(step, text)
    scores = [part for part in parts if part.name in _SCORES]
    if not scores or scores[0].name != "SCORE" or parts[-len(scores) :] != scores:
        raise OutputRefusedError(step, "result.txt does not end with its score", _last_line(text))
    phases = tuple(_phase(step, part, has_gibibytes=head.name == _HEAD) for part in parts[: -len(scores)])
    missing = set(SCORED_PHASES) - {phase.name for phase in phases}
    if missing:
        raise OutputRefusedError(step, f"{', '.join(sorted(missing))} is not in result.txt", _last_line(text))
    bandwidth, metadata, total = _checked_score(step, head, scores[0], parts)
    is_marked = scores[0].pairs["SCORE"].endswith("[INVALID]")
    has_reasons = bool(head.reasons) or any(phase.reasons for phase in phases)
    return Io500Result(
        version=_known(step, head, "version"),
        config_hash=_known(step, head, "config-hash", _HASH),
        mode=head.pairs.get("mode", "standard"),
        procs=int(_known(step, head, "procs", _COUNT)) if "procs" in head.pairs else None,
        phases=phases,
        bandwidth=bandwidth * GIB,
        metadata=metadata * _KILO,
        score=total,
        is_valid=not is_marked and not has_reasons,
        run_reasons=tuple(head.reasons),
    )


def read_cut_phases(step: str, text: str) -> tuple[Io500Phase, ...]:
    """Return the phases that ended before the run was cut; raise OutputRefusedError for another text."""
    whole, _, _ = text.rpartition("\n")
    head, *parts = _sections(step, whole.split("\n"))
    ended = [part for part in parts if "t_end" in part.pairs and part.name not in _SCORES]
    return tuple(_phase(step, part, has_gibibytes=head.name == _HEAD) for part in ended)


def check_planned(step: str, ini: str, config: str) -> None:
    """Raise OutputRefusedError if config.ini, which has all values, has another one than the planned file."""
    used = _values(config)
    for key, value in _values(ini).items():
        if used.get(key) != value:
            section, name = key
            problem = f"{name} = {value} was planned in [{section}], {CONFIG} has {used.get(key, 'none')}"
            raise OutputRefusedError(step, problem, _last_line(config))


def check_summary(step: str, result: Io500Result, text: str) -> None:
    """Raise OutputRefusedError if result_summary.txt has another value, time or validity of a phase."""
    rows = {row["name"]: row for row in (_SUMMARY_ROW.fullmatch(line) for line in text.splitlines()) if row}
    for phase in result.phases:
        row = rows.get(phase.name)
        if row is None and phase.is_scored:
            raise OutputRefusedError(step, f"{phase.name} is not in {SUMMARY}", _last_line(text))
        if row is None:
            continue
        unit = GIB if row["unit"] == "GiB/s" else _KILO
        has_other_time = phase.seconds is not None and abs(phase.seconds - float(row["seconds"])) > _HALF_MILLISECOND
        has_other_value = phase.is_measured and abs(float(row["value"]) * unit - phase.value) > HALF_DIGIT * unit
        if has_other_time or has_other_value or bool(row["invalid"]) != bool(phase.reasons):
            raise OutputRefusedError(step, f"{SUMMARY} has something else about {phase.name} than {RESULT}", row[0])


def check_config(step: str, result: Io500Result, text: str) -> None:
    """Raise OutputRefusedError if config.ini is not what the run's config-hash is of."""
    pairs = [pair for pair in (_PAIR.fullmatch(line) for line in text.splitlines()) if pair]
    given = ((pair[1], pair[2].strip()) for pair in pairs)
    found = checksum((key, value) for key, value in given if value or key in _EMPTY_BUT_SET)
    if found != int(result.config_hash, 16):
        problem = f"{CONFIG} has the config-hash {found:X}, {RESULT} has {result.config_hash}"
        raise OutputRefusedError(step, problem, _last_line(text))


def _parts(step: str, text: str) -> list[_Part]:
    """Return the head and the sections; releases of 2020 print the head without a section."""
    *lines, rest = text.split("\n")
    if rest:
        raise OutputRefusedError(step, "result.txt ends within a line", rest)
    ends = [number for number, line in enumerate(lines) if _ENDED.fullmatch(line)]
    if not ends and any(_BEGAN.fullmatch(line) for line in lines):
        raise OutputRefusedError(step, "result.txt has a start, but no end", _last_line(text))
    last = ends[0] if ends else len(lines)
    if behind := [line for line in lines[last + 1 :] if line.strip()]:
        raise OutputRefusedError(step, "result.txt continues after its end", behind[0])
    return _sections(step, lines[:last])


def _sections(step: str, lines: Sequence[str]) -> list[_Part]:
    parts = [_Part("", "")]
    for line in lines:
        if section := _SECTION.fullmatch(line):
            _add_section(step, parts, section[1], line)
        else:
            _add_line(step, parts[-1], line)
    return parts


def _values(ini: str) -> dict[tuple[str, str], str]:
    """Return the values by section and name."""
    found: dict[tuple[str, str], str] = {}
    section = ""
    for line in ini.splitlines():
        if begun := _SECTION.fullmatch(line):
            section = begun[1]
        elif pair := _PAIR.fullmatch(line):
            found[section, pair[1]] = pair[2].strip()
    return found


def _add_section(step: str, parts: list[_Part], name: str, line: str) -> None:
    if any(part.name == name for part in parts):
        raise OutputRefusedError(step, f"result.txt has {name} twice", line)
    if name == _HEAD and len(parts) == 1 and not parts[0].pairs:
        parts.clear()
    parts.append(_Part(name, line))


def _add_line(step: str, part: _Part, line: str) -> None:
    if pair := _PAIR.fullmatch(line):
        if pair[1] in part.pairs:
            raise OutputRefusedError(step, f"{part.name} has {pair[1]} twice", line)
        part.pairs[pair[1]] = pair[2]
    elif invalid := _INVALID.fullmatch(line):
        part.reasons.append(invalid[1].strip())
    elif line.strip() and not line.startswith(";") and not (line.startswith(_CONTINUED) and part.reasons):
        raise OutputRefusedError(step, "neither a section nor a value of the IO500", line)


def _phase(step: str, part: _Part, *, has_gibibytes: bool) -> Io500Phase:
    unit = GIB if _is_bandwidth(part.name) else _KILO
    value = 0.0 if part.name == _TIMESTAMP else float(_known(step, part, "score", _VALUE)) * unit
    seconds = float(_known(step, part, "t_delta", _SECONDS)) if "t_delta" in part.pairs else None
    # In 2020 the bandwidth at the stonewall was in another unit.
    stonewall = "throughput-stonewall" if _is_bandwidth(part.name) else "rate-stonewall"
    has_stonewall = stonewall in part.pairs and (has_gibibytes or not _is_bandwidth(part.name))
    return Io500Phase(
        name=part.name,
        value=value,
        seconds=seconds,
        clock_seconds=None if seconds is None else _between(step, part),
        stonewall_value=float(_known(step, part, stonewall, _STONEWALL)) * unit if has_stonewall else None,
        reasons=tuple(part.reasons),
        command=part.pairs.get("exe", ""),
    )


def _checked_score(step: str, head: _Part, part: _Part, parts: list[_Part]) -> tuple[float, float, float]:
    """Return the printed means and score, in the IO500's units, after comparing them with the phases."""
    printed = {own.name: own.pairs["score"] for own in parts if own.name in SCORED_PHASES}
    values = {
        "BW": [float(printed[name]) for name in BANDWIDTH_PHASES],
        "MD": [float(printed[name]) for name in METADATA_PHASES],
    }
    means = {name: _known(step, part, name, _VALUE) for name in values}
    for name, own in values.items():
        if abs(geometric_mean(own) - float(means[name])) > mean_tolerance(own):
            problem = f"{name} is {means[name]}, but the mean of its phases is {round(geometric_mean(own), 6)}"
            raise OutputRefusedError(step, problem, f"{name} = {means[name]}")
    bandwidth, metadata = float(means["BW"]), float(means["MD"])
    said = _TOTAL.fullmatch(_known(step, part, "SCORE"))
    total = float(said[1]) if said else -1.0
    if said is None or abs(score(bandwidth, metadata) - total) > score_tolerance(bandwidth, metadata):
        problem = f"SCORE is not the root of BW x MD, which is {round(score(bandwidth, metadata), 6)}"
        raise OutputRefusedError(step, problem, f"SCORE = {part.pairs['SCORE']}")
    is_valid = not said[0].endswith("[INVALID]")
    version, found = _known(step, head, "version"), _known(step, part, "hash", _HASH)
    if int(found, 16) not in possible_checksums(version, printed, means, said[1], is_valid=is_valid):
        raise OutputRefusedError(step, "the score's hash is not that of these values", f"hash = {found}")
    return bandwidth, metadata, total


def _known(step: str, part: _Part, key: str, pattern: re.Pattern[str] | None = None) -> str:
    value = part.pairs.get(key)
    if value is None or (pattern is not None and pattern.fullmatch(value) is None):
        line = part.line if value is None else f"{key} = {value}"
        raise OutputRefusedError(step, f"{part.name or 'result.txt'} has no {key} as the IO500 prints it", line)
    return value


def _between(step: str, part: _Part) -> float:
    began, ended = _known(step, part, "t_start", _MOMENT), _known(step, part, "t_end", _MOMENT)
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()
    except ValueError as error:
        raise OutputRefusedError(step, f"{part.name} has a date that does not exist", f"{began}, {ended}") from error


def _is_bandwidth(name: str) -> bool:
    return name.startswith("ior")


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
