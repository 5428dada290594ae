"""Runs tiny workloads with each release of their tools that is here, and prints what iotide reads of it.

`python tests/tools.py DIRECTORY`, where `tests/fetch-tools.sh` unpacked releases. Recorded outputs stand for others.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from factories.outcomes import make_place, run_steps, steps_of
from factories.released_outputs import RELEASED
from factories.tiny_runs import TINY

from iotide_agent.probes.reader import SystemReader
from iotide_agent.workloads.base import OutputRefusedError, Parsed, Place
from iotide_agent.workloads.registry import announcement, workload

_WORKLOADS: Final = ("dd", "fio", "iozone", "bonnie", "ior", "mdtest")
Row = tuple[str, str, str, str]


def main(directory: Path) -> int:
    """Return 1 if a release that should be read was not."""
    rows = [row for name in _WORKLOADS for row in (*_run(name, directory), *_recorded(name))]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in (("workload", "release", "from", "read"), *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join((*cells, row[-1])))  # noqa: T201 - the table is what the command is for
    return int(any(row[-1].startswith("NOT READ") for row in rows))


def _run(name: str, directory: Path) -> Iterator[Row]:
    tool = str(workload(name, {}).tool)
    installed = shutil.which(tool)
    programs = [Path(installed)] if installed else []
    usual = os.environ["PATH"]
    for program in (*programs, *sorted(directory.glob(f"*/bin/{tool}"))):
        os.environ["PATH"] = f"{program.parent}:{usual}"
        announced = announcement(workload(name, {}), SystemReader())
        origin = program.parent.parent.name if directory in program.parents else "installed"
        said = _shown(partial(_measure, name)) if announced.available else f"refused: {announced.unavailable_because}"
        yield name, announced.tool_version or "?", origin, said
    os.environ["PATH"] = usual


def _measure(name: str, place: Place) -> Parsed:
    found = workload(name, {})
    options = found.options_type.model_validate(TINY[name][0])
    outcomes = run_steps(steps_of(found, options, place), place)
    for outcome in outcomes:
        if failure := found.failure(outcome):
            raise OutputRefusedError(outcome.step.name, failure, outcome.stderr)
    return Parsed.of_all(found.read(options, place, outcome) for outcome in outcomes)


def _recorded(name: str) -> Iterator[Row]:
    for one in (one for one in RELEASED if one.workload == name):
        said = _shown(one.read)
        yield name, one.release, "recorded", said.replace("NOT READ", "refused") if one.refusal else said


def _shown(read: Callable[[Place], Parsed]) -> str:
    with tempfile.TemporaryDirectory() as own:
        try:
            samples = read(make_place(Path(own))).samples
        except OutputRefusedError as error:
            return f"NOT READ: {' '.join(str(error).split())[:160]}"
    first = samples[0]
    labels = " ".join(str(first.labels[label]) for label in ("operation", "order") if label in first.labels)
    return f"{len(samples)} values, {first.metric} {labels} {first.value:,.0f}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
