"""The smallest runs of every workload, for suites over all of them; a workload without one fails there."""

import sys
from typing import Any, Final

from factories.mpi import mpi_settings

from iotide_agent.workloads.registry import all_workloads
from iotide_wire.units import MIB

_WRITE_AND_REPORT: Final = """\
import sys
with open(f"{sys.argv[1]}/file", "wb") as file:
    for _ in range(8):
        file.write(bytes(1024**2))
print('{"runs": [{"rate": 12.5}]}')
"""
TINY: dict[str, list[dict[str, object]]] = {
    "dd": [
        {"file_size_bytes": MIB, "block_size_bytes": 64 * 1024, "writers": 2},
        {"file_size_bytes": MIB, "operations": ["write", "overwrite", "read"], "data": "random"},
    ],
    "create": [{"file_count": 50, "processes": 2}, {"file_count": 20, "mode": "fork-touch", "directories": 3}],
    "fill": [
        {"file_size_bytes": MIB, "file_count": 3, "fill_percent": 95, "reserve_bytes": 0},
        {"file_size_bytes": MIB, "file_count": 1, "fill_percent": 95, "reserve_bytes": 0, "data": "random"},
    ],
    "bonnie": [
        {"tests": ["files"], "file_count": 1024},
        {"tests": ["char"], "file_size_bytes": 2 * MIB, "block_size_bytes": MIB},
    ],
    "iozone": [
        {"file_size_bytes": MIB, "min_record_size_bytes": 262144, "tests": ["write", "read"]},
        {
            "file_size_bytes": MIB,
            "max_record_size_bytes": 65536,
            "mode": "throughput",
            "processes": 2,
            "tests": ["write"],
        },
    ],
    "fio": [
        {"file_size_bytes": 4 * MIB, "block_size_bytes": 4096, "rw": "write"},
        {"file_size_bytes": 4 * MIB, "block_size_bytes": 4096, "rw": "randrw"},
        {"job_file": "[log]\nrw=write\nsize=1m\nend_fsync=1\n[mix]\nstonewall\nrw=randrw\nsize=1m\nnumjobs=2\n"},
    ],
    "stream": [
        {"duration_seconds": 1, "rate_bytes_per_second": 8_000_000, "files": "single", "verify": True},
        {
            "duration_seconds": 1,
            "rate_bytes_per_second": 4_000_000,
            "ramp_rates": 2,
            "ramp_step_bytes_per_second": 4_000_000,
        },
    ],
    "ior": [{"tasks": 2, "transfers_per_block": 4}],
    "mdtest": [{"tasks": 2, "item_count": 50}, {"tasks": 2, "item_count": 50, "items": "both"}],
    "io500": [
        {
            "tasks": 1,
            "stonewall_seconds": 1,
            "easy_transfer_size_bytes": MIB,
            "easy_block_size_bytes": 16 * MIB,
            "hard_segments": 100,
            "easy_files": 300,
            "hard_files": 200,
        }
    ],
    "rawread": [{"path": "big.data", "runtime_seconds": 1}],
    "command": [{"command": "json", "space_bytes": 8 * MIB}, {"command": "text", "space_bytes": MIB}],
}
"""Options by workload; each set needs less than 100 MB and a few seconds."""
ONE_WRITER: dict[str, list[dict[str, object]]] = TINY | {
    "dd": [
        {"file_size_bytes": 16 * MIB, "data": data, "operations": ["write", "overwrite", "read"]}
        for data in ("zeroes", "random")
    ],
    "create": [{"file_count": 50}],
    "iozone": [
        {
            "file_size_bytes": MIB,
            "max_record_size_bytes": 65536,
            "mode": "throughput",
            "processes": 1,
            "tests": ["write", "read"],
        },
        {"file_size_bytes": MIB, "min_record_size_bytes": 262144, "tests": ["write", "read"]},
    ],
    "fio": [
        {"file_size_bytes": 4 * MIB, "block_size_bytes": 4096, "rw": "randrw"},
        {"job_file": "[log]\nrw=write\nsize=1m\nend_fsync=1\n[mix]\nstonewall\nrw=randrw\nsize=1m\n"},
    ],
    "ior": [{"tasks": 1, "transfers_per_block": 4}],
    "mdtest": [{"tasks": 1, "item_count": 50}],
}
"""By workload, options for a single writer, task or process."""
WHOLE: dict[str, dict[str, object]] = {name: tiny[0] for name, tiny in TINY.items()} | {
    "dd": {
        "file_size_bytes": 4 * MIB,
        "block_size_bytes": MIB,
        "flush": "direct",
        "operations": ["write", "overwrite", "read"],
    },
    "rawread": {"path": "big.data", "runtime_seconds": 1, "patterns": ["random"]},
}
"""One option set for each workload with its usual steps, except those that only take time."""
SETTINGS: dict[str, dict[str, Any]] = {
    "ior": mpi_settings("ior"),
    "mdtest": mpi_settings("mdtest"),
    "io500": mpi_settings("io500"),
    "rawread": {"readable": ["/dev/iotide-test"]},
    "command": {
        "commands": {
            "json": {
                "argv": [sys.executable, "-c", _WRITE_AND_REPORT, "{directory}"],
                "expected_seconds": 1,
                "metrics": {
                    "rate": {
                        "title": "Rate",
                        "unit": "operations_per_second",
                        "better": "higher",
                        "json_path": "runs.0.rate",
                    }
                },
            },
            "endless": {
                "argv": [sys.executable, "-c", "import signal; signal.pause()"],
                "metrics": {
                    "rate": {
                        "title": "Rate",
                        "unit": "operations_per_second",
                        "better": "higher",
                        "json_path": "rate",
                    }
                },
            },
            "text": {
                "argv": [sys.executable, "-c", "print('started')\nprint('mean 250 ms of 4')"],
                "metrics": {
                    "latency": {
                        "title": "Latency",
                        "unit": "seconds",
                        "better": "lower",
                        "pattern": r"^mean (?P<value>\d+) ms",
                        "factor": 1e-3,
                    }
                },
            },
        }
    },
}
"""Settings of the node's admin; without them these workloads cannot run."""
MADE_BEFORE = {"rawread": "big.data"}
"""A file on the target before the run, for workloads that only read."""


def real_workloads() -> list[str]:
    """Return the workloads with a real tool on this machine, no stand-in, by name."""
    return sorted(name for name in all_workloads() if "program" not in SETTINGS.get(name, {}))
