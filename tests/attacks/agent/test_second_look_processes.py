"""Very many processes on very many targets, each with little memory."""

from typing import Any

import pytest

from iotide_agent.runner.memory import Memory
from iotide_agent.workloads.base import Options
from iotide_agent.workloads.bonnie import BonnieOptions
from iotide_agent.workloads.bounds import why_too_large
from iotide_agent.workloads.create import CreateOptions
from iotide_agent.workloads.dd import DdOptions
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.ior import IorOptions
from iotide_agent.workloads.iozone_options import IozoneOptions
from iotide_wire.units import MIB

NODE = Memory(64 * 1024 * MIB, 64 * 1024 * MIB)
RANDOM_JOB = "[global]\nsize=1024t\nbs=512,4k\nrw=randread\n[map]\n[none]\nstonewall\nnorandommap\n"


@pytest.mark.parametrize(
    ("options", "needed_bytes", "because"),
    [
        (CreateOptions(processes=256), 256 * 12 * MIB, "256 processes of 12 MiB"),
        (BonnieOptions(), 4 * MIB, "1 processes of 4 MiB"),
        (
            DdOptions(block_size_bytes=4096, writers=64, data="random"),
            64 * 4096 + 128 * 4 * MIB,
            "block_size_bytes 4 KiB x writers 64 and 128 processes of 4 MiB",
        ),
        (
            IozoneOptions(mode="throughput", processes=256),
            256 * 20 * MIB,
            "max_record_size_bytes 16 MiB x processes 256 and 256 processes of 4 MiB",
        ),
        (IorOptions(tasks=2), 34 * MIB, "transfer_size_bytes 1 MiB x tasks 2"),
    ],
)
def test_each_process_of_a_load_takes_memory(options: Options, needed_bytes: int, because: str) -> None:
    assert options.memory_needed_for(1) == (needed_bytes, because)
    assert options.memory_needed_for(20).needed_bytes == 20 * needed_bytes


def test_256_processes_on_each_of_40_targets_are_refused() -> None:
    options = CreateOptions(processes=256)
    assert why_too_large(options.memory_needed_for(10), NODE) is None
    refused = why_too_large(options.memory_needed_for(40), NODE)
    assert refused is not None
    assert refused.reason.startswith("256 processes of 12 MiB x 40 targets needs 120 GiB of memory; ")


def test_a_map_of_random_blocks_takes_a_bit_for_each() -> None:
    own: dict[str, Any] = {"block_size_bytes": 512, "file_size_bytes": 2**50, "num_jobs": 2}
    assert FioOptions(rw="read", **own).memory_needed().needed_bytes == 1024
    needed_bytes, because = FioOptions(rw="randread", **own).memory_needed()
    assert needed_bytes == 1024 + 2 * 2**38
    assert because.endswith(f" with a map of file_size_bytes / block_size_bytes = {2**41} blocks each")


def test_a_job_file_has_such_maps_unless_it_says_norandommap() -> None:
    options = FioOptions(job_file=RANDOM_JOB, space_bytes=2**52)
    assert options.memory_needed().needed_bytes == 4096 + 2**38
    without = FioOptions(job_file=RANDOM_JOB.replace("[map]", "norandommap\n[map]"), space_bytes=2**52)
    assert without.memory_needed().needed_bytes == 4096
