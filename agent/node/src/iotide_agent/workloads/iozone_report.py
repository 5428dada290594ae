"""Parser of iozone's output: the table of auto mode and the blocks of throughput mode."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, takewhile
from math import isclose
from typing import Final

from iotide_agent.workloads.base import OutputRefusedError

_SPELLED: Final = re.MULTILINE | re.IGNORECASE
"""Units are kBytes or Kbytes, kB or KB, by release."""
_COLUMNS: Final = (
    *("write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read", "record_rewrite"),
    *("stride_read", "fwrite", "frewrite", "fread", "freread"),
    # With -E only; the last four in builds that have these calls.
    *("pwrite", "repwrite", "pread", "repread", "pwritev", "repwritev", "preadv", "repreadv"),
)
"""Operations in the order of their columns, whose names in the heading are not unique."""
_LAYOUT_BY: Final = 2
_LAYOUTS: Final = {
    33: tuple(accumulate((16, 8, 9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9, 9, 9, 8, 9, 9, 10, 10, 9))),
    # Before 3.430. Its heading has other widths than the figures.
    32: tuple(accumulate((16, 8, 8, 8, 8, 9, 8, 8, 8, 9, 9, 9, 9, 9, 9, 8, 9, 8, 9, 9, 10, 10, 9))),
}
"""Ends of the columns, file size and record size first, by the end of the heading of `write`.

Long figures touch, so splitting at blanks would be wrong.
"""
_NARROWEST: Final = 8
"""Width of the narrowest column: a shorter or equal text is a single figure."""
_MOST_SHIFTED: Final = 3
"""Maximum distance of a figure's end from its heading's, in a release of unknown widths."""

STDIO: Final = frozenset({"fwrite", "frewrite", "fread", "freread"})
"""Operations of C library streams, which never use O_DIRECT."""
MIXED: Final = "mixed"
"""Reads of some processes and writes of the others, at the same time."""
WRITES: Final = frozenset(
    {
        *("write", "rewrite", "random_write", "record_rewrite", "fwrite", "frewrite", MIXED),
        *("pwrite", "repwrite", "pwritev", "repwritev"),
    }
)

_HEADING: Final = re.compile(
    r"^ +kB +reclen +write +rewrite +read +reread(?: +[fp]?(?:re)?p?(?:write|read)v?)+ *\n", _SPELLED
)
_ROW: Final = re.compile(r" *\d+ +\d+[ \d]*")
_CELL: Final = re.compile(r"\S+")
_VERSION: Final = re.compile(r"Version \$Revision: (\S{1,40}) \$")
_UNITS: Final = re.compile(r"^\tOutput is in kBytes/sec\n\tTime Resolution = (\d+\.\d+) seconds\.\n", _SPELLED)
_DONE: Final = re.compile(
    r"\s*\niozone test complete\.\n"
    r"(?:Timer resolution is poor\. .*\nreported inaccurate results\. Sizes \d+ kBytes and below\.\n)?",
    _SPELLED,
)
_GROUPS: Final = {
    "initial writers": "write",
    "rewriters": "rewrite",
    "readers": "read",
    "re-readers": "reread",
    "reverse readers": "backward_read",
    "stride readers": "stride_read",
    "random readers": "random_read",
    "mixed workload": MIXED,
    "random writers": "random_write",
    "pwrite writers": "pwrite",
    "pread readers": "pread",
    "fwriters": "fwrite",
    "freaders": "fread",
}
"""Throughput mode's name for the processes of an operation, in execution order."""
GROUP_OPERATIONS: Final = tuple(_GROUPS.values())
_EACH: Final = re.compile(r"^\tEach process writes a (\d{1,15}) kByte file in (\d{1,15}) kByte records\n", _SPELLED)
_BLOCK: Final = re.compile(
    r"^\tChildren see throughput for +(?P<count>\d{1,9}) (?P<name>[a-z -]+?)\s+=\s+"
    r"(?P<children>\d{1,15}\.\d{1,15}) kB/sec *\n"
    r"\tParent sees throughput for +(?P=count) (?P=name)\s+=\s+(?P<parent>\d{1,15}\.\d{1,15}) kB/sec *\n"
    r"(?:\t(?:Min|Max|Avg) .*\n){4}"
    r"(?P<list>(?:\tChild\[.*\n)+)\n",
    _SPELLED,
)
_CLUSTER: Final = "\tNetwork distribution mode enabled.\n"
_CLUSTER_BLOCK: Final = re.compile(
    r"^(?:\tTest running:\n)?"
    r"\tChildren see throughput for +(?P<count>\d{1,9}) (?P<name>[a-z -]+?)\s+=\s+"
    r"(?P<children>\d{1,15}\.\d{1,15}) kB/sec *\n"
    r"(?:\t(?:Min|Max|Avg) throughput per process .*\n){3}"
    r"\tMin xfer\s+=\s+(?P<least>\d{1,15}\.\d{1,15}) kB *\n"
    r"(?P<list>(?:\tChild\[.*\n)*)\n",
    _SPELLED,
)
_CLEANED: Final = re.compile(r"^\tTest cleanup:\n", re.MULTILINE)
_CHILD: Final = re.compile(
    r"^\tChild\[(?P<number>\d{1,9})\] xfer count = +(?P<moved>\d{1,15}\.\d{1,15}) kB, "
    r"Throughput = +(?P<rate>\d{1,15}\.\d{1,15}) kB/sec$",
    _SPELLED,
)
_SUM_TOLERANCE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Row:
    """Line of the table: KiB/s by operation; 0 if nothing was measured."""

    file_kib: int
    record_kib: int
    rates: dict[str, int]


@dataclass(frozen=True, slots=True)
class Child:
    """Process with its moved KiB and rate in KiB/s; 0 if it never began."""

    moved_kib: float
    rate: float


@dataclass(frozen=True, slots=True)
class Block:
    """Operation of throughput mode; `parent_rate` is the total in KiB/s."""

    operation: str
    parent_rate: float
    children: tuple[Child, ...]

    @property
    def moved_kib(self) -> float:
        return sum(child.moved_kib for child in self.children)


@dataclass(frozen=True, slots=True)
class ClusterBlock:
    """Operation of processes on several nodes. iozone measures no total of them."""

    operation: str
    children: tuple[Child, ...]

    @property
    def summed_rate(self) -> float:
        """Return the sum of rates over different times, in KiB/s. It is larger than any total may be."""
        return sum(child.rate for child in self.children)


def clock_seconds(step: str, text: str) -> float:
    units = _UNITS.search(text)
    if units is None:
        said = re.search(r"^\t.*Output is in .*", text, re.MULTILINE)
        raise _refused(step, text, "does not print kBytes/sec as its unit", said[0] if said else text[-500:])
    return float(units[1])


def read_table(step: str, text: str) -> list[Row]:
    rows, rest = _split(text)
    if not _DONE.fullmatch(rest):
        raise _refused(
            step, text, "prints no table that ends with 'iozone test complete.'", _first_line(rest) or text[-500:]
        )
    return rows


def read_cut_table(text: str) -> list[Row]:
    return _split(text)[0]


def read_blocks(step: str, text: str) -> list[Block]:
    """Return the operations of throughput mode; raise OutputRefusedError if one is incomplete or a sum wrong."""
    each = _EACH.search(text)
    rest = _BLOCK.sub("", text[each.end() :]) if each else text[-500:]
    if each is None or not _DONE.fullmatch(rest):
        raise _refused(step, text, "prints no blocks that end with 'iozone test complete.'", _first_line(rest))
    return list(_blocks(step, text))


def read_cluster_blocks(step: str, text: str) -> list[ClusterBlock]:
    """Return the operations of `iozone -+m -C`; raise as `read_blocks`."""
    each = _EACH.search(text)
    if each is None or _CLUSTER not in text:
        raise _refused(step, text, "does not print that processes of several nodes take part", text[-500:])
    rest = _CLEANED.sub("", _CLUSTER_BLOCK.sub("", text[each.end() :]))
    if not _DONE.fullmatch(rest):
        raise _refused(step, text, "prints no blocks that end with 'iozone test complete.'", _first_line(rest))
    found = read_cut_cluster_blocks(step, text)
    if not found:
        raise _refused(step, text, "prints no operation", text[-500:])
    return found


def read_cut_cluster_blocks(step: str, text: str) -> list[ClusterBlock]:
    """Return the operations of `iozone -+m -C` that all processes finished; raise as `read_blocks`."""
    found = []
    for block in _CLUSTER_BLOCK.finditer(text):
        children = _children(step, block)
        if min(child.moved_kib for child in children) != float(block["least"]):
            raise OutputRefusedError(step, "the smallest transfer is not that of a process", block[0])
        found.append(ClusterBlock(_GROUPS[block["name"]], children))
    return found


def read_cut_blocks(step: str, text: str) -> list[Block]:
    """Return the operations that all processes finished; raise as `read_blocks`."""
    return list(_blocks(step, text))


def process_file(step: str, text: str) -> tuple[int, int]:
    each = _EACH.search(text)
    if each is None:
        raise _refused(step, text, "does not print what each process writes", text[-500:])
    return int(each[1]), int(each[2])


def _refused(step: str, text: str, problem: str, line: str) -> OutputRefusedError:
    found = _VERSION.search(text)
    return OutputRefusedError(step, f"iozone{f' {found[1]}' if found else ''} {problem}", line)


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _split(text: str) -> tuple[list[Row], str]:
    heading = _HEADING.search(text)
    if heading is None:
        return [], ""
    below = text[heading.end() :]
    *whole, last = below.split("\n")
    whole = list(takewhile(_ROW.fullmatch, whole))
    begun = [last] if len(whole) == below.count("\n") and _ROW.fullmatch(last) else []
    if begun and not whole:
        # Only another figure, or another row, proves that a figure is complete.
        begun = [last.rstrip("0123456789")]
    ends = _column_ends(heading[0], whole or begun)
    lines = [*takewhile(lambda line: _fits(line, ends), whole), *(line for line in begun if _begins(line, ends))]
    return [_row(line, ends) for line in lines], below[len("\n".join(lines)) :]


def _column_ends(heading: str, lines: Sequence[str]) -> tuple[int, ...]:
    ends = tuple(cell.end() for cell in _CELL.finditer(heading))
    known = _LAYOUTS.get(ends[_LAYOUT_BY], ends)
    # Blanks of omitted tests are narrower than their columns in some releases, so later figures end before theirs.
    possible = (known, _shifted(known, lines), _shifted(ends, lines))
    return next((found for found in possible if all(_fits(line, found) for line in lines)), possible[-1])


def _fits(line: str, ends: Sequence[int]) -> bool:
    """Return true if all figures end where a column does, and file size and record size are there."""
    has_sizes = all(line[end - 1 : end].isdecimal() for end in ends[:2])
    return has_sizes and {cell.end() for cell in _CELL.finditer(line)} <= set(ends)


def _begins(line: str, ends: Sequence[int]) -> bool:
    """Return true if a cut row fits, whatever its last figure."""
    return _fits(line.rstrip("0123456789"), ends) or _fits(line, ends)


def _shifted(ends: Sequence[int], lines: Sequence[str]) -> tuple[int, ...]:
    """Return the ends of columns by their figures, each near its expected end.

    Longer figures may touch. A column that has no others is shifted like the one before it.
    """
    shifts: dict[int, int] = {}
    for cell in (cell for line in lines for cell in _CELL.finditer(line) if len(cell[0]) <= _NARROWEST):
        nearest = min(range(len(ends)), key=lambda column: abs(ends[column] - cell.end()))
        if abs(ends[nearest] - cell.end()) <= _MOST_SHIFTED:
            shifts[nearest] = cell.end() - ends[nearest]
    found: list[int] = []
    shift = 0
    for column, end in enumerate(ends):
        shift = shifts.get(column, shift)
        found.append(end + shift)
    return tuple(found)


def _row(line: str, ends: Sequence[int]) -> Row:
    cells = [line[begin:end].strip() if len(line) >= end else "" for begin, end in pairwise((0, *ends))]
    # iozone writes a column at once: a cell that reaches its column's end is complete even in a cut line.
    rates = {operation: int(cell) for operation, cell in zip(_COLUMNS, cells[2:], strict=False) if cell}
    return Row(int(cells[0]), int(cells[1]), rates)


def _blocks(step: str, text: str) -> Iterator[Block]:
    for block in _BLOCK.finditer(text):
        children = _children(step, block)
        yield Block(_GROUPS[block["name"]], float(block["parent"]), children)


def _children(step: str, block: re.Match[str]) -> tuple[Child, ...]:
    lines = list(_CHILD.finditer(block["list"]))
    if not lines or [int(line["number"]) for line in lines] != list(range(int(block["count"]))):
        raise OutputRefusedError(step, f"{block['count']} processes without a line for each", block[0])
    children = [Child(float(line["moved"]), float(line["rate"])) for line in lines]
    if block["name"] not in _GROUPS:
        raise OutputRefusedError(step, "an operation that was not requested", block[0])
    if not _is_sum(float(block["children"]), children):
        raise OutputRefusedError(step, "the processes' rates do not add up to the printed sum", block[0])
    return tuple(children)


def _is_sum(total: float, children: Sequence[Child]) -> bool:
    return isclose(total, sum(child.rate for child in children), rel_tol=_SUM_TOLERANCE, abs_tol=0.01 * len(children))
