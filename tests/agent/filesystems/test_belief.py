"""Loads on storage that is not what it seems: a cache behind FUSE, unwritten blocks, and tools that drop O_DIRECT."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.node_rig import NodeRig
from caching_fuse import FSTYPE, caching_mount
from factories.outcomes import DATA
from factories.tiny_runs import MADE_BEFORE, SETTINGS, WHOLE, real_workloads
from made_mounts import as_root, run_as_root

from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.messages import FinishRequest, Outcome
from iotide_wire.units import MIB

DIRECT: dict[str, dict[str, object]] = WHOLE | {
    "fill": {
        "file_size_bytes": MIB,
        "block_size_bytes": MIB,
        "file_count": 2,
        "fill_percent": 95,
        "reserve_bytes": 0,
        "flush": "direct",
    },
    "bonnie": {"tests": ["block"], "file_size_bytes": 4 * MIB, "block_size_bytes": MIB, "direct": True},
    "iozone": {
        "file_size_bytes": MIB,
        "min_record_size_bytes": 262_144,
        "tests": ["write", "read"],
        "flush": "direct",
    },
    "fio": {"file_size_bytes": 4 * MIB, "rw": "randrw", "direct": True},
    "stream": {
        "duration_seconds": 1,
        "rate_bytes_per_second": 8_000_000,
        "file_size_bytes": 32 * MIB,
        "direct": True,
        "verify": True,
    },
}
"""By workload, options with O_DIRECT where it has them, and with reads where it can read."""
READS_DATA = frozenset({"dd", "fio", "bonnie", "iozone", "rawread", "stream"})
WRITES_DATA = READS_DATA | {"fill"}
_OTHER_ARGUMENT = """\
#!/bin/sh
for a; do shift; case $a in {dropped}) set -- "$@" {instead} ;; *) set -- "$@" "$a" ;; esac; done
exec {tool} "$@"
"""


@pytest.fixture(scope="module")
def caching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    point = tmp_path_factory.mktemp("caching") / "point"
    with caching_mount(point):
        yield point


@pytest.fixture(scope="module")
def node(caching: Path, tmp_path_factory: pytest.TempPathFactory) -> NodeRig:
    return NodeRig(tmp_path_factory.mktemp("node") / "state", [caching])


@pytest.fixture
def target(tmp_path: Path) -> Path:
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    return target


@pytest.mark.parametrize("workload", real_workloads())
def test_a_cache_that_o_direct_does_not_bypass_is_flagged(caching: Path, node: NodeRig, workload: str) -> None:
    if workload in MADE_BEFORE:
        (caching / MADE_BEFORE[workload]).write_bytes(os.urandom(4 * MIB))
    result = node.measure(workload, DIRECT[workload], caching)
    assert (result.outcome, result.reason) == (Outcome.FINISHED, None)
    assert result.environment["mount.fstype"] == FSTYPE
    codes = {flag.code for flag in result.flags}
    assert ({FlagCode.CACHE_SIZE} if workload in WRITES_DATA else set()) <= codes
    assert ({FlagCode.CACHE_DROP} if workload in READS_DATA else set()) <= codes


def test_dd_that_drops_the_flag_is_not_direct_and_named(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "bin", "dd", (DATA / "cases/dd-that-drops-direct.sh").read_text(), monkeypatch)
    result = NodeRig(tmp_path / "state", [target]).measure("dd", DIRECT["dd"], target)
    direct = {sample.labels["operation"]: sample.labels["direct"] for sample in result.samples}
    # It drops oflag=direct and keeps iflag=direct.
    assert direct == {"write": False, "overwrite": False, "read": takes_direct(target)}
    if takes_direct(target):
        assert {flag.measured for flag in no_direct(result)} == {
            f"{step}: dd did not use O_DIRECT: 4 MiB of 4 MiB were in the page cache afterwards"
            for step in ("write", "overwrite")
        }


@pytest.mark.parametrize(
    ("workload", "tool", "dropped", "instead"),
    [("fill", "dd", "oflag=direct", ""), ("fio", "fio", "--direct=1", "--direct=0")],
)
def test_other_tools_that_drop_it_are_named_too(
    target: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    workload: str,
    tool: str,
    dropped: str,
    instead: str,
) -> None:
    script = _OTHER_ARGUMENT.format(tool=f"/usr/bin/{tool}", dropped=dropped, instead=instead)
    install(tmp_path / "bin", tool, script, monkeypatch)
    # Repeated: without the pages in the cache, which another program may empty, a short step is not seen.
    results = (
        NodeRig(tmp_path / f"state-{attempt}", [target]).measure(workload, DIRECT[workload], target)
        for attempt in range(3)
    )
    result = next(result for result in results if no_direct(result))
    assert {sample.labels.get("direct", False) for sample in result.samples} == {False}
    if takes_direct(target):
        assert all(f"{tool} did not use O_DIRECT" in flag.measured for flag in no_direct(result))


def test_a_file_of_which_no_block_was_written_gives_no_numbers(target: Path, tmp_path: Path) -> None:
    with (target / "hole.img").open("wb") as hole:
        hole.truncate(64 * MIB)
    node = NodeRig(tmp_path / "state", [target])
    result = node.measure("rawread", {"path": "hole.img", "runtime_seconds": 1, "patterns": ["sequential"]}, target)
    assert unwritten(result) == [(FlagEffect.REJECTED, "100 % of it were never written")]


def test_a_loop_device_over_a_sparse_file_gives_no_numbers_where_nothing_was_written(
    target: Path, tmp_path: Path
) -> None:
    image = tmp_path / "thin.img"
    with image.open("wb") as thin:
        thin.write(os.urandom(16 * MIB))
        thin.truncate(64 * MIB)
        os.fsync(thin.fileno())
    device = subprocess.check_output(as_root("losetup", "--find", "--show", image), text=True).strip()
    try:
        node = NodeRig(tmp_path / "state", [target], workloads=SETTINGS | {"rawread": {"readable": [device]}})
        result = node.measure("rawread", {"path": device, "runtime_seconds": 1, "patterns": ["random"]}, target)
    finally:
        run_as_root("losetup", "--detach", device)
    assert unwritten(result) == [(FlagEffect.REJECTED, "75 % of it were never written")]


def install(directory: Path, tool: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program before the real tool on PATH."""
    directory.mkdir(mode=0o755)
    (directory / tool).write_text(script)
    (directory / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")


def no_direct(result: FinishRequest) -> list[Flag]:
    return [flag for flag in result.flags if flag.code is FlagCode.NO_DIRECT]


def unwritten(result: FinishRequest) -> list[tuple[FlagEffect, str]]:
    assert (result.outcome, result.reason) == (Outcome.FINISHED, None)
    flags = [flag for flag in result.flags if flag.code is FlagCode.ZEROES]
    return [(flag.effect, flag.measured.partition(",")[0]) for flag in flags]


def takes_direct(directory: Path) -> bool:
    trial = directory / "trial"
    try:
        os.close(os.open(trial, os.O_CREAT | os.O_WRONLY | os.O_DIRECT))
    except OSError:
        return False
    finally:
        trial.unlink(missing_ok=True)
    return True
