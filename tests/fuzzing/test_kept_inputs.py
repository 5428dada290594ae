"""Kept findings and corpus inputs, read again; `./dev bench fuzz` is the fuzzing itself."""

from pathlib import Path

import pytest
from fuzzing.harness import DATA, kept, try_input
from fuzzing.hostile import hostile
from fuzzing.targets import FileParser, all_targets

FEW = 40
"""Number of the hostile inputs, which are made again each time."""


@pytest.fixture(autouse=True)
def place_of_files(tmp_path: Path) -> None:
    FileParser.directory = tmp_path


@pytest.mark.parametrize("name", all_targets())
def test_parser_keeps_its_promise_on_all_that_is_kept_and_recorded(name: str) -> None:
    target = all_targets()[name]
    seeds = list(target.seeds())
    found = {file.name: file.read_bytes() for kind in ("findings", "corpus") for file in kept(kind, name)}
    made = list(hostile(seeds, target.choices))
    found |= {f"seed {number}": seed for number, seed in enumerate(seeds)}
    found |= {f"hostile {number}": made[number] for number in range(0, len(made), max(1, len(made) // FEW))}
    broken = {label: finding.words for label, data in found.items() if (finding := try_input(target, data))}
    assert broken == {}


def test_everything_that_is_kept_belongs_to_a_parser() -> None:
    names = {directory.name for kind in ("findings", "corpus", "seeds") for directory in (DATA / kind).glob("*")}
    assert names <= all_targets().keys()
