"""Converts the tables that IOR prints by default to the shape of its JSON summary."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

AGGREGATE_MEBIBYTES: Final = 0.05
"""Half of the last digit of the printed total."""

_PAIR: Final = re.compile(r"^(\w[\w ]{0,18}\w) *: (.*)$", re.MULTILINE)
_NUMBER: Final = re.compile(r"\d{1,18}(?:\.\d{1,18})?")
_RESULT_HEADING: Final = "access"
_SUMMARY_HEADING: Final = "Operation"
_RESULTS: Final = {"bwMiB": "bw(MiB/s)", "openTime": "open(s)", "wrRdTime": "wr/rd(s)", "closeTime": "close(s)"}
_PARAMETERS: Final = {
    "repetitions": "reps",
    "filePerProc": "fPP",
    "reorderTasks": "reord",
    "segmentCount": "segcnt",
    "transferSize": "xsize",
    "blockSize": "blksiz",
}


def as_summary(output: str) -> dict[str, Any]:
    """Return what the output says in the names of the JSON summary. Missing parts are left out."""
    pairs = {pair[1]: pair[2] for pair in _PAIR.finditer(output)}
    rows = list(_rows(output, _SUMMARY_HEADING))
    of_access = {row[_SUMMARY_HEADING]: row for row in rows}
    results = [
        {
            "access": row[_RESULT_HEADING],
            **_numbers(row, _RESULTS),
            # The summary prints more digits than the table of results.
            **_numbers(of_access.get(row[_RESULT_HEADING], {}), {"totalTime": "Mean(s)"}),
        }
        for row in _rows(output, _RESULT_HEADING)
    ]
    summary = [
        {
            "operation": row[_SUMMARY_HEADING],
            **_numbers(row, {"numTasks": "#Tasks", "xsizeMiB": "aggs(MiB)"}),
            "counted_mebibytes": AGGREGATE_MEBIBYTES,
        }
        for row in rows
    ]
    parameters: dict[str, Any] = {
        "api": rows[0].get("API") if rows else None,
        "randomOffset": pairs.get("ordering in a file") == "random",
        # The tables do not show it.
        "fsync": "-e" in pairs.get("Command line", "").split(),
        "collective": pairs.get("type") == "collective",
        **_numbers(pairs, {"nodes": "nodes", "tasksPerNode": "clients per node"}),
        **_numbers(rows[0] if rows else {}, _PARAMETERS),
    }
    finished = {"Finished": pairs["Finished"]} if "Finished" in pairs else {}
    return {"tests": [{"Parameters": parameters, "Results": results}], "summary": summary, **finished}


def _rows(output: str, heading: str) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a table by the names in its heading, which differ between releases."""
    names: list[str] = []
    for line in output.splitlines():
        cells = line.split()
        if cells[:1] == [heading] and len(cells) > len(_RESULTS):
            names = cells
        elif names and len(cells) == len(names) and cells[0] in {"write", "read"}:
            yield dict(zip(names, cells, strict=True))
        elif names and not line.startswith("---"):
            names = []


def _numbers(row: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, float]:
    cells = {name: row.get(column, "") for name, column in wanted.items()}
    return {name: float(cell) if "." in cell else int(cell) for name, cell in cells.items() if _NUMBER.fullmatch(cell)}
