"""Reads what iozone prints: the table of its auto mode cell by cell, and the blocks of its throughput mode."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from math import isclose
from typing import Final

from iotide_agent.workloads.base import OutputRefusedError

"""What iozone calls kB and kBytes."""

_COLUMN_ENDS: Final = {
    "write": 33,
    "rewrite": 42,
    "read": 51,
    "reread": 60,
    "random_read": 69,
    "random_write": 78,
    "backward_read": 87,
    "record_rewrite": 97,
    "stride_read": 107,
    "fwrite": 116,
    "frewrite": 125,
    "fread": 134,
    "freread": 143,
}
"""Where each column of the table ends; the columns touch where figures are long, so splitting at blanks is wrong."""

STDIO: Final = frozenset({"fwrite", "frewrite", "fread", "freread"})
"""Operations of the C library's streams, which no O_DIRECT ever reaches."""
WRITES: Final = frozenset({"write", "rewrite", "random_write", "record_rewrite", "fwrite", "frewrite"})

_FILE_END: Final = 16
_RECORD_END: Final = 24
_HEADING: Final = (
    "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read"
    "   fwrite frewrite    fread  freread\n"
)
_ROW: Final = re.compile(r" *\d+ +\d+[ \d]*")
_UNITS: Final = re.compile(r"^\tOutput is in kBytes/sec\n\tTime Resolution = (\d+\.\d+) seconds\.\n", re.MULTILINE)
_DONE: Final = re.compile(
    r"\s*\niozone test complete\.\n"
    r"(?:Timer resolution is poor\. .*\nreported inaccurate results\. Sizes \d+ kBytes and below\.\n)?"
)
_GROUPS: Final = {
    "initial writers": "write",
    "rewriters": "rewrite",
    "readers": "read",
    "re-readers": "reread",
    "reverse readers": "backward_read",
    "stride readers": "stride_read",
    "random readers": "random_read",
    "random writers": "random_write",
    "fwriters": "fwrite",
    "freaders": "fread",
}
"""What throughput mode calls the processes of an operation, in the order in which it does them."""
GROUP_OPERATIONS: Final = tuple(_GROUPS.values())
_EACH: Final = re.compile(r"^\tEach process writes a (\d{1,15}) kByte file in (\d{1,15}) kByte records\n", re.MULTILINE)
_BLOCK: Final = re.compile(
    r"^\tChildren see throughput for +(?P<count>\d{1,9}) (?P<name>[a-z -]+?)\s+=\s+"
    r"(?P<children>\d{1,15}\.\d{1,15}) kB/sec *\n"
    r"\tParent sees throughput for +(?P=count) (?P=name)\s+=\s+(?P<parent>\d{1,15}\.\d{1,15}) kB/sec *\n"
    r"(?:\t(?:Min|Max|Avg) .*\n){4}"
    r"(?P<list>(?:\tChild\[.*\n)+)\n",
    re.MULTILINE,
)
_CHILD: Final = re.compile(
    r"^\tChild\[\d+\] xfer count = +(?P<moved>\d{1,15}\.\d{1,15}) kB, "
    r"Throughput = +(?P<rate>\d{1,15}\.\d{1,15}) kB/sec$",
    re.MULTILINE,
)
_SUM_TOLERANCE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: KiB/s by operation, of the cells that are there; 0 where nothing was measured."""

    file_kib: int
    record_kib: int
    rates: dict[str, int]


@dataclass(frozen=True, slots=True)
class Child:
    """One process of throughput mode: what it moved in KiB and its own rate in KiB/s, 0 where it never began."""

    moved_kib: float
    rate: float


@dataclass(frozen=True, slots=True)
class Block:
    """One operation of throughput mode; `parent_rate` is from the first start to the last end, in KiB/s."""

    operation: str
    parent_rate: float
    children: tuple[Child, ...]

    @property
    def moved_kib(self) -> float:
        return sum(child.moved_kib for child in self.children)


def clock_seconds(step: str, text: str) -> float:
    """Return the clock's resolution; raise OutputRefusedError where figures are not said to be KiB/s."""
    units = _UNITS.search(text)
    if units is None:
        raise OutputRefusedError(step, "iozone does not say that its figures are kBytes/sec", text[-500:])
    return float(units[1])


def read_table(step: str, text: str) -> list[Row]:
    """Return the rows of a complete table; raise OutputRefusedError where it is cut off or something follows."""
    rows, rest = _split(text)
    if not _DONE.fullmatch(rest):
        raise OutputRefusedError(step, "no table that ends with 'iozone test complete.'", text[-500:])
    return rows


def read_cut_table(text: str) -> list[Row]:
    """The whole cells of a table that may be cut off anywhere."""
    return _split(text)[0]


def read_blocks(step: str, text: str) -> list[Block]:
    """Return the operations of throughput mode.

    Raise OutputRefusedError where it is cut off, something stands in between, or a sum is not that of its parts.
    """
    each = _EACH.search(text)
    if each is None or not _DONE.fullmatch(_BLOCK.sub("", text[each.end() :])):
        raise OutputRefusedError(step, "no blocks that end with 'iozone test complete.'", text[-500:])
    return list(_blocks(step, text))


def read_cut_blocks(step: str, text: str) -> list[Block]:
    """Return the operations that all processes had finished when it was cut off; raise as `read_blocks`."""
    return list(_blocks(step, text))


def process_file(step: str, text: str) -> tuple[int, int]:
    """Return file and record size of each process of throughput mode, in KiB; raise OutputRefusedError."""
    each = _EACH.search(text)
    if each is None:
        raise OutputRefusedError(step, "iozone does not say what each process writes", text[-500:])
    return int(each[1]), int(each[2])


def _split(text: str) -> tuple[list[Row], str]:
    _, _, below = text.partition(_HEADING)
    lines = list(takewhile(_is_row, below.split("\n")))
    rest = below[len("\n".join(lines)) :]
    return [_row(line) for line in lines if len(line) >= _RECORD_END], rest


def _is_row(line: str) -> bool:
    """Whether it is one, and no figure of it stands over the border of two columns."""
    if not _ROW.fullmatch(line):
        return False
    ends = [0, _FILE_END, _RECORD_END, *_COLUMN_ENDS.values()]
    size, record, *rates = [line[begin:end].strip() for begin, end in pairwise(ends)]
    is_whole = bool(size and record) and not any(" " in cell for cell in (size, record, *rates))
    return is_whole or len(line) < _RECORD_END


def _row(line: str) -> Row:
    rates = {}
    begin = _RECORD_END
    for operation, end in _COLUMN_ENDS.items():
        # A column is written in one go, so a cell that reaches its column's end is whole wherever the line is cut.
        if len(line) >= end and line[begin:end].strip():
            rates[operation] = int(line[begin:end])
        begin = end
    return Row(int(line[:_FILE_END]), int(line[_FILE_END:_RECORD_END]), rates)


def _blocks(step: str, text: str) -> Iterator[Block]:
    for block in _BLOCK.finditer(text):
        children = [Child(float(child["moved"]), float(child["rate"])) for child in _CHILD.finditer(block["list"])]
        if len(children) != int(block["count"]):
            raise OutputRefusedError(step, f"{block['count']} processes, not each with a line of its own", block[0])
        if block["name"] not in _GROUPS:
            raise OutputRefusedError(step, "an operation that was not asked for", block[0])
        if not _is_sum(float(block["children"]), children):
            raise OutputRefusedError(step, "the processes' rates are not what they add up to", block[0])
        yield Block(_GROUPS[block["name"]], float(block["parent"]), tuple(children))


def _is_sum(total: float, children: Sequence[Child]) -> bool:
    return isclose(total, sum(child.rate for child in children), rel_tol=_SUM_TOLERANCE, abs_tol=0.01 * len(children))
