from configparser import ConfigParser
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from iotide_agent.workloads.base import Place, PlanRefusedError
from iotide_agent.workloads.io500_options import NODE_BYTES, NODE_FILES, RUN_SECONDS, Io500Options, ini_file
from iotide_wire.expressions import evaluate
from iotide_wire.units import MIB

MINI: dict[str, object] = {
    "tasks": 2,
    "stonewall_seconds": 2,
    "easy_transfer_size_bytes": MIB,
    "easy_block_size_bytes": 256 * MIB,
    "hard_segments": 2000,
    "easy_files": 4000,
    "hard_files": 1500,
}


class CaseKept(ConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr


def ini_of(options: Io500Options, place: Place) -> ConfigParser:
    parser = CaseKept()
    parser.read_string(ini_file(options, place))
    return parser


def test_file_names_the_directories_of_the_run_without_a_time(place: Place) -> None:
    ini = ini_of(Io500Options.model_validate(MINI), place)
    assert dict(ini["global"]) == {
        "datadir": str(place.directory / "data"),
        "timestamp-datadir": "FALSE",
        "resultdir": str(place.scratch / "io500"),
        "timestamp-resultdir": "FALSE",
        "api": "POSIX",
        "drop-caches": "FALSE",
        "verbosity": "1",
    }
    assert ini["debug"]["stonewall-time"] == "2"
    assert (ini["ior-easy"]["blockSize"], ini["ior-hard"]["segmentCount"]) == (str(256 * MIB), "2000")
    assert (ini["mdtest-easy"]["n"], ini["mdtest-hard"]["n"]) == ("4000", "1500")
    assert "nproc" not in ini["find"]


def test_interfaces_and_find_are_as_chosen(place: Place) -> None:
    chosen = {"easy_direct": True, "hard_api": "MPIIO-collective", "find_tasks": 1}
    options = Io500Options.model_validate(MINI | chosen)
    ini = ini_of(options, replace(place, direct_works=True))
    assert ini["ior-easy"]["API"] == "POSIX --posix.odirect"
    assert ini_of(options, replace(place, direct_works=False))["ior-easy"]["API"] == "POSIX"
    assert (ini["ior-hard"]["API"], ini["ior-hard"]["collective"], ini["find"]["nproc"]) == ("MPIIO", "TRUE", "1")


def test_space_and_time_have_bounds() -> None:
    options = Io500Options.model_validate(MINI)
    given = options.model_dump()
    assert evaluate(NODE_BYTES, given) == 2 * (256 * MIB + 47_008 * 2000 + 4096 * 4000 + 8192 * 1500)
    assert evaluate(NODE_FILES, given) == 2 * (4000 + 1500 + 2)
    assert evaluate(RUN_SECONDS, given) == 20 * 2 + 900


def test_only_300_seconds_are_a_run_of_the_list() -> None:
    assert (Io500Options().series, Io500Options.model_validate(MINI).series) == ("io500", "io500-mini")


@pytest.mark.parametrize("name", ["a b", "a#b", "a;b", "a,b", "a@b", "a\nb", 'a"b'])
def test_directory_that_the_file_would_split_is_refused(name: str, place: Place) -> None:
    with pytest.raises(PlanRefusedError, match="the IO500 cannot use"):
        ini_file(Io500Options(), replace(place, directory=Path("/mnt") / name))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"easy_block_size_bytes": 3 * MIB, "easy_transfer_size_bytes": 2 * MIB}, "use a multiple of"),
        ({"easy_direct": True, "easy_api": "MPIIO"}, "MPIIO has no O_DIRECT"),
    ],
)
def test_impossible_phases_are_refused(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Io500Options.model_validate(changed)
