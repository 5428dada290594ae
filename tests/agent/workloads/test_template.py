"""The template of docs/plug-ins works as it stands, and is found the way an installed package is."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from factories.outcomes import read_all, run_steps, steps_of

from iotide_agent.probes.reader import SystemReader
from iotide_agent.workloads.base import OutputRefusedError, Place
from iotide_agent.workloads.registry import all_workloads, announcements, workload

TEMPLATE = Path(__file__).parents[3] / "docs/plug-ins/template"


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """On the path, with the entry points of its pyproject.toml, which are all that an installer adds."""
    information = tmp_path / "iotide_sha256-0.1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: iotide-sha256\nVersion: 0.1.0\n")
    (information / "entry_points.txt").write_text("[iotide.workloads]\nsha256 = iotide_sha256:Sha256Workload\n")
    monkeypatch.syspath_prepend(TEMPLATE / "src")
    monkeypatch.syspath_prepend(tmp_path)
    all_workloads.cache_clear()
    yield
    all_workloads.cache_clear()
    sys.modules.pop("iotide_sha256", None)


def test_the_template_announces_its_form_and_metric() -> None:
    [found] = [item for item in announcements(SystemReader(), {}) if item.name == "sha256"]
    assert found.available
    assert found.options_schema["properties"]["file_size_bytes"]["x-unit"] == "bytes"
    assert [metric.name for metric in found.metrics] == ["throughput"]


def test_the_template_measures_for_real_and_refuses_a_cut_output(place: Place) -> None:
    sha256 = workload("sha256", {})
    options = sha256.options_type(file_size_bytes=4 * 1024**2)
    outcomes = run_steps(steps_of(sha256, options, place), place)

    [sample] = read_all(sha256, options, place, outcomes).samples

    assert sample.value == pytest.approx(4 * 1024**2 / outcomes[1].wall_seconds)
    for end in range(len(outcomes[1].stdout)):
        with pytest.raises(OutputRefusedError):
            sha256.read(options, place, replace(outcomes[1], stdout=outcomes[1].stdout[:end]))


def test_the_entry_point_is_the_one_that_its_project_declares() -> None:
    assert 'sha256 = "iotide_sha256:Sha256Workload"' in (TEMPLATE / "pyproject.toml").read_text()
