"""Every captured output of every tool, whole and cut, parsed with the options it was made with and with others."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from agent.workloads import test_bonnie, test_dd, test_fio, test_ior, test_iozone, test_mdtest
from factories.outcomes import DATA, as_step, captured, steps_of
from factories.tiny_runs import TINY

from iotide_agent.workloads.base import Options, OutputRefusedError, Place, Sample, StepOutcome, Workload
from iotide_agent.workloads.registry import workload

TOOLS = ("dd", "fio", "iozone", "bonnie", "ior", "mdtest")
CAPTURES = [
    f"{tool}/{path.name.removesuffix('.meta.json')}"
    for tool in TOOLS
    for path in sorted((DATA / tool).glob("*.meta.json"))
]
SMALL_BYTES = 500
"""Shorter texts are cut at every byte, longer ones after every line; with other options, at this many of them."""
MOST_CUTS = 60
FILES = {"fio/seq_write_json": "fio/seq_write"}
"""Where the JSON went if it was not printed, for tools that use another file name."""


def options_of(tool: str, made: Mapping[str, tuple[Any, ...]]) -> dict[str, Options]:
    """Return the options of each capture, from the table of its tool's tests."""
    validate = workload(tool, {}).options_type.model_validate
    return {f"{tool}/{name}": validate(given) for name, (given, *_) in made.items()}


READ: dict[str, Options] = {
    **{f"dd/{name}": test_dd.options_for(block, size) for name, (block, size, _) in test_dd.GOOD.items()},
    **options_of("fio", test_fio.GOOD),
    **options_of("iozone", test_iozone.GOOD),
    **options_of("bonnie", test_bonnie.GOOD),
    **options_of("ior", test_ior.GOOD),
    **options_of("mdtest", test_mdtest.GOOD),
}
"""Captures that show the requested behaviour, with the options that request it."""


@pytest.mark.parametrize("capture", READ)
def test_capture_cut_after_any_line_says_the_same_or_is_refused(capture: str, place: Place) -> None:
    found, options = workload(capture.partition("/")[0], {}), READ[capture]
    said = [cut_anywhere(found, options, place, whole, None) for whole in as_steps(capture, found, options, place)]
    assert any(said) or found.failure(captured(capture))


@pytest.mark.parametrize("capture", CAPTURES)
def test_capture_of_other_options_cut_anywhere_says_the_same_or_is_refused(capture: str, place: Place) -> None:
    tool = capture.partition("/")[0]
    found = workload(tool, {})
    options = found.options_type.model_validate(TINY[tool][0])
    for whole in as_steps(capture, found, options, place):
        cut_anywhere(found, options, place, whole, MOST_CUTS)


def as_steps(capture: str, found: Workload[Any], options: Options, place: Place) -> list[StepOutcome]:
    """Return the capture as the first and as the last step, with its JSON in a file if it was written there.

    Captures of bonnie++ are a single start for all tests, as runs of revision 1 are.
    """
    has_times = (DATA / f"{capture}.meta.json").exists()
    outcome = captured(capture if has_times else "ior/json_file")
    json_file = DATA / f"{FILES.get(capture, capture)}.json"
    if json_file.exists():
        outcome = replace(outcome, stdout=json_file.read_text())
    steps = steps_of(found, options, place)
    ends_of_run = [replace(steps[0], name="bonnie")] if found.name == "bonnie" else [steps[0], steps[-1]]
    return [as_step(outcome, step) for step in dict.fromkeys(ends_of_run)]


def cut_anywhere(
    found: Workload[Any], options: Options, place: Place, whole: StepOutcome, most_cuts: int | None
) -> list[Sample] | None:
    """Return the parsed whole, after checking that no cut of it yields other values."""
    said = samples_of(found, options, place, whole)
    for end in ends(whole.stdout, most_cuts):
        text = whole.stdout[:end]
        cut = replace(whole, stdout=text, files=dict.fromkeys(whole.files, text))
        assert samples_of(found, options, place, cut) in (None, said), end
    for end in ends(whole.stderr, most_cuts):
        # The tool's last message may be cut off here, so any failure reason is accepted, but no error of the parser.
        samples_of(found, options, place, replace(whole, stderr=whole.stderr[:end]))
    return said


def samples_of(found: Workload[Any], options: Any, place: Place, outcome: StepOutcome) -> list[Sample] | None:  # noqa: ANN401 - of its type
    """Return the samples of the whole capture; None where the run failed or was rejected."""
    failure = found.failure(outcome)
    assert failure is None or failure.strip()
    with contextlib.suppress(OutputRefusedError):
        found.read_cut(options, place, outcome)
    try:
        samples = list(found.read(options, place, outcome).samples)
    except OutputRefusedError:
        return None
    return samples if failure is None else None


def ends(text: str, most: int | None) -> list[int]:
    if len(text) <= SMALL_BYTES:
        return list(range(len(text)))
    found = [0, *(position + 1 for position, character in enumerate(text) if character == "\n")]
    return found[:: -(-len(found) // most) if most else 1]
