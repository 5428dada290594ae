"""Options that ask for more memory than the node has, and loads that would take a neighbouring job's memory.

Of "Suspected, not tried": fio with a block of 1 GiB, depth 4096 and 64 jobs.
"""

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent.agent_rig import AgentRig
from agent.order_rig import Rig, python, step
from hypothesis import given
from hypothesis import strategies as st

from iotide_agent.runner.memory import Memory, read_memory
from iotide_agent.workloads.base import Options
from iotide_agent.workloads.bounds import MEMORY_RATIO, PROCESS_BYTES, why_too_large
from iotide_agent.workloads.dd import DdOptions
from iotide_agent.workloads.fio_options import FioOptions
from iotide_agent.workloads.ior import IorOptions
from iotide_agent.workloads.iozone_options import IozoneOptions
from iotide_agent.workloads.mdtest import MdtestOptions
from iotide_agent.workloads.rawread import RawreadOptions
from iotide_agent.workloads.registry import all_workloads
from iotide_agent.workloads.stream_options import StreamOptions
from iotide_wire.messages import Outcome
from iotide_wire.units import GIB

NODE = Memory(64 * GIB, 32 * GIB)
ASK_FOR_ALL = {"block_size_bytes": GIB, "io_engine": "libaio", "io_depth": 4096, "num_jobs": 64}
STATUS = """\
import resource
print(open("/proc/self/oom_score_adj").read().strip(), *resource.getrlimit(resource.RLIMIT_DATA))
"""
_RANDOM = "transfer_size_bytes 1 MiB x tasks 1, in random order with transfers_per_block x segments = 64 offsets each"
JOB_FILE = """\
[global]
size=1g
ioengine=libaio
[small]
bs=4k
[large]
stonewall
bssplit=4k/60:8m/40
iodepth=256
numjobs=32
[beside]
bs=1m,2m
"""


def test_a_run_with_buffers_larger_than_the_node_ends_before_its_tool_starts(agent: AgentRig) -> None:
    order_id = agent.offer("fio", ASK_FOR_ALL | {"rw": "write", "file_size_bytes": 4096})
    finish = agent.gateway.result(order_id)
    assert (finish.outcome, finish.reason_code) == (Outcome.FAILED, "memory_too_small")
    assert finish.reason is not None
    assert finish.reason.startswith(
        "block_size_bytes 1 GiB x io_depth 4096 x num_jobs 64 needs 256 TiB of memory; a load may use "
    )
    assert finish.reason.endswith("80 % of its memory; choose smaller values")
    assert finish.steps == ()


def test_a_load_dies_before_the_runner_and_every_neighbour_and_is_bounded_by_the_nodes_memory(
    make_rig: Callable[..., Rig],
) -> None:
    limit_bytes = read_memory().total_bytes
    rig = make_rig(memory_limit_bytes=limit_bytes)
    rig.start()
    rig.until_phase("ready")
    assert rig.process is not None
    of_runner = int(Path(f"/proc/{rig.process.pid}/oom_score_adj").read_text())
    rig.run_ready([step(*python(STATUS), name="status")])
    assert rig.output("000-status.stdout").split() == ["1000", str(limit_bytes), str(limit_bytes)]
    assert of_runner < 1000


def test_a_load_gets_no_more_than_its_bound(make_rig: Callable[..., Rig]) -> None:
    rig = make_rig(memory_limit_bytes=256 * 1024**2)
    ending = rig.run([step(*python("bytearray(2**29)"), name="write")])
    assert (ending["outcome"], ending["code"]) == ("failed", "step_failed")
    assert "MemoryError" in rig.output("000-write.stderr")


@pytest.mark.parametrize(
    ("options", "needed_bytes", "because"),
    [
        (FioOptions(**ASK_FOR_ALL), 2**48, "block_size_bytes 1 GiB x io_depth 4096 x num_jobs 64"),
        (
            FioOptions(job_file=JOB_FILE, space_bytes=100 * GIB),
            8 * 1024**2 * 256 * 32 + 2 * 1024**2,
            "job_file, section [large], a block of 8 MiB x iodepth 256 x numjobs 32 and 1 more at the same time",
        ),
        (DdOptions(block_size_bytes=GIB, writers=64), 64 * GIB, "block_size_bytes 1 GiB x writers 64"),
        (IorOptions(tasks=2), 34 * 1024**2, "transfer_size_bytes 1 MiB x tasks 2"),
        (
            IorOptions(tasks=1, random=True, transfers_per_block=16, segments=4),
            17 * 1024**2 + 8 * 64,
            _RANDOM,
        ),
        (MdtestOptions(tasks=4096, file_size_bytes=GIB), 4096 * (GIB + 2**24), "file_size_bytes 1 GiB x tasks 4096"),
        (IozoneOptions(), 2**24, "max_record_size_bytes 16 MiB"),
        (IozoneOptions(mode="throughput", processes=256), 2**32, "max_record_size_bytes 16 MiB x processes 256"),
        (RawreadOptions(random_block_size_bytes=GIB), 32 * GIB, "random_block_size_bytes 1 GiB x io_depth 32"),
        (RawreadOptions(patterns=("sequential",), io_depth=4096), 2**20, "block_size_bytes 1 MiB"),
        (StreamOptions(), 320 * 1024**2, "ring_bytes 256 MiB + socket_buffer_bytes 64 MiB"),
    ],
)
def test_the_memory_that_options_need_is_computed_and_shown(options: Options, needed_bytes: int, because: str) -> None:
    assert options.memory_needed() == (needed_bytes, because)


def test_memory_grows_with_the_targets_but_a_stream_has_one_receiver() -> None:
    assert DdOptions(block_size_bytes=GIB).memory_needed_for(3) == (
        3 * (GIB + PROCESS_BYTES),
        "block_size_bytes 1 GiB x writers 1 x 3 targets",
    )
    assert StreamOptions().memory_needed_for(3) == StreamOptions().memory_needed()


@given(needed_gibibytes=st.integers(0, 100))
def test_a_node_gives_four_fifths_of_what_it_has_and_of_what_is_free(needed_gibibytes: int) -> None:
    need = DdOptions(block_size_bytes=GIB).memory_needed()._replace(needed_bytes=needed_gibibytes * GIB)
    refused = why_too_large(need, NODE)
    if need.needed_bytes <= MEMORY_RATIO * NODE.available_bytes:
        assert refused is None
    else:
        assert refused is not None
        assert refused.is_final is (need.needed_bytes > MEMORY_RATIO * NODE.total_bytes)
        assert refused.code == ("memory_too_small" if refused.is_final else "memory_short")


@pytest.mark.parametrize("name", sorted(all_workloads()))
def test_default_options_of_each_workload_fit_into_a_small_node(name: str) -> None:
    options: Any = all_workloads()[name].options_type
    need = options.model_construct().memory_needed_for(2)
    assert why_too_large(need, Memory(2 * GIB, GIB)) is None


def test_a_cgroup_bounds_what_the_node_has(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:       4194304 kB\nMemFree:        1 kB\nMemAvailable:    3145728 kB\n")
    assert read_memory(meminfo, tmp_path / "none") == (4 * GIB, 3 * GIB)
    own = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    inner = tmp_path / "cgroup" / own.strip("/")
    inner.mkdir(parents=True)
    for name, text in (("max", "1073741824"), ("current", "536870912"), ("stat", "anon 1\ninactive_file 4096")):
        (inner / f"memory.{name}").write_text(text + "\n")
    assert read_memory(meminfo, tmp_path / "cgroup") == (GIB, GIB // 2 + 4096)


def test_a_bound_below_the_own_one_stays(make_rig: Callable[..., Rig]) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    rig = make_rig(memory_limit_bytes=2**62)
    rig.run([step(*python(STATUS), name="status")])
    assert rig.output("000-status.stdout").split()[2] == str(hard if hard != resource.RLIM_INFINITY else 2**62)
    assert resource.getrlimit(resource.RLIMIT_DATA) == (soft, hard)
