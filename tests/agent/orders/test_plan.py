from dataclasses import replace
from pathlib import Path

import pytest
from factories.outcomes import captured

from iotide_agent.orders.plan import write_input_files
from iotide_agent.workloads.base import InputFile, Step


def step_with(*files: InputFile) -> Step:
    return replace(captured("dd/c_fsync_1gib").step, input_files=files)


def test_input_files_are_written_below_scratch_before_the_run(tmp_path: Path) -> None:
    file = InputFile(tmp_path / "jobs.fio", "[a]\nsize=1048576\n")
    write_input_files([(step_with(file), step_with())], tmp_path)
    assert file.path.read_text() == file.text


@pytest.mark.parametrize("place", ["elsewhere/jobs.fio", "scratch/../jobs.fio", "scratch-too/jobs.fio"])
def test_input_file_that_is_not_below_scratch_is_refused_and_not_written(place: str, tmp_path: Path) -> None:
    scratch, path = tmp_path / "scratch", tmp_path / place
    for directory in (scratch, tmp_path / "elsewhere", tmp_path / "scratch-too"):
        directory.mkdir()
    with pytest.raises(ValueError, match="is not below"):
        write_input_files([(step_with(InputFile(path, "x")),)], scratch)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
