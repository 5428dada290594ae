#!/usr/bin/env python3
"""Replaces IOR if it is not installed: makes the files, and prints a summary in the form of a recorded one."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from iotide_wire.units import MIB

RECORDED = Path(__file__).parents[1] / "data/ior/odirect.stdout"


def value(flag: str) -> str:
    return sys.argv[sys.argv.index(flag) + 1]


def directive(name: str) -> str:
    return next(word.partition("=")[2] for word in sys.argv if word.startswith(f"{name}="))


def main() -> None:
    tasks, per_task = int(os.environ["STANDIN_TASKS"]), int(value("-b")) * int(value("-s"))
    path, operation = Path(value("-o")), "write" if "-w" in sys.argv else "read"
    for task in range(tasks if "-F" in sys.argv else 1):
        file = path.with_name(f"{path.name}.{task:08}") if "-F" in sys.argv else path
        size = per_task if "-F" in sys.argv else per_task * tasks
        if operation == "write":
            file.write_bytes(os.urandom(size) if "random" in sys.argv else bytes(size))
        elif len(file.read_bytes()) != size:
            raise SystemExit(f"{file} is not what was written")
    report: dict[str, Any] = json.loads(RECORDED.read_text())
    report["tests"][0]["Parameters"] |= {
        "api": value("-a"),
        "collective": int("-c" in sys.argv),
        "fsync": int("-e" in sys.argv),
        "filePerProc": int("-F" in sys.argv),
        "reorderTasks": int("-C" in sys.argv),
        "randomOffset": int("-z" in sys.argv),
        "segmentCount": int(value("-s")),
        "transferSize": int(value("-t")),
        "blockSize": int(value("-b")),
    }
    [result] = (result for result in report["tests"][0]["Results"] if result["access"] == operation)
    [summary] = (summary for summary in report["summary"] if summary["operation"] == operation)
    total_mebibytes = per_task * tasks / MIB
    result["bwMiB"] = round(total_mebibytes / result["totalTime"], 4)
    summary |= {"numTasks": tasks, "xsizeMiB": round(total_mebibytes, 4)}
    report["tests"][0]["Results"], report["summary"] = [result], [summary]
    print(f"Writing output to {directive('summaryFile')}")  # noqa: T201 - a program that prints
    Path(directive("summaryFile")).write_text(json.dumps(report, indent=2))


if sys.argv[1] == "-h":
    print("Synopsis ior")  # noqa: T201 - as above
else:
    main()
