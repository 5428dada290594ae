"""Commands and flags of the sample data equal those of this release's agent."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import iotide_agent.loads
from iotide_agent.workloads import quality
from iotide_agent.workloads.base import Before, Place
from iotide_agent.workloads.iozone_quality import judge_cells
from iotide_agent.workloads.iozone_report import Row
from iotide_agent.workloads.registry import all_workloads
from iotide_server.demo_history.commands import LOADS, PYTHON, Directories, commands_of
from iotide_server.demo_history.records import cautions_of
from iotide_server.demo_history.sites import SITES, SampleCluster, SampleLoad
from iotide_wire.measured import Flag, NotJudged
from iotide_wire.units import KIB

DIRECTORIES = Directories("/target/iotide-run-1-1-1", "/state/orders/1/scratch/target-1")
LOADS_OF_SITES = [(site, load) for site in SITES for routine in site.routines for load in routine.loads]
OF_IOZONE = [(site, load) for site, load in LOADS_OF_SITES if load.workload == "iozone"]


def named(found: tuple[SampleCluster, SampleLoad]) -> str:
    site, load = found
    return f"{site.name}-{load.workload}-{load.target}"


def place_of(site: SampleCluster, load: SampleLoad) -> Place:
    mounted = site.target(load.target)
    return Place(
        target_id=None,
        directory=Path(DIRECTORIES.run),
        scratch=Path(DIRECTORIES.scratch),
        fstype=mounted.fstype,
        direct_works=True,
        total_bytes=mounted.total_bytes,
        free_bytes=mounted.total_bytes,
        facts={**site.facts, **mounted.facts},
    )


def levels_of(load: SampleLoad) -> list[float]:
    return [figure.level for figure in load.figures]


@pytest.mark.parametrize("found", LOADS_OF_SITES, ids=named)
def test_a_load_has_the_commands_that_the_agent_runs(
    found: tuple[SampleCluster, SampleLoad], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", PYTHON)
    site, load = found
    workload = all_workloads()[load.workload]
    groups = workload.groups(workload.options_type.model_validate(load.options), place_of(site, load))
    own_loads = str(Path(iotide_agent.loads.__path__[0]))
    planned = [
        (step.name, step.phase, tuple(word.replace(own_loads, LOADS) for word in step.argv), step.before)
        for group in groups
        for step in group
    ]
    commands = commands_of(load, DIRECTORIES, levels_of(load))
    assert [(one.name, one.title, one.argv, Before(one.before)) for one in commands] == planned


def judged(load: SampleLoad, site: SampleCluster) -> Sequence[Flag]:
    commands = commands_of(load, DIRECTORIES, levels_of(load))
    return cautions_of(load, site.target(load.target), site.memory_bytes, commands)


@pytest.mark.parametrize("found", OF_IOZONE, ids=named)
def test_a_table_of_iozone_has_the_flags_that_the_agent_raises(found: tuple[SampleCluster, SampleLoad]) -> None:
    site, load = found
    rates: dict[tuple[int, int], dict[str, int]] = {}
    for figure in load.figures:
        sizes = int(figure.labels["file_size_bytes"]), int(figure.labels["record_size_bytes"])
        rates.setdefault(sizes, {})[str(figure.labels["operation"])] = round(figure.level / KIB)
    rows = [Row(size // KIB, record // KIB, own) for (size, record), own in rates.items()]
    expected = judge_cells(place_of(site, load), rows, 1e-6, "fsync", Before.DROP)
    assert sorted(judged(load, site), key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize(
    "found", [found for found in LOADS_OF_SITES if found[1].workload not in {"iozone", "fio"}], ids=named
)
def test_other_loads_have_the_flags_of_their_sizes_and_durations(found: tuple[SampleCluster, SampleLoad]) -> None:
    site, load = found
    place = place_of(site, load)
    expected: list[Flag | NotJudged] = []
    for command in commands_of(load, DIRECTORIES, levels_of(load)):
        if load.workload == "dd":
            expected += quality.judge_cache_size(place, load.options["file_size_bytes"], direct=False)
            expected += quality.judge_duration(command.name, command.seconds, 1e-9)
            expected += quality.judge_data(load.options["data"])
        else:
            expected += quality.judge_metadata_duration(command.name, command.seconds, 1e-3)
    others = [flag for flag in judged(load, site) if flag.code != "CACHE_DROP"]
    assert [flag.model_copy(update={"labels": {}}) for flag in others] == expected, "every check has an answer"
