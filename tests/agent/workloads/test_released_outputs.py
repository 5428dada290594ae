"""Outputs of releases that are not installed here: the right values, or a refusal that says why."""

from dataclasses import replace

import pytest
from factories.outcomes import as_step
from factories.released_outputs import FOLDER, RELEASED, Printed, Released

from iotide_agent.workloads.base import OutputRefusedError, Place
from iotide_agent.workloads.registry import announcement, workload

READ = [one for one in RELEASED if not one.refusal]
BUSYBOX = "dd: unrecognized option '--version'\nBusyBox v1.36.1 multi-call binary.\n\nUsage: dd [if=FILE] [of=FILE]\n"


def test_every_output_is_accounted_for() -> None:
    assert {one.file for one in RELEASED} == {path.name for path in FOLDER.iterdir()}


@pytest.mark.parametrize("one", READ, ids=lambda one: one.file)
def test_release_is_read_with_its_right_values(one: Released, place: Place) -> None:
    found = one.found(one.read(place))
    assert found == {key: [pytest.approx(value)] for key, value in one.values.items()}


@pytest.mark.parametrize("one", [one for one in RELEASED if one.refusal], ids=lambda one: one.file)
def test_release_that_cannot_be_read_is_refused_with_the_reason(one: Released, place: Place) -> None:
    with pytest.raises(OutputRefusedError, match=one.refusal):
        one.read(place)


@pytest.mark.parametrize("one", READ, ids=lambda one: one.file)
def test_output_cut_at_any_byte_says_the_same_or_is_refused(one: Released, place: Place) -> None:
    """A cut run may have fewer values, but no others."""
    found = workload(one.workload, {})
    options = found.options_type.model_validate(one.options)
    whole = one.outcome(place)
    text = whole.stdout or whole.stderr
    said = [sample for sample in one.read(place).samples if sample.metric != "duration"]
    for end in range(0, len(text), 1 + len(text) // 500):
        stdout, stderr = (text[:end], "") if whole.stdout else ("", text[:end])
        cut = as_step(replace(whole, stdout=stdout, stderr=stderr), whole.step)
        for read in (found.read, found.read_cut):
            try:
                kept = read(options, place, cut).samples
            except OutputRefusedError:
                continue
            assert [sample for sample in kept if sample.metric != "duration" and sample not in said] == [], end


@pytest.mark.parametrize("name", ["dd", "fill"])
@pytest.mark.parametrize("printed", [BUSYBOX, BUSYBOX.partition("\n")[2]])
def test_busybox_dd_is_refused_before_any_run(name: str, printed: str) -> None:
    found = announcement(workload(name, {}), Printed(printed))
    assert found.unavailable_because == (
        "'BusyBox v1.36.1 multi-call binary.' is not uutils dd or GNU dd; install the package coreutils on this node"
    )


@pytest.mark.parametrize(
    ("name", "printed", "version"),
    [
        ("dd", "dd (coreutils) 8.22\nCopyright", "dd (coreutils) 8.22"),
        ("dd", "dd (uutils coreutils) 0.8.0\n", "dd (uutils coreutils) 0.8.0"),
        ("iozone", "        Version $Revision: 3.315 $\n", "3.315"),
        ("bonnie", "Version: 1.96\n", "1.96"),
    ],
)
def test_release_in_the_table_is_available(name: str, printed: str, version: str) -> None:
    found = announcement(workload(name, {}), Printed(printed))
    assert (found.available, found.tool_version) == (True, version)


@pytest.mark.parametrize(
    ("name", "printed", "problem"),
    [
        ("bonnie", "Version: 1.03e\n", "bonnie++ 1.03 is too old, 1.96 or newer is needed"),
        ("iozone", "        Version $Revision: 3.263 $\n", "iozone 3.263 is too old, 3.300 or newer is needed"),
        ("dd", "dd (coreutils) 7.4\n", "GNU dd 7.4 is too old, 8.0 or newer is needed"),
    ],
)
def test_older_release_is_refused_before_any_run(name: str, printed: str, problem: str) -> None:
    assert announcement(workload(name, {}), Printed(printed)).unavailable_because == problem
