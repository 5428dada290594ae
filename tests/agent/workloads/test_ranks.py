"""Tables of ranks of IOR and mdtest: whose time is whose, on which node, and what is refused."""

import pytest
from factories.ranks import IOR_HEADING, ior_table, mdtest_table

from iotide_agent.workloads.base import OutputRefusedError, Parsed, Sample
from iotide_agent.workloads.rank_layout import RankLayout
from iotide_agent.workloads.rank_report import RankTable, read_ior_ranks, read_mdtest_ranks
from iotide_agent.workloads.ranks import check_amount, check_layout, of_ranks
from iotide_wire.measured import FlagCode
from iotide_wire.units import MIB, TIB

LAYOUT = RankLayout.of_nodes(("n1", "n2"), 2)
SECONDS = [1.0, 1.1, 1.2, 2.4]
IOR = ior_table("write", 64 * MIB, SECONDS)
MDTEST = mdtest_table(500, {"File creation": SECONDS, "File stat": [0.1, 0.1, 0.1, 0.1]})


def raced(table: RankTable, total_seconds: float = 2.4) -> Parsed:
    return of_ranks(table, LAYOUT, Sample("throughput", 1.0, {"operation": "write"}, 7), total_seconds)


def test_ranks_are_on_nodes_in_blocks() -> None:
    assert [LAYOUT.node_of(rank) for rank in range(LAYOUT.tasks)] == ["n1", "n1", "n2", "n2"]
    assert list(LAYOUT.ranks_of("n2")) == [2, 3]
    assert LAYOUT.first_node_map == "1100"


def test_ior_ranks_have_their_time_with_open_and_close_and_an_equal_share_of_the_bytes() -> None:
    table = read_ior_ranks("write", IOR, "write", 4)
    assert [rank.seconds for rank in table.ranks] == SECONDS
    assert [rank.amount for rank in table.ranks] == pytest.approx([16 * MIB] * 4)
    assert table.amount == pytest.approx(64 * MIB, rel=1e-9)


def test_mdtest_ranks_have_items_and_the_total_its_own_time() -> None:
    tables = read_mdtest_ranks("create", MDTEST, 4)
    assert tables.keys() == {"File creation", "File stat"}
    assert [rank.seconds for rank in tables["File creation"].ranks] == SECONDS
    assert tables["File creation"].total_seconds == 2.4
    assert tables["File creation"].amount == pytest.approx(2000)


def test_race_names_first_and_last_and_the_rate_of_each_node() -> None:
    parsed = raced(read_ior_ranks("write", IOR, "write", 4))
    values = {(sample.metric, sample.labels.get("writer")): sample.value for sample in parsed.samples}
    assert (values["first_done", None], values["last_done", None]) == (1.0, 2.4)
    assert 0.25 < values["fairness", None] < 1
    assert values["throughput", "n1"] == pytest.approx(32 * MIB / 1.1)
    assert values["throughput", "n2"] == pytest.approx(32 * MIB / 2.4)


@pytest.mark.parametrize(("total_seconds", "skew"), [(1.3, 0.3), (1.0, 0.0), (0.9, 0.0)])
def test_start_skew_is_the_part_of_the_total_that_no_rank_explains(total_seconds: float, skew: float) -> None:
    table = read_ior_ranks("write", ior_table("write", MIB, [1.0, 0.5, 0.5, 0.5]), "write", 4)
    [found] = [sample.value for sample in raced(table, total_seconds).samples if sample.metric == "start_skew"]
    assert found == pytest.approx(skew)


def test_addresses_are_of_each_node_or_none() -> None:
    layout = RankLayout.of_nodes(("n1", "n2"), 2, ("10.1.0.1", "10.1.0.2"))
    assert [layout.address_of(rank) for rank in range(4)] == ["10.1.0.1"] * 2 + ["10.1.0.2"] * 2
    with pytest.raises(ValueError, match="1 addresses for 2 nodes"):
        RankLayout.of_nodes(("n1", "n2"), 2, ("10.1.0.1",))


def test_straggler_is_named_by_rank_and_node() -> None:
    [flag] = raced(read_ior_ranks("write", IOR, "write", 4)).flags
    assert flag.code is FlagCode.STRAGGLER
    assert flag.measured == "rank 3 on n2 finished after 2.4 s, the median of the others 1.1 s"


@pytest.mark.parametrize(
    ("total_seconds", "codes"),
    [
        (1.04, []),
        (1.10, [FlagCode.LATE_START]),
        (0.90, [FlagCode.TOOL_CLOCK]),
    ],
)
def test_total_that_differs_from_the_slowest_rank_by_more_than_five_percent_is_marked(
    total_seconds: float, codes: list[FlagCode]
) -> None:
    table = read_ior_ranks("write", ior_table("write", MIB, [1.0] * 4), "write", 4)
    flags = raced(table, total_seconds).flags
    assert [flag.code for flag in flags] == codes
    assert all("rank 0 on n1 was slowest with 1 s" in flag.measured for flag in flags)


@pytest.mark.parametrize(("nodes", "tasks"), [(1, 4), (2, 2), (4, 4)])
def test_program_on_other_nodes_than_planned_is_refused(nodes: int, tasks: int) -> None:
    check_layout("write", LAYOUT, 2, 4, "line")
    problem = f"4 tasks on 2 nodes were planned, the program ran {tasks} on {nodes}"
    with pytest.raises(OutputRefusedError, match=problem):
        check_layout("write", LAYOUT, nodes, tasks, "line")


def test_ranks_that_do_not_add_up_to_the_total_are_refused() -> None:
    table = read_ior_ranks("write", IOR, "write", 4)
    check_amount("write", table, 64 * MIB, 1, "line")
    with pytest.raises(OutputRefusedError, match="of 67108864 together, the program reports 67108764"):
        check_amount("write", table, 64 * MIB - 100, 1, "line")


def test_digits_that_ior_prints_of_a_large_transfer_are_no_difference() -> None:
    table = read_ior_ranks("write", ior_table("write", 64 * TIB, [3333.3333, 3777.7777]), "write", 2)
    assert abs(table.amount - 64 * TIB) > 500
    check_amount("write", table, 64 * TIB, 1, "line")
    with pytest.raises(OutputRefusedError):
        check_amount("write", table, 64 * TIB - 64 * MIB, 1, "line")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("write,1,", "write,2,", "ranks 0 to 3 were planned, each once and in order"),
        ("write,1,", "read,1,", "not a row of a rank's write"),
        ("runtime-with-openclose", "runtime", "another heading than IOR's"),
        ("1.1000000000e+00", "1.1000000000e+01", "of different amounts"),
        ("1.1000000000e+00", "nan", "not a row of a rank's write"),
        ("1.1000000000e+00", "0.0000000000e+00", "of different amounts"),
    ],
)
def test_tampered_table_of_ior_is_refused(old: str, new: str, problem: str) -> None:
    assert old in IOR
    with pytest.raises(OutputRefusedError, match=problem):
        read_ior_ranks("write", IOR.replace(old, new, 1), "write", 4)


@pytest.mark.parametrize("tasks", [3, 5])
def test_table_of_another_number_of_ranks_is_refused(tasks: int) -> None:
    with pytest.raises(OutputRefusedError, match="the table has 4 rows"):
        read_ior_ranks("write", IOR, "write", tasks)
    with pytest.raises(OutputRefusedError, match="the table has 4 rows"):
        read_mdtest_ranks("create", MDTEST, tasks)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("\nall,", "\n0,", "not a row of all ranks, then one of each"),
        ("\n1,", "\n2,", "ranks 0 to 3 were planned"),
        ("rate-File read", "rate-File", "another heading than mdtest's"),
        ("\n2,,", "\n2,,,", "cells do not fit the heading|has a rate or a time"),
        (",1.1000000000e+00", ",1.2000000000e+00", "the ranks have 2045.5 items, the row of all has 2000.0"),
        (",1.1000000000e+00", ",", "has a rate or a time, but not both"),
        (",1.1000000000e+00", ",0.0000000000e+00", "has no items or no time"),
    ],
)
def test_tampered_table_of_mdtest_is_refused(old: str, new: str, problem: str) -> None:
    assert old in MDTEST
    with pytest.raises(OutputRefusedError, match=problem):
        read_mdtest_ranks("create", MDTEST.replace(old, new, 1), 4)


def test_tables_cut_at_any_byte_are_refused() -> None:
    for end in range(len(IOR)):
        with pytest.raises(OutputRefusedError):
            read_ior_ranks("write", IOR[:end], "write", 4)
    for end in range(len(MDTEST)):
        with pytest.raises(OutputRefusedError):
            read_mdtest_ranks("create", MDTEST[:end], 4)


def test_table_without_a_rank_or_operation_is_refused() -> None:
    with pytest.raises(OutputRefusedError):
        read_ior_ranks("write", f"{IOR_HEADING}\n", "write", 4)
    with pytest.raises(OutputRefusedError, match="no measured operation"):
        read_mdtest_ranks("create", "\n".join([*MDTEST.split("\n")[:2], ""]), 4)
