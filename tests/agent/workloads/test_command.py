import sys
from collections.abc import Mapping
from typing import Any

import pytest
from factories.outcomes import run_steps, steps_of
from pydantic import ValidationError

from iotide_agent.probes.reader import SystemReader
from iotide_agent.workloads.base import Counters, OutputRefusedError, Parsed, Place
from iotide_agent.workloads.command import CommandWorkload
from iotide_agent.workloads.registry import announcement
from iotide_wire.measured import FlagCode
from iotide_wire.units import Unit

RATE = {"title": "Rate", "unit": "operations_per_second", "better": "higher"}


def command(argv: list[str], **metrics: Mapping[str, object]) -> dict[str, Any]:
    return {"argv": argv, "metrics": metrics}


def printing(text: str, **metrics: Mapping[str, object]) -> CommandWorkload:
    """Return a site with one program, which prints this text."""
    return CommandWorkload(
        {"commands": {"site": command([sys.executable, "-c", f"print({text!r}, end='')"], **metrics)}}
    )


def measured(workload: CommandWorkload, place: Place) -> Parsed:
    options = workload.options_type()
    [outcome] = run_steps(steps_of(workload, options, place), place)
    assert workload.failure(outcome) is None
    return workload.read(options, place, outcome)


def test_without_configuration_it_is_unavailable_with_the_remedy() -> None:
    found = announcement(CommandWorkload(), SystemReader())
    assert not found.available
    assert "[workloads.command.commands.NAME] of this node's agent.toml" in str(found.unavailable_because)
    assert found.metrics == ()


def test_configured_programs_are_the_choices_of_the_form_and_their_metrics_are_announced() -> None:
    slow = {"title": "Latency", "unit": "seconds", "better": "lower", "json_path": "ms", "factor": 1e-3}
    commands = {
        "zeta": command(["true"], rate=RATE | {"json_path": "rate"}),
        "alpha": command(["true"], rate=RATE | {"json_path": "other"}, latency=slow),
    }
    found = announcement(CommandWorkload({"commands": commands}), SystemReader())
    assert found.available
    assert found.options_schema["properties"]["command"]["enum"] == ["alpha", "zeta"]
    assert found.option_defaults["command"] == "alpha"
    assert [(metric.name, metric.unit, metric.better, metric.labels) for metric in found.metrics] == [
        ("latency", Unit.SECONDS, "lower", ("command",)),
        ("rate", Unit.OPERATIONS_PER_SECOND, "higher", ("command",)),
        ("first_done", Unit.SECONDS, "neither", ("command",)),
        ("last_done", Unit.SECONDS, "lower", ("command",)),
        ("fairness", Unit.RATIO, "higher", ("command",)),
    ]


def test_command_that_is_not_listed_is_no_option() -> None:
    workload = printing("{}", rate=RATE | {"json_path": "rate"})
    with pytest.raises(ValidationError, match="site"):
        workload.options_type.model_validate({"command": "rm"})


def test_placeholders_are_the_runs_directory_and_its_target(place: Place) -> None:
    argv = ["tool", "--in={directory}/data", "{target}", "{other}", "awk {print}"]
    workload = CommandWorkload({"commands": {"site": command(argv, rate=RATE | {"json_path": "rate"})}})
    [step] = steps_of(workload, workload.options_type(), place)
    assert step.argv == (
        "tool",
        f"--in={place.directory}/data",
        str(place.directory.parent),
        "{other}",
        "awk {print}",
    )


def test_number_is_taken_from_json_in_its_base_unit(place: Place) -> None:
    metric = {"title": "Latency", "unit": "seconds", "better": "lower", "json_path": "runs.1.ms", "factor": 1e-3}
    parsed = measured(printing('{"runs": [{"ms": 1}, {"ms": 250}]}', latency=metric), place)
    [sample] = parsed.samples
    assert (sample.metric, sample.value, dict(sample.labels)) == ("latency", 0.25, {"command": "site"})
    assert {flag.code for flag in parsed.flags} == {FlagCode.DURATION}


def test_number_is_taken_from_the_one_line_that_holds_it(place: Place) -> None:
    metric = RATE | {"pattern": r"^total: (?P<value>[\d.e+]+) op/s$"}
    parsed = measured(printing("part: 3 op/s\ntotal: 1.5e+3 op/s\ndone\n", rate=metric), place)
    assert [sample.value for sample in parsed.samples] == [1500.0]


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        ("", {"json_path": "rate"}, "not JSON"),
        ("[1]", {"json_path": "rate"}, "not a JSON object"),
        ("{}", {"json_path": "rate"}, "has no rate"),
        ('{"rate": "fast"}', {"json_path": "rate"}, "'fast' is not a number"),
        ('{"rate": true}', {"json_path": "rate"}, "True is not a number"),
        ('{"rate": NaN}', {"json_path": "rate"}, "is not a number"),
        ('{"rate": {"a": 1}}', {"json_path": "rate"}, "is not a number"),
        ("rate 5\nrate 6\n", {"pattern": r"rate (?P<value>\d+)"}, "matches 2 times"),
        ("nothing\n", {"pattern": r"rate (?P<value>\d+)"}, "matches 0 times"),
        ("rate 5", {"pattern": r"rate (?P<value>\d+)"}, "has no end"),
        ("rate -\n", {"pattern": r"rate (?P<value>.*)"}, "'-' is not a number"),
    ],
)
def test_output_without_the_promised_number_is_refused(
    text: str, where: dict[str, str], says: str, place: Place
) -> None:
    with pytest.raises(OutputRefusedError, match=says):
        measured(printing(text, rate=RATE | where), place)


def test_progress_is_by_the_time_that_the_administrator_expects(place: Place) -> None:
    timed = command(["true"], rate=RATE | {"json_path": "rate"}) | {"expected_seconds": 20}
    workload = CommandWorkload({"commands": {"site": timed}})
    [step] = steps_of(workload, workload.options_type(), place)
    assert workload.progress(step, Counters(0, 0, 5.0), "") == 0.25
    assert workload.progress(step, Counters(0, 0, 30.0), "") == 1.0
    untimed = printing("{}", rate=RATE | {"json_path": "rate"})
    assert untimed.progress(step, Counters(0, 0, 5.0), "") is None


def test_failing_program_is_reported(place: Place) -> None:
    argv = [sys.executable, "-c", "import sys; sys.exit('no licence')"]
    workload = CommandWorkload({"commands": {"site": command(argv, rate=RATE | {"json_path": "rate"})}})
    [outcome] = run_steps(steps_of(workload, workload.options_type(), place), place)
    assert "status 1: no licence" in str(workload.failure(outcome))


@pytest.mark.parametrize(
    ("commands", "says"),
    [
        ({"site": {"argv": [], "metrics": {"rate": RATE | {"json_path": "rate"}}}}, "argv"),
        ({"site": {"argv": ["true"], "metrics": {}}}, "metrics"),
        ({"site": command(["true"], rate=RATE)}, "either json_path or pattern"),
        ({"site": command(["true"], rate=RATE | {"json_path": "a", "pattern": "(?P<value>.)"})}, "either json_path"),
        ({"site": command(["true"], rate=RATE | {"pattern": r"(\d+)"})}, "no group for the number"),
        ({"site": command(["true"], rate=RATE | {"pattern": "("})}, "not a regular expression"),
        ({"site": command(["true"], rate=RATE | {"json_path": "a", "unit": "furlongs"})}, "unit"),
        ({"site": command(["true"], fairness=RATE | {"json_path": "a"})}, "iotide uses this name"),
        ({"site": command(["true"], rate=RATE | {"json_path": "a"}) | {"expected_seconds": 0}}, "expected_seconds"),
        (
            {
                "one": command(["true"], rate=RATE | {"json_path": "a"}),
                "two": command(["true"], rate=RATE | {"json_path": "a", "better": "lower"}),
            },
            "a different title, unit or direction",
        ),
    ],
)
def test_setting_that_cannot_work_is_refused(commands: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        CommandWorkload({"commands": commands})
