from dataclasses import replace

import pytest
from factories.outcomes import MEMORY_BYTES, steps_of
from pydantic import ValidationError

from iotide_agent.workloads.base import Place
from iotide_agent.workloads.iozone import IozoneWorkload
from iotide_agent.workloads.iozone_options import IozoneOptions
from iotide_wire.expressions import evaluate
from iotide_wire.units import KIB, MIB

IOZONE = IozoneWorkload()


@pytest.mark.parametrize(
    ("given", "largest_bytes"),
    [
        ({"file_size_bytes": "auto"}, 2 * MEMORY_BYTES),
        ({"file_size_bytes": "auto", "min_file_size_bytes": 96 * KIB}, 3 * MEMORY_BYTES),
        ({"file_size_bytes": 3 * MIB}, 2 * MIB),
        ({"file_size_bytes": 3 * MIB, "min_file_size_bytes": 96 * KIB}, 3 * MIB),
        ({"file_size_bytes": MIB, "min_record_size_bytes": MIB}, MIB),
    ],
)
def test_server_foresees_the_exact_file_at_which_doubling_ends(
    place: Place, given: dict[str, object], largest_bytes: int
) -> None:
    options = IozoneOptions.model_validate({"mode": "auto", **given})
    [step] = steps_of(IOZONE, options, place)
    assert step.argv[step.argv.index("-g") + 1] == str(largest_bytes // KIB)
    values = {**place.facts, **options.model_dump(mode="json")}
    assert evaluate(IOZONE.bytes_needed, values) == largest_bytes


def test_auto_reaches_twice_a_memory_that_is_no_power_of_two(place: Place) -> None:
    odd = replace(place, facts={"memory.total_bytes": 25_182_601_216})
    options = IozoneOptions.model_validate({"mode": "auto", "file_size_bytes": "auto", "tests": ["write", "read"]})
    [step] = steps_of(IOZONE, options, odd)
    assert step.argv[step.argv.index("-g") + 1] == str(64 * 1024**2)


def test_no_choice_ever_unmounts_anything(place: Place) -> None:
    for mode in ("auto", "records", "throughput"):
        [step] = steps_of(IOZONE, IozoneOptions.model_validate({"mode": mode, "flush": "direct"}), place)
        assert not any(argument.startswith("-U") for argument in step.argv)
        assert step.stall_seconds


def test_bytes_to_move_are_those_of_the_plan(place: Place) -> None:
    for given in (
        {"mode": "auto", "file_size_bytes": 64 * MIB, "min_file_size_bytes": 32 * MIB, "tests": ["write", "fread"]},
        {"file_size_bytes": 64 * MIB, "min_record_size_bytes": 65536, "max_record_size_bytes": 2 * MIB},
        {"mode": "throughput", "processes": 3, "file_size_bytes": 64 * MIB, "tests": ["write", "read", "random"]},
        {"mode": "throughput", "processes": 3, "file_size_bytes": 64 * MIB, "tests": ["write", "mixed"]},
        {"file_size_bytes": 64 * MIB, "tests": ["write", "pwrite", "pread"]},
    ):
        options = IozoneOptions.model_validate(given)
        [step] = steps_of(IOZONE, options, place)
        assert step.bytes_moved == evaluate(IOZONE.bytes_moved, options.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"min_record_size_bytes": 8192, "max_record_size_bytes": 4096}, "larger than max_record_size_bytes"),
        ({"mode": "auto", "min_file_size_bytes": 2**31}, "min_file_size_bytes is larger"),
        ({"mode": "throughput", "file_size_bytes": 65536}, "smaller than a record of 16777216"),
        ({"file_size_bytes": 1000}, "file_size_bytes"),
        ({"max_record_size_bytes": 5000}, "max_record_size_bytes"),
        ({"tests": ["read"]}, "include write, which creates the file"),
        ({"tests": ["write", "write"]}, "only once"),
        ({"processes": 0}, "processes"),
        ({"tests": ["write", "mixed"]}, "mixed needs mode = throughput"),
    ],
)
def test_bad_options_are_named(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        IozoneOptions.model_validate(changed)
