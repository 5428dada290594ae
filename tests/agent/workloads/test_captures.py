"""Every captured output of every tool, whole and cut anywhere, under options that fit it and under some that do not."""

import contextlib
from dataclasses import replace
from typing import Any

import pytest
from factories.outcomes import DATA, as_step, captured, steps_of
from factories.tiny_runs import TINY

from iotide_agent.workloads.base import OutputRefusedError, Place, Sample, StepOutcome, Workload
from iotide_agent.workloads.registry import workload

TOOLS = ("dd", "fio", "iozone", "bonnie", "ior", "mdtest")
CAPTURES = [
    f"{tool}/{path.name.removesuffix('.meta.json')}"
    for tool in TOOLS
    for path in sorted((DATA / tool).glob("*.meta.json"))
]
SMALL_BYTES = 500
"""Shorter texts are cut at every byte, others after every line, the longest at so many places."""
MOST_CUTS = 120


@pytest.mark.parametrize("capture", CAPTURES)
def test_capture_cut_anywhere_says_the_same_or_is_refused(capture: str, place: Place) -> None:
    tool = capture.partition("/")[0]
    found = workload(tool, {})
    options = found.options_type.model_validate(TINY[tool][0])
    steps = steps_of(found, options, place)
    for step in dict.fromkeys((steps[0], steps[-1])):
        whole = as_step(captured(capture), step)
        said = samples_of(found, options, place, whole)
        for end in ends(whole.stdout):
            text = whole.stdout[:end]
            cut = replace(whole, stdout=text, files=dict.fromkeys(whole.files, text))
            assert samples_of(found, options, place, cut) in (None, said), end
        for end in ends(whole.stderr):
            # What a tool complained of last may be cut off here, so it only must not be a fault.
            samples_of(found, options, place, replace(whole, stderr=whole.stderr[:end]))


def samples_of(found: Workload[Any], options: Any, place: Place, outcome: StepOutcome) -> list[Sample] | None:  # noqa: ANN401 - of its type
    """What it says as a whole run; None where it failed, by whatever words, or was refused."""
    failure = found.failure(outcome)
    assert failure is None or failure.strip()
    with contextlib.suppress(OutputRefusedError):
        found.read_cut(options, place, outcome)
    try:
        samples = list(found.read(options, place, outcome).samples)
    except OutputRefusedError:
        return None
    return samples if failure is None else None


def ends(text: str) -> list[int]:
    if len(text) <= SMALL_BYTES:
        return list(range(len(text)))
    found = [0, *(position + 1 for position, character in enumerate(text) if character == "\n")]
    return found[:: -(-len(found) // MOST_CUTS)]
