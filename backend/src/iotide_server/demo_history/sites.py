"""Clusters of the sample data: nodes, targets, routines, levels."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from iotide_server.demo_history.errors import DEMO_HISTORY_UNKNOWN_NAME
from iotide_wire.facts import FactValue
from iotide_wire.units import GIB, KIB, MIB, TIB

_FIO_BLOCK_BYTES: Final = 4096

Labels = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class Figure:
    metric: str
    level: float  # without changes, in the base unit
    labels: Labels
    variation: float = 0.02
    memory: float = 0.2
    is_time: bool = False  # grows where rates shrink
    of_previous: float | None = None  # factor from the previous figure's value


@dataclass(frozen=True, slots=True)
class SampleLoad:
    workload: str
    nodes: tuple[str, ...]
    target: str
    figures: tuple[Figure, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Routine:
    """A recurring campaign; None: once, two weeks before the end."""

    name: str
    every_days: int | None
    hour: int
    repeats: int
    loads: tuple[SampleLoad, ...]


@dataclass(frozen=True, slots=True)
class SampleTarget:
    name: str
    path: str
    scope: str
    nodes: tuple[str, ...]
    fstype: str
    source: str
    options: str
    total_bytes: int
    facts: Mapping[str, FactValue]


@dataclass(frozen=True, slots=True)
class SampleCluster:
    name: str
    description: str
    nodes: Mapping[str, str]
    facts: Mapping[str, FactValue]
    targets: tuple[SampleTarget, ...]
    routines: tuple[Routine, ...]
    closed: tuple[float, float] = (1.0, 1.0)  # without measurements, as fractions of all days

    @property
    def memory_bytes(self) -> int:
        return int(str(self.facts["memory.total_bytes"]))

    @property
    def processors(self) -> int:
        return int(str(self.facts["cpu.count"]))

    def target(self, name: str) -> SampleTarget:
        return next(mounted for mounted in self.targets if mounted.name == name)


def _dd(nodes: tuple[str, ...], target: str, write: float, read: float | None, file_size_bytes: int) -> SampleLoad:
    rates = {"write": write} if read is None else {"write": write, "read": read}
    labels: Labels = {"file_size_bytes": file_size_bytes, "direct": False}
    figures = tuple(
        Figure("throughput", rate, {"operation": name, **labels}, variation=0.02 if name == "write" else 0.03)
        for name, rate in rates.items()
    )
    options = {"file_size_bytes": file_size_bytes, "operations": list(rates), "data": "random"}
    return SampleLoad("dd", nodes, target, figures, options)


def _fio(nodes: tuple[str, ...], target: str, pattern: str, iops: float, p99_seconds: float) -> SampleLoad:
    labels: Labels = {"operation": pattern.removeprefix("rand"), "direct": True}
    figures = (
        Figure("iops", iops, labels, variation=0.02, memory=0.3),
        Figure("throughput", iops * _FIO_BLOCK_BYTES, labels, of_previous=_FIO_BLOCK_BYTES),
        Figure("latency", p99_seconds, {**labels, "percentile": "p99"}, variation=0.05, is_time=True),
    )
    options = {
        "rw": pattern,
        "block_size_bytes": _FIO_BLOCK_BYTES,
        "file_size_bytes": 8 * GIB,
        "io_engine": "libaio",
        "io_depth": 32,
        "runtime_seconds": 300.0,
    }
    return SampleLoad("fio", nodes, target, figures, options)


def _create(nodes: tuple[str, ...], target: str, files_per_second: float) -> SampleLoad:
    figures = tuple(
        Figure("operation_rate", ratio * files_per_second, {"operation": name}, variation=0.03)
        for name, ratio in (("create", 1.0), ("stat", 3.1), ("delete", 1.3))
    )
    return SampleLoad("create", nodes, target, figures, {"file_count": 200_000})


def _iozone(nodes: tuple[str, ...], target: str, write: float, read: float) -> SampleLoad:
    size, record = 512 * GIB, MIB
    labels: Labels = {"file_size_bytes": size, "record_size_bytes": record, "direct": False}
    figures = tuple(
        Figure("throughput", rate, {"operation": name, **labels}, variation=0.03)
        for name, rate in _iozone_rates(write, read).items()
    )
    options = {
        "file_size_bytes": size,
        "min_record_size_bytes": record,
        "max_record_size_bytes": record,
        "tests": ["write", "read"],
    }
    return SampleLoad("iozone", nodes, target, figures, options)


def _iozone_rates(write: float, read: float) -> dict[str, float]:
    """Return four rates: IOzone times both tests twice."""
    return {"write": write, "rewrite": write, "read": read, "reread": read}


def _mdtest(nodes: tuple[str, ...], target: str, files_per_second: float) -> SampleLoad:
    rates = {"create": files_per_second, "stat": 4.0 * files_per_second, "delete": 1.1 * files_per_second}
    figures = tuple(
        Figure("operation_rate", rate, {"operation": name, "item": "file"}, variation=0.04)
        for name, rate in rates.items()
    )
    return SampleLoad("mdtest", nodes, target, figures, {"tasks": 4, "item_count": 50_000, "operations": list(rates)})


def _matrix(node: str, target: str, write: float, read: float, cached_read: float) -> SampleLoad:
    sizes = tuple(16 * GIB << power for power in range(5))
    records = tuple(256 * KIB << power for power in range(7))
    figures = tuple(
        Figure(
            "throughput",
            rate * _share_of(record),
            {"operation": name, "file_size_bytes": size, "record_size_bytes": record, "direct": False},
            variation=0.03,
        )
        for size in sizes
        for record in records
        for name, rate in _iozone_rates(write, cached_read if size < _MEMORY_BYTES else read).items()
    )
    options = {
        "mode": "auto",
        "min_file_size_bytes": sizes[0],
        "file_size_bytes": sizes[-1],
        "min_record_size_bytes": records[0],
        "max_record_size_bytes": records[-1],
        "tests": ["write", "read"],
    }
    return SampleLoad("iozone", (node,), target, figures, options)


def _share_of(record_bytes: int) -> float:
    """Return the share of the maximum rate; each record costs some time."""
    return record_bytes / (record_bytes + 32 * KIB)


_HPC_NODES: Final = ("c01", "c02", "c03", "c04")
_HPC: Final = SampleCluster(
    name="demo-hpc",
    description="Lustre, NFS and local NVMe of a compute cluster.",
    nodes=dict.fromkeys(_HPC_NODES, "compute"),
    facts={
        "kernel.release": "5.14.0-362.24.1.el9_3.x86_64",
        "os.name": "Rocky Linux 9.3",
        "cpu.count": 64,
        "memory.total_bytes": 256 * GIB,
    },
    targets=(
        SampleTarget(
            *("scratch", "/lustre/scratch", "shared", _HPC_NODES, "lustre", "mgs@o2ib:/scratch"),
            options="flock,rw",
            total_bytes=800 * TIB,
            facts={"lustre.version": "2.15.3", "lustre.ost_count": 24, "lustre.stripe_count": 4},
        ),
        SampleTarget(
            *("home", "/home", "shared", _HPC_NODES, "nfs4", "nas1:/export/home"),
            options="hard,rsize=1048576,rw,vers=4.2,wsize=1048576",
            total_bytes=60 * TIB,
            facts={"nfs.version": "4.2", "nfs.rsize_bytes": MIB, "nfs.wsize_bytes": MIB},
        ),
        SampleTarget(
            *("nvme", "/local", "node", _HPC_NODES, "xfs", "/dev/nvme0n1p1"),
            options="noatime,rw",
            total_bytes=3 * TIB,
            facts={"xfs.block_bytes": 4096, "disk.driver": "nvme"},
        ),
    ),
    routines=(
        Routine(
            *("nightly", 1, 2, 1),
            loads=(
                _dd(("c01",), "scratch", 1.9e9, 2.3e9, TIB),
                _create(("c01",), "scratch", 4_200.0),
                _fio(("c01",), "nvme", "randread", 182_000.0, 410e-6),
            ),
        ),
        Routine(
            *("weekly", 7, 4, 2),
            loads=(
                _dd(_HPC_NODES, "nvme", 2.1e9, None, TIB),
                _iozone(("c02",), "home", 540e6, 880e6),
            ),
        ),
    ),
)
_STUDIO_NODES: Final = ("r1", "r2", "r3")
_MEMORY_BYTES: Final = 128 * GIB
_STUDIO: Final = SampleCluster(
    name="demo-studio",
    description="NFS and a local cache of render nodes.",
    nodes=dict.fromkeys(_STUDIO_NODES, "compute"),
    facts={
        "kernel.release": "6.1.0-21-amd64",
        "os.name": "Debian GNU/Linux 12",
        "cpu.count": 32,
        "memory.total_bytes": _MEMORY_BYTES,
    },
    targets=(
        SampleTarget(
            *("projects", "/projects", "shared", _STUDIO_NODES, "nfs", "filer:/vol/projects"),
            options="hard,rsize=1048576,rw,vers=3,wsize=1048576",
            total_bytes=200 * TIB,
            facts={"nfs.version": "3", "nfs.rsize_bytes": MIB, "nfs.wsize_bytes": MIB},
        ),
        SampleTarget(
            *("cache", "/cache", "node", _STUDIO_NODES, "ext4", "/dev/sdb1"),
            options="noatime,rw",
            total_bytes=2 * TIB,
            facts={"ext.block_bytes": 4096, "disk.driver": "ahci"},
        ),
    ),
    routines=(
        Routine(
            *("nightly", 1, 1, 1),
            loads=(
                _dd(("r1",), "projects", 620e6, 950e6, 512 * GIB),
                _fio(("r1",), "projects", "randwrite", 9_400.0, 11e-3),
                _dd(("r2",), "cache", 480e6, 530e6, 384 * GIB),
            ),
        ),
        Routine(*("weekly", 7, 5, 2), loads=(_fio(_STUDIO_NODES, "cache", "randread", 71_000.0, 1.4e-3),)),
        Routine(
            *("sizes", None, 9, 4),
            loads=(
                _matrix("r3", "projects", 640e6, 980e6, 980e6),
                _matrix("r3", "cache", 500e6, 550e6, 6.2e9),
            ),
        ),
    ),
    closed=(0.20, 0.22),
)
_RAIDS: Final = ("raid-a", "raid-b", "raid-c")
_ARCHIVE: Final = SampleCluster(
    name="demo-archive",
    description="GPFS and the three RAID sets of one of its servers.",
    nodes={"g1": "compute", "s1": "storage"},
    facts={
        "kernel.release": "4.18.0-553.8.1.el8_10.x86_64",
        "os.name": "Red Hat Enterprise Linux 8.10",
        "cpu.count": 48,
        "memory.total_bytes": 192 * GIB,
    },
    targets=(
        SampleTarget(
            *("gpfs", "/gpfs/archive", "shared", ("g1",), "gpfs", "archive"),
            options="rw,noatime",
            total_bytes=1500 * TIB,
            facts={"gpfs.version": "5.1.8.2", "gpfs.block_bytes": 8 * MIB, "gpfs.data_replica_count": 1},
        ),
        *(
            SampleTarget(
                *(name, f"/raid/{name[-1]}", "node", ("s1",), "xfs", f"/dev/md{number}"),
                options="noatime,rw,sunit=1024,swidth=8192",
                total_bytes=90 * TIB,
                facts={"md.level": "raid6", "md.disk_count": 10, "md.degraded_count": 0, "md.chunk_bytes": 512 * KIB},
            )
            for number, name in enumerate(_RAIDS)
        ),
    ),
    routines=(
        Routine(
            *("nightly", 1, 3, 1),
            loads=(
                _dd(("g1",), "gpfs", 3.4e9, 2.6e9, 2 * TIB),
                _dd(("s1",), "raid-a", 1.15e9, None, 384 * GIB),
            ),
        ),
        Routine(
            *("weekly", 7, 6, 2),
            loads=(
                *(_dd(("s1",), name, 1.15e9, None, 384 * GIB) for name in _RAIDS[1:]),
                _mdtest(("g1",), "gpfs", 2_900.0),
            ),
        ),
    ),
)

SITES: Final = (_HPC, _STUDIO, _ARCHIVE)


def narrowed(clusters: Collection[str] = (), workloads: Collection[str] = ()) -> tuple[SampleCluster, ...]:
    """Return these clusters and workloads (none: all), or raise DEMO_HISTORY_UNKNOWN_NAME."""
    _require("cluster", clusters, {site.name for site in SITES})
    chosen = [site for site in SITES if not clusters or site.name in clusters]
    _require("workload", workloads, {load.workload for site in chosen for one in site.routines for load in one.loads})
    return tuple(replace(site, routines=tuple(_narrowed_routines(site, workloads))) for site in chosen)


def _narrowed_routines(site: SampleCluster, workloads: Collection[str]) -> Iterator[Routine]:
    for routine in site.routines:
        loads = tuple(load for load in routine.loads if not workloads or load.workload in workloads)
        if loads:
            yield replace(routine, loads=loads)


def _require(what: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise DEMO_HISTORY_UNKNOWN_NAME(what=what, name=name, known=known)
