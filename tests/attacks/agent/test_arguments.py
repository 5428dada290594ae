"""Hostile texts in argument lists: each is rejected or passed as one literal argument, never interpreted."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from factories.outcomes import make_place, run_groups, steps_of
from factories.tiny_runs import MADE_BEFORE, SETTINGS, TINY, real_workloads
from pydantic import ValidationError

from iotide_agent.workloads.base import Place, PlanRefusedError
from iotide_agent.workloads.registry import all_workloads
from iotide_agent.workloads.registry import workload as workload_of

HOSTILE_TEXTS = (
    "$(touch canary)",
    "`touch canary`",
    "; touch canary",
    "x|touch${IFS}canary",
    "x;touch$IFS'canary'",
    "-o/etc/passwd",
    "--output=/etc/passwd",
    "-",
    "--",
    "../../etc/passwd",
    "x/../../../etc/passwd",
    "/etc/passwd",
    "x\n[evil]\nexec_prerun=touch canary",
    "x\ny",
    "x\0y",
    "'\"\\",
    "%s%n",
    "*",
    "~root/.ssh/authorized_keys",
    "x:/etc/passwd",
    "x@/etc/passwd",
    "{directory}/{target}",
)
HOSTILE_NAME = "-o x $(touch canary) `touch canary`|touch canary&$ncpus ${HOME} %s%n 'q' \"d\" \\ *:x,y\n[evil]"
COMMENTED_NAME = "x;touch canary#y"
"""Valid directory names."""
_ONE_PATH = re.compile(r"(--[a-z_]+=)?/", re.DOTALL)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


@pytest.mark.parametrize("name", sorted(all_workloads()))
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_text_in_any_option_is_refused_or_part_of_one_path(name: str, text: str, place: Place) -> None:
    workload = workload_of(name, SETTINGS)
    for option in workload.options_schema()["properties"]:
        for value in (text, [text], {text: text}):
            try:
                options = workload.options_type.model_validate({option: value})
                steps = steps_of(workload, options, place)
            except (ValidationError, PlanRefusedError):
                continue
            arguments = [argument for step in steps for argument in step.argv]
            assert text not in arguments, option
            # As fio receives it.
            for argument in (found for found in arguments if text.replace(":", r"\:") in found and len(text) > 2):
                assert _ONE_PATH.match(argument), (option, argument)
                assert f"{place.directory}/" in argument, (option, argument)


@pytest.mark.parametrize("name", sorted(all_workloads()))
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_option_of_a_hostile_name_is_refused(name: str, text: str) -> None:
    with pytest.raises(ValidationError):
        workload_of(name, SETTINGS).options_type.model_validate({text: 1})


@pytest.mark.parametrize(
    ("name", "called"),
    [
        *((name, HOSTILE_NAME) for name in real_workloads()),
        *((name, COMMENTED_NAME) for name in ("bonnie", "dd", "fill", "fio", "iozone")),
    ],
)
def test_tool_in_a_directory_of_a_hostile_name_works_there_and_starts_nothing(
    name: str, called: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = make_place(tmp_path)
    directory = made.directory.parent / called / "run"
    directory.mkdir(parents=True)
    place = replace(made, directory=directory)
    workload = workload_of(name, SETTINGS)
    if name in MADE_BEFORE:
        (directory / MADE_BEFORE[name]).write_bytes(bytes(4 * 1024**2))
    options = workload.options_type.model_validate(TINY[name][0])
    outcomes = run_groups(workload.plan(options, [place]), place)
    assert [workload.failure(outcome) for outcome in outcomes] == [None] * len(outcomes)
    assert list(named_canary(tmp_path)) == []
    assert {path.name for path in tmp_path.iterdir()} == {"target", "scratch"}
    assert {path.name for path in made.directory.parent.iterdir()} == {"run", called}


def named_canary(top: Path) -> Iterator[Path]:
    yield from (path for path in (*top.rglob("*"), *Path.cwd().iterdir()) if path.name.startswith("canary"))


@pytest.mark.parametrize("name", ["ior", "mdtest"])
def test_directory_that_the_tool_would_take_for_a_list_of_several_is_refused(name: str, place: Place) -> None:
    workload: Any = workload_of(name, SETTINGS)
    listed = replace(place, directory=place.directory / "x@" / "etc")
    with pytest.raises(PlanRefusedError, match="as a list because of its @"):
        workload.plan(workload.options_type(), [listed])


@pytest.mark.parametrize("path", ["x;y", "x#y", "below/x;", "#"])
def test_file_that_fio_would_take_for_another_is_not_read(path: str, place: Place) -> None:
    workload: Any = workload_of("rawread", {})
    with pytest.raises(PlanRefusedError, match="fio ignores the part"):
        workload.plan(workload.options_type(path=path), [place])


@pytest.mark.parametrize("path", ["/etc/shadow", "/dev/sda", "/dev/iotide-test/../sda", "../x", "x/../../y", ".hidden"])
def test_file_or_device_that_the_administrator_did_not_list_is_not_read(path: str, place: Place) -> None:
    workload: Any = workload_of("rawread", {"rawread": {"readable": ["/dev/iotide-test"]}})
    with pytest.raises((PlanRefusedError, ValidationError)):
        workload.plan(workload.options_type(path=path), [place])
