"""Write rates that include the flush, checked by recordings on a slow file system and by the flags of our commands."""

import json
import re
from typing import Any

import pytest
from factories.outcomes import captured, read_all, run_groups, steps_of
from factories.tiny_runs import SETTINGS, TINY

from iotide_agent.workloads.base import Place, StepOutcome
from iotide_agent.workloads.registry import all_workloads, workload
from iotide_wire.measured import FlagCode, FlagEffect

FSYNC_SECONDS = 2.0
"""Duration of an fsync where `honesty` was recorded; the 64 MiB themselves took less, and a close one second."""
FLUSHED = {
    "dd": ("dd_fsync", ["conv=fsync"]),
    "fio": ("fio_end_fsync", ["--end_fsync=1"]),
    "iozone": ("iozone_ec", ["-e", "-c"]),
    "bonnie": ("bonnie_plain", []),
}
"""Recording of the tool with the flags of our commands; bonnie++ always flushes."""
FLUSHED_OTHERWISE = {"dd_dsync": 9.13441, "dd_fdatasync": 3.19409, "fio_fsync_on_close": 2.137, "iozone_e": 2.736}
"""Other numbers that include the fsync, and the seconds the tool then reports."""
CACHED = ["dd_plain", "fio_plain", "iozone_plain", "iozone_c"]
UNFLUSHED: dict[str, dict[str, Any]] = {
    "dd": {"flush": "none"},
    "fill": {"flush": "none"},
    "fio": {"end_fsync": False, "direct": False},
    "iozone": {"flush": "none"},
    "ior": {"fsync": False},
}
ALWAYS_FLUSHED = {"bonnie", "stream", "io500"}
NOT_OF_DATA = {"create", "mdtest", "rawread", "command"}
"""Workloads of empty files, of no files, or of the site's own program."""


def seconds_of(name: str) -> float:
    """Return the seconds that the tool reported for 64 MiB."""
    outcome = captured(f"honesty/{name}")
    tool = name.partition("_")[0]
    if tool == "fio":
        return float(json.loads(outcome.stdout)["jobs"][0]["write"]["runtime"]) / 1000
    if tool == "bonnie":
        return 64 * 1024 / float(outcome.stdout.splitlines()[-1].split(",")[11])
    found = re.search(r"copied, ([\d.]+) s", outcome.stderr) or re.search(
        r"^ +65536 +16384 +(\d+)", outcome.stdout, re.MULTILINE
    )
    assert found is not None
    return float(found[1]) if tool == "dd" else 65536 / float(found[1])


@pytest.mark.parametrize("name", FLUSHED)
def test_flags_that_we_give_put_the_flush_into_the_tools_own_time(name: str, place: Place) -> None:
    recording, flags = FLUSHED[name]
    assert seconds_of(recording) > FSYNC_SECONDS
    assert set(flags) <= set(captured(f"honesty/{recording}").step.argv)
    found = workload(name, {})
    assert set(flags) <= set(steps_of(found, found.options_type(), place)[0].argv)


@pytest.mark.parametrize("recording", FLUSHED_OTHERWISE)
def test_other_flags_hold_the_flush_in_the_tools_own_time_too(recording: str) -> None:
    assert seconds_of(recording) == pytest.approx(FLUSHED_OTHERWISE[recording], rel=1e-3)
    assert seconds_of(recording) > FSYNC_SECONDS


def test_synchronous_writes_of_dd_are_made_by_the_recorded_flag(place: Place) -> None:
    dd = workload("dd", {})
    [write, *_] = steps_of(dd, dd.options_type.model_validate({"flush": "dsync"}), place)
    assert {"oflag=dsync"} <= set(write.argv) & set(captured("honesty/dd_dsync").step.argv)


@pytest.mark.parametrize("recording", CACHED)
def test_without_them_the_tools_time_ends_in_the_cache(recording: str) -> None:
    assert seconds_of(recording) < FSYNC_SECONDS


def test_every_workload_is_known_to_flush_or_not() -> None:
    assert all_workloads().keys() == UNFLUSHED.keys() | ALWAYS_FLUSHED | NOT_OF_DATA


@pytest.mark.parametrize("name", UNFLUSHED)
@pytest.mark.parametrize("is_flushed", [True, False])
def test_writes_are_rejected_without_the_flush_and_only_then(name: str, place: Place, *, is_flushed: bool) -> None:
    found = workload(name, SETTINGS)
    given = TINY[name][0] | ({} if is_flushed else UNFLUSHED[name])
    options = found.options_type.model_validate(given)
    outcomes: list[StepOutcome] = run_groups(found.plan(options, [place]), place)
    parsed = read_all(found, options, place, outcomes)
    rejected = [flag for flag in parsed.flags if flag.code is FlagCode.FSYNC]
    assert all(flag.effect is FlagEffect.REJECTED for flag in rejected)
    written = [sample for sample in parsed.samples if sample.labels.get("operation") in {"write", "rewrite"}]
    assert written
    for sample in written:
        covers = [flag for flag in rejected if flag.labels.items() <= sample.labels.items()]
        assert bool(covers) is not is_flushed, sample
