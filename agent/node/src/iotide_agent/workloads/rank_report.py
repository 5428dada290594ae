"""Parsers of the tables that IOR and mdtest store of each rank: one repetition, written by rank 0."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isclose
from typing import Final

from iotide_agent.workloads.base import OutputRefusedError

_NUMBER: Final = r"\d\.\d{10}e[+-][01]\d"
"""Both programs print `%.10e`, so a number that was cut is too short. No time or rate has 20 digits."""
_IOR_HEADING: Final = "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput"
_IOR_ROW: Final = re.compile(
    rf"(?P<access>write|read),(?P<rank>\d{{1,9}}),(?P<whole>{_NUMBER}),(?P<transfer>{_NUMBER}),"
    rf"(?P<whole_rate>{_NUMBER}),(?P<transfer_rate>{_NUMBER})"
)
_MDTEST_HEADING: Final = re.compile(r"rank,items(?P<pairs>(?:,rate-[A-Z]\w+ \w+,time-[A-Z]\w+ \w+)+)")
_MDTEST_NAME: Final = re.compile(r",rate-(?P<name>[A-Z]\w+ \w+),time-(?P=name)(?=,|$)")
_MDTEST_ROW: Final = re.compile(rf"(?P<who>all|\d{{1,9}}),(?P<items>\d{{0,18}})(?P<cells>(?:,|,{_NUMBER})*)")
_ALL: Final = "all"
PRODUCT_RATIO: Final = 1e-8
"""Precision of the product of two numbers with eleven digits."""


@dataclass(frozen=True, slots=True)
class RankResult:
    """Bytes or items of one rank, and its seconds by its own clock.

    IOR divides the bytes of all ranks by their number, so `amount` is the same for each.
    """

    rank: int
    seconds: float
    amount: float

    @property
    def rate(self) -> float:
        return self.amount / self.seconds


@dataclass(frozen=True, slots=True)
class RankTable:
    """Ranks 0..n-1 in order.

    Attributes:
        total_seconds: time of all ranks together, if the table has it.
    """

    ranks: tuple[RankResult, ...]
    total_seconds: float | None = None

    @property
    def amount(self) -> float:
        return sum(rank.amount for rank in self.ranks)

    @property
    def slowest(self) -> RankResult:
        return max(self.ranks, key=lambda rank: rank.seconds)


def read_ior_ranks(step: str, text: str, access: str, tasks: int) -> RankTable:
    """Return the seconds with open and close of each rank; raise OutputRefusedError."""
    heading, lines = _lines(step, text)
    if heading != _IOR_HEADING:
        raise OutputRefusedError(step, "the table of ranks has another heading than IOR's", heading)
    found: list[RankResult] = []
    for line in lines:
        row = _IOR_ROW.fullmatch(line)
        if row is None or row["access"] != access:
            raise OutputRefusedError(step, f"not a row of a rank's {access}", line)
        whole, transfer = float(row["whole"]), float(row["transfer"])
        amount = whole * float(row["whole_rate"])
        if not amount or not isclose(amount, transfer * float(row["transfer_rate"]), rel_tol=PRODUCT_RATIO):
            raise OutputRefusedError(step, "a rank's two times and rates are of different amounts", line)
        found.append(RankResult(int(row["rank"]), whole, amount))
    return RankTable(_in_order(step, found, tasks, text))


def read_mdtest_ranks(step: str, text: str, tasks: int) -> Mapping[str, RankTable]:
    """Return the table of each measured operation, such as `File creation`; raise OutputRefusedError.

    A rank's seconds end before the barrier that the total waits for.
    """
    heading, lines = _lines(step, text)
    said = _MDTEST_HEADING.fullmatch(heading)
    if said is None:
        raise OutputRefusedError(step, "the table of ranks has another heading than mdtest's", heading)
    names = [found["name"] for found in _MDTEST_NAME.finditer(said["pairs"])]
    totals: Mapping[str, RankResult] | None = None
    ranks: dict[str, list[RankResult]] = {}
    for line in lines:
        row = _MDTEST_ROW.fullmatch(line)
        if row is None or (row["who"] == _ALL) != (totals is None):
            raise OutputRefusedError(step, "not a row of all ranks, then one of each", line)
        cells = dict(_mdtest_cells(step, line, row, names))
        if totals is None:
            totals = cells
        for name, result in cells.items() if row["who"] != _ALL else ():
            ranks.setdefault(name, []).append(result)
    if not ranks or totals is None:
        raise OutputRefusedError(step, "the table of ranks has no measured operation", text[-500:])
    if unknown := ranks.keys() - totals.keys():
        raise OutputRefusedError(step, f"{min(unknown)} is in rows of ranks, but not in the row of all", text[:500])
    tables = {name: RankTable(_in_order(step, own, tasks, text), totals[name].seconds) for name, own in ranks.items()}
    for name, table in tables.items():
        if not isclose(table.amount, totals[name].amount, rel_tol=PRODUCT_RATIO):
            of_ranks, of_all = round(table.amount, 1), round(totals[name].amount, 1)
            problem = f"{name}: the ranks have {of_ranks} items, the row of all has {of_all}"
            raise OutputRefusedError(step, problem, text[-500:])
    return tables


def _lines(step: str, text: str) -> tuple[str, list[str]]:
    heading, *lines = text.split("\n")
    if not lines or lines.pop():
        raise OutputRefusedError(step, "the table of ranks ends within a line", text.rpartition("\n")[2] or text)
    return heading, lines


def _in_order(step: str, found: list[RankResult], tasks: int, text: str) -> tuple[RankResult, ...]:
    if len(found) != tasks or any(result.rank != number for number, result in enumerate(found)):
        problem = f"ranks 0 to {tasks - 1} were planned, each once and in order; the table has {len(found)} rows"
        raise OutputRefusedError(step, problem, text[-500:])
    return tuple(found)


def _mdtest_cells(step: str, line: str, row: re.Match[str], names: list[str]) -> Iterator[tuple[str, RankResult]]:
    """Yield what was measured. mdtest leaves out the last columns, of trees, in the rows of ranks."""
    cells = row["cells"].split(",")[1:]
    if len(cells) % 2 or len(cells) > 2 * len(names) or (row["who"] == _ALL and len(cells) != 2 * len(names)):
        raise OutputRefusedError(step, f"{len(cells)} cells do not fit the heading", line)
    rank = -1 if row["who"] == _ALL else int(row["who"])
    for name, rate, seconds in zip(names, cells[::2], cells[1::2], strict=False):
        if bool(rate) != bool(seconds):
            raise OutputRefusedError(step, f"{name} has a rate or a time, but not both", line)
        if rate:
            amount = float(rate) * float(seconds)
            if not amount:
                raise OutputRefusedError(step, f"{name} has no items or no time", line)
            yield name, RankResult(rank, float(seconds), amount)
