"""Fuzz targets for what one MPI program prints: tables of ranks, IOzone's cluster mode, the IO500."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import isfinite
from typing import Final

from agent.workloads.test_io500 import FILES, RECORDED
from agent.workloads.test_iozone_cluster import OPERATIONS
from factories.io500 import PUBLISHED
from fuzzing.target import Target
from fuzzing.texts import decode, encode, files

from iotide_agent.workloads.base import OutputRefusedError, Parsed, Sample
from iotide_agent.workloads.io500_directory import check_phases, ranks_of
from iotide_agent.workloads.io500_report import check_config, check_summary, read_cut_phases, read_result
from iotide_agent.workloads.io500_samples import phase_samples, read_samples
from iotide_agent.workloads.iozone_cluster import ClusterPlan, checked_blocks, read_block
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_agent.workloads.rank_report import RankTable, read_ior_ranks, read_mdtest_ranks
from iotide_agent.workloads.ranks import of_ranks
from iotide_wire.measured import SampleMessage

_LAYOUT: Final = RankLayout.of_nodes(("n1", "n2"), 2)
_LABELS: Final = {"operation": "write"}


class MpiTexts(Target):
    """Texts with a choice byte before them; each is read alone, so that one refusal does not hide the others."""

    choices = 1

    def __init__(
        self,
        name: str,
        read: Callable[[int, Sequence[str]], Iterator[Parsed]],
        seeds: Callable[[], Iterator[tuple[int, Sequence[str]]]],
    ) -> None:
        self.name = name
        self._read = read
        self._seeds = seeds

    def seeds(self) -> Iterator[bytes]:
        return (encode((choice,), texts) for choice, texts in self._seeds())

    def feed(self, data: bytes) -> None:
        [choice], texts = decode(data, self.choices)
        with suppress(OutputRefusedError):
            for parsed in self._read(choice, texts):
                _check(parsed)


def _check(parsed: Parsed) -> None:
    for found in parsed.samples:
        assert isfinite(found.value), found
        SampleMessage(metric=found.metric, value=found.value, labels=dict(found.labels), target_id=found.target_id)


def _ranks(choice: int, texts: Sequence[str]) -> Iterator[Parsed]:
    tables: list[RankTable] = []
    if choice % 2:
        tables.append(read_ior_ranks("write", texts[0], "write", _LAYOUT.tasks))
    else:
        tables += read_mdtest_ranks("create", texts[0], _LAYOUT.tasks).values()
    for table in tables:
        yield of_ranks(table, _LAYOUT, Sample("throughput", 1.0, _LABELS, 7), table.total_seconds or 1.0)


def _rank_seeds() -> Iterator[tuple[int, Sequence[str]]]:
    for choice, pattern in ((1, "tests/data/mpi/ior-*-ranks.csv"), (0, "tests/data/mpi/mdtest-*-ranks.csv")):
        for text in files(pattern):
            yield choice, [text.decode()]


def _cluster(choice: int, texts: Sequence[str]) -> Iterator[Parsed]:
    operations, file_kib = (OPERATIONS, 4096) if choice % 2 else (OPERATIONS[:2], 32_768)
    plan = ClusterPlan(_LAYOUT, operations, file_kib, 1024)
    for block in checked_blocks("iozone", texts[0], plan, is_cut=choice > 1):
        yield read_block(block, _LAYOUT, _LABELS, 7)


def _cluster_seeds() -> Iterator[tuple[int, Sequence[str]]]:
    for text in files("tests/data/mpi/iozone-cluster*.txt"):
        yield from ((choice, [text.decode()]) for choice in range(4))


def _io500(_choice: int, texts: Sequence[str]) -> Iterator[Parsed]:
    result_text, summary, config, *phases = [*texts, "", "", ""][: max(3, len(texts))]
    with suppress(OutputRefusedError):
        for phase in read_cut_phases("io500", result_text):
            yield Parsed(phase_samples(phase, "io500", 7))
    result = read_result("io500", result_text)
    yield read_samples(result, "io500", 7)
    for check, text in ((check_summary, summary), (check_config, config)):
        with suppress(OutputRefusedError):
            check("io500", result, text)
    named = dict(zip([*FILES, "ior-easy-write.csv", "mdtest-easy-write.csv"], phases, strict=False))
    for name, text in named.items():
        with suppress(OutputRefusedError):
            check_phases("io500", result, {name: text})
    for phase in result.phases:
        with suppress(OutputRefusedError):
            ranks_of("io500", result, phase, named)


def _io500_seeds() -> Iterator[tuple[int, Sequence[str]]]:
    names = ("result.txt", "result_summary.txt", "config.ini", *FILES, "ior-easy-write.csv", "mdtest-easy-write.csv")
    yield 0, [RECORDED[name] for name in names]
    for run in PUBLISHED.values():
        yield 0, [run.text(), run.summary(), "[global]\ndatadir = /mnt/run\n", *FILES.values()]


def mpi_targets() -> Iterator[Target]:
    yield MpiTexts("ranks", _ranks, _rank_seeds)
    yield MpiTexts("iozone-cluster", _cluster, _cluster_seeds)
    yield MpiTexts("io500-directory", _io500, _io500_seeds)
