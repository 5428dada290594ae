"""Every workload writes data that storage can neither compress nor deduplicate, or has the flag ZEROES."""

from typing import Any

import pytest
from factories.outcomes import read_all, run_groups, run_steps, steps_of
from factories.tiny_runs import SETTINGS
from factories.written import ENOUGH_RATIO, stored_ratio

from iotide_agent.workloads.base import Place
from iotide_agent.workloads.registry import workload
from iotide_wire.measured import FlagCode
from iotide_wire.units import KIB, MIB

WRITTEN: list[tuple[str, dict[str, object]]] = [
    ("dd", {"file_size_bytes": 2 * MIB, "operations": ["write"], "data": "random"}),
    ("dd", {"file_size_bytes": 2 * MIB, "operations": ["write"]}),
    ("fill", {"file_size_bytes": MIB, "file_count": 2, "fill_percent": 95, "reserve_bytes": 0, "data": "random"}),
    ("fill", {"file_size_bytes": MIB, "file_count": 2, "fill_percent": 95, "reserve_bytes": 0}),
    *(
        ("fio", {"file_size_bytes": 2 * MIB, "block_size_bytes": size, "rw": rw, "num_jobs": 2})
        for size, rw in ((4 * KIB, "write"), (128 * KIB, "randwrite"), (MIB, "write"))
    ),
    ("fio", {"file_size_bytes": 2 * MIB, "block_size_bytes": 4 * KIB, "rw": "randrw"}),
    ("fio", {"file_size_bytes": 2 * MIB, "block_size_bytes": 4 * KIB, "rw": "randread"}),
    ("fio", {"job_file": "[small]\nrw=write\nsize=2m\nend_fsync=1\n"}),
    ("ior", {"tasks": 2, "transfers_per_block": 2, "operations": ["write"]}),
]


@pytest.mark.parametrize(("name", "options"), WRITTEN, ids=lambda value: value if isinstance(value, str) else "")
def test_written_records_are_distinct_and_incompressible_or_flagged(
    name: str, options: dict[str, object], place: Place
) -> None:
    found: Any = workload(name, SETTINGS)
    chosen = found.options_type.model_validate(options)
    outcomes = run_steps(steps_of(found, chosen, place), place)
    flags = {flag.code for flag in read_all(found, chosen, place, outcomes).flags}
    ratio = stored_ratio(file for file in place.directory.rglob("*") if file.is_file())
    assert (ratio < ENOUGH_RATIO) is (FlagCode.ZEROES in flags), ratio


@pytest.mark.parametrize("datagram_bytes", [1472, 8972])
def test_a_recorded_stream_neither_compresses_nor_repeats(place: Place, datagram_bytes: int) -> None:
    found: Any = workload("stream", SETTINGS)
    chosen = found.options_type.model_validate(
        {
            "duration_seconds": 1,
            "rate_bytes_per_second": 4_000_000,
            "files": "single",
            "datagram_bytes": datagram_bytes,
            "verify": True,
        }
    )
    run_groups(found.plan(chosen, [place])[:1], place)
    assert stored_ratio(file for file in place.directory.iterdir() if file.is_file()) >= ENOUGH_RATIO


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("iozone", {"file_size_bytes": MIB, "min_record_size_bytes": 262_144, "tests": ["write"]}),
        ("mdtest", {"tasks": 2, "item_count": 50, "operations": ["create"], "file_size_bytes": 32 * KIB}),
    ],
)
def test_tools_that_cannot_write_such_data_are_flagged_with_the_measured_ratio(
    name: str, options: dict[str, object], place: Place
) -> None:
    found: Any = workload(name, SETTINGS)
    chosen = found.options_type.model_validate(options)
    parsed = read_all(found, chosen, place, run_steps(steps_of(found, chosen, place), place))
    [measured] = {flag.measured for flag in parsed.flags if flag.code is FlagCode.ZEROES}
    assert "%" in measured
