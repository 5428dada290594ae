"""Printed numbers compared with the stored ones: nothing lost, nothing added, all in base units."""

import pytest
from pydantic import ValidationError

from iotide_server.published.repository import PrintedNumber
from iotide_server.published.service import ratios_of
from iotide_server.published.sources import Claim, Printed, PublishedReference, Table, cells_of, read_edition
from iotide_server.workloads.service import recorded_announcements
from iotide_wire.catalogue import MetricSpec

EDITION, DIGEST = read_edition()


def metrics(workload: str) -> dict[str, MetricSpec]:
    [announced] = recorded_announcements({workload})
    return {metric.name: metric for metric in announced.metrics}


def table(columns: str, *rows: tuple[Printed, ...], workload: str = "dd", **same: Printed) -> Table:
    return Table(cluster="c", campaign="t", workload=workload, columns=tuple(columns.split()), same=same, rows=rows)


@pytest.mark.parametrize("source", EDITION.sources, ids=lambda source: source.key)
def test_each_row_of_each_source_gives_numbers_that_its_workload_announces(source: PublishedReference) -> None:
    for printed in source.tables:
        assert printed.cluster in EDITION.clusters
        cells = cells_of(printed, metrics(printed.workload))
        numbers = [column for column in printed.columns if column.endswith("_s")]
        assert sum(len(cell.values) for cell in cells) == len(numbers) * len(printed.rows)


def test_the_parts_of_each_time_of_the_table_of_nus_add_up_to_the_whole() -> None:
    [printed] = next(source.tables for source in EDITION.sources if source.key == "nus-svu-gpfs")
    cells = cells_of(printed, metrics("dd"))
    assert len(cells) == 12
    for cell in cells:
        parts = {labels["part"]: value for _, labels, value in cell.values}
        assert parts["user"] + parts["sys"] + parts["wait"] == pytest.approx(parts["real"], abs=0.02)


def test_numbers_are_in_base_units_and_bear_the_labels_of_their_metric() -> None:
    rows = table("target file_size_gb throughput_mb_s", ("a", 4, 91), operation="write")
    [cell] = cells_of(rows, metrics("dd"))
    assert cell.options == {"file_size_bytes": 4_000_000_000}
    assert cell.values == [("throughput", {"file_size_bytes": 4_000_000_000, "operation": "write"}, 91e6)]


def test_megabits_are_an_eighth_of_megabytes() -> None:
    [cell] = cells_of(table("target throughput_mbit_s", ("a", 5250), workload="stream"), metrics("stream"))
    assert [value for _, _, value in cell.values] == [656.25e6]


def test_rows_that_differ_only_in_results_are_one_cell() -> None:
    rows = table("target operation throughput_mb_s", ("a", "write", 1200), ("a", "read", 2000), ("b", "read", 1))
    cells = cells_of(rows, metrics("dd"))
    assert [(cell.target, len(cell.values)) for cell in cells] == [("a", 2), ("b", 1)]


def test_values_that_were_not_printed_are_absent() -> None:
    [cell] = cells_of(table("target interconnect real_s", ("local", "", 1.0)), metrics("dd"))
    assert (cell.facts, cell.options, cell.fstype) == ({}, {}, "")


def test_an_unknown_column_is_rejected() -> None:
    with pytest.raises(ValidationError, match="colour"):
        table("target colour", ("a", "red"))


def test_a_ratio_is_taken_where_both_were_printed_and_nowhere_else() -> None:
    claim = Claim(words="twice", ratio=2.0, metric="duration", labels={}, target="nfs", against="gpfs")
    at = [{"file_size_bytes": size} for size in (1, 2)]
    numbers = [PrintedNumber(at[0], "nfs", 6.0), PrintedNumber(at[0], "gpfs", 4.0), PrintedNumber(at[1], "nfs", 9.0)]
    assert [(one.options, one.ratio) for one in ratios_of(claim, numbers)] == [({"file_size_bytes": 1}, 1.5)]


@pytest.mark.parametrize("workload", ["dd", "create", "fio", "iozone", "mdtest", "stream"])
def test_a_recorded_workload_names_its_primary_metric(workload: str) -> None:
    [announced] = recorded_announcements({workload})
    assert any(metric.primary for metric in announced.metrics)
