"""Outputs in the form of releases that are not installed, with the options that ask for them and their right values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from factories.outcomes import DATA, as_step, captured, steps_of

from iotide_agent.probes.reader import Reader, Want
from iotide_agent.workloads.base import Parsed, Place, StepOutcome
from iotide_agent.workloads.registry import workload
from iotide_wire.units import KIB, MIB

FOLDER: Final = DATA / "versions"


class Printed(Reader):
    """Answers each version command with this text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def read(self, want: Want) -> str:
        del want
        return self.text


@dataclass(frozen=True)
class Released:
    """An output; `values` are by metric and those values of its labels that identify a sample.

    Attributes:
        step: None for the first; another name stands for all tests in one start.
        is_cut: it holds only a part of what its options ask for.
    """

    file: str
    workload: str
    options: Mapping[str, Any]
    values: Mapping[tuple[object, ...], float] = field(default_factory=dict)
    refusal: str = ""
    step: str | None = None
    is_cut: bool = False

    @property
    def release(self) -> str:
        """Return the release as the file is named after it."""
        return self.file.partition("-")[2].rpartition(".")[0]

    def outcome(self, place: Place) -> StepOutcome:
        found = workload(self.workload, {})
        steps = steps_of(found, found.options_type.model_validate(self.options), place)
        named = {step.name: step for step in steps}
        step = named.get(self.step or steps[0].name) or replace(steps[0], name=str(self.step))
        text = (FOLDER / self.file).read_text()
        stdout, stderr = ("", text) if self.workload == "dd" else (text, "")
        return as_step(replace(captured("dd/c_1byte"), stdout=stdout, stderr=stderr), step)

    def read(self, place: Place) -> Parsed:
        found = workload(self.workload, {})
        read = found.read_cut if self.is_cut else found.read
        return read(found.options_type.model_validate(self.options), place, self.outcome(place))

    def found(self, parsed: Parsed) -> dict[tuple[object, ...], list[float]]:
        """Return the values of the samples that each key of `values` names."""
        return {
            key: [
                sample.value
                for sample in parsed.samples
                if sample.metric == key[0] and set(key[1:]) <= set(sample.labels.values())
            ]
            for key in self.values
        }


def _throughput(rates_kib: Mapping[str, int]) -> dict[tuple[object, ...], float]:
    return {("throughput", operation): rate * KIB for operation, rate in rates_kib.items()}


_LARGE: Final = {"tests": ["block"], "file_size_bytes": 64 * MIB}
_IOR: Final = {"tasks": 2, "transfers_per_block": 4}
_RANDOM: Final = {
    "tasks": 1,
    "transfer_size_bytes": 65_536,
    "transfers_per_block": 4,
    "segments": 4,
    "file_per_process": False,
    "random": True,
}
_RECORDS: Final = {"file_size_bytes": 64 * MIB, "min_record_size_bytes": MIB, "max_record_size_bytes": MIB}
_TESTS: Final = ["write", "read", "random", "backward-read", "record-rewrite", "stride-read", "fwrite", "fread"]
_OPERATIONS: Final = (
    *("write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "record_rewrite"),
    *("stride_read", "fwrite", "frewrite", "fread", "freread"),
)
_PROCESSES: Final = {"mode": "throughput", "file_size_bytes": MIB, "max_record_size_bytes": 65_536}
_NO_TOTAL: Final = r"ranges from {} to {}: mdtest {} prints each task's own rate; install IOR 4"

_DD: Final = {"file_size_bytes": 3_000_000, "block_size_bytes": MIB}

RELEASED: Final = (
    Released(
        "mdtest-3.3.0-one-task.txt",
        "mdtest",
        {"tasks": 1, "item_count": 30},
        {("operation_rate", "create"): 150, ("duration", "create"): 0.2},
    ),
    Released(
        "mdtest-3.3.0.txt",
        "mdtest",
        {"tasks": 2, "item_count": 10},
        refusal=_NO_TOTAL.format("100.000", "101.000", "3.3.0"),
    ),
    Released(
        "mdtest-3.4.0.txt",
        "mdtest",
        {"tasks": 10, "item_count": 33},
        refusal=_NO_TOTAL.format("2943.674", "2943.697", r"3.4.0\+dev"),
    ),
    Released(
        "mdtest-4.0.0.txt",
        "mdtest",
        {"tasks": 2, "item_count": 10},
        {("operation_rate", "create"): 100, ("duration", "create"): 0.2},
    ),
    Released(
        "mdtest-4.1.0.txt",
        "mdtest",
        {"tasks": 3, "item_count": 20, "items": "both"},
        {("operation_rate", "create", "directory"): 40, ("operation_rate", "create", "file"): 1200.5},
    ),
    Released("ior-3.3.0.json", "ior", _IOR, {("throughput", "write"): 16_777_216, ("duration", "total"): 0.5}),
    Released("ior-3.2.1.json", "ior", _IOR, {("throughput", "write"): 32 * MIB, ("duration", "total"): 0.25}),
    Released("ior-3.2.1.txt", "ior", _IOR, {("throughput", "write"): 6.4 * MIB, ("duration", "total"): 1.25}),
    Released("ior-4.0.0.json", "ior", _RANDOM, {("throughput", "read"): MIB, ("iops", "read"): 20}, step="read"),
    Released(
        "ior-4.0.0.txt",
        "ior",
        _RANDOM | {"fsync": False},
        {("throughput", "read"): 4 * MIB, ("duration", "open"): 0.000008},
        step="read",
    ),
    Released(
        "bonnie-1.97.txt",
        "bonnie",
        _LARGE,
        {
            **_throughput({"write": 200_000, "rewrite": 100_000, "read": 400_000}),
            ("iops", "seek"): 800,
            ("latency", "write"): 0.9,
            ("latency", "rewrite"): 0.4,
            ("latency", "read"): 0.0003,
            ("latency", "seek"): 0.05,
        },
    ),
    Released(
        "bonnie-1.96.txt",
        "bonnie",
        {"tests": ["block", "files"], "file_size_bytes": 8192 * MIB, "file_count": 16_384},
        {
            **_throughput({"write": 52_168, "rewrite": 31_234, "read": 96_000}),
            ("iops", "seek"): 211.4,
            ("operation_rate", "delete", "random"): 12_007,
            ("latency", "seek"): 0.312,
        },
        step="bonnie",
    ),
    Released(
        "bonnie-1.98-fifty.txt",
        "bonnie",
        {"tests": ["block"], "file_size_bytes": 2048 * MIB},
        {**_throughput({"write": 300_000, "rewrite": 150_000, "read": 600_000}), ("latency", "rewrite"): 2},
    ),
    Released(
        "iozone-3.420.txt",
        "iozone",
        _RECORDS | {"tests": ["write", "read"]},
        _throughput({"write": 100_001, "rewrite": 100_002, "read": 200_003, "reread": 200_004}),
    ),
    Released(
        "iozone-3.398.txt",
        "iozone",
        _RECORDS | {"max_record_size_bytes": 2 * MIB, "tests": _TESTS},
        {
            **{
                ("throughput", operation, MIB): (10_000_001 + number) * KIB
                for number, operation in enumerate(_OPERATIONS)
            },
            **{
                ("throughput", operation, 2 * MIB): (2001 + number) * KIB
                for number, operation in enumerate(_OPERATIONS)
            },
        },
    ),
    Released(
        "iozone-3.507.txt",
        "iozone",
        _RECORDS | {"tests": ["write", "stride-read", "fread"]},
        _throughput({"write": 123_456_789, "rewrite": 3002, "stride_read": 3009, "fread": 3012, "freread": 3013}),
    ),
    Released(
        "iozone-3.420-throughput.txt",
        "iozone",
        _PROCESSES | {"processes": 2, "file_size_bytes": 64 * MIB, "max_record_size_bytes": MIB, "tests": ["write"]},
        {
            ("total_throughput", "write"): 190_000 * KIB,
            ("throughput", "write", 1): 100_000 * KIB,
            ("throughput", "write", 2): 100_000 * KIB,
        },
        is_cut=True,
    ),
    Released(
        "iozone-3.398-throughput.txt",
        "iozone",
        _PROCESSES | {"processes": 1, "tests": ["write"]},
        {("throughput", "write"): 5000.5 * KIB, ("throughput", "rewrite"): 6000.25 * KIB},
    ),
    Released(
        "iozone-3.507-throughput.txt",
        "iozone",
        _PROCESSES | {"processes": 3, "tests": ["write", "read"]},
        {("total_throughput", "write"): 590 * KIB, ("throughput", "read", 3): 600 * KIB},
        is_cut=True,
    ),
    Released("dd-8.22.txt", "dd", _DD, {("throughput", "write"): 1_000_000}),
    Released("dd-9.7.txt", "dd", _DD | {"operations": ["write", "read"]}, {("throughput", "read"): 2e9}, step="read"),
    Released("dd-uutils-0.8.0.txt", "dd", _DD, {("throughput", "write"): 3_000_000 / 0.0249669}),
)
