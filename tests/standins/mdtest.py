#!/usr/bin/env python3
"""Replaces mdtest if it is not installed: makes its directory, and prints a table in the form of a recorded one."""

import os
import re
import sys
from pathlib import Path

RECORDED = Path(__file__).parents[1] / "data/mdtest"
ROWS = {"-C": "creation", "-T": "stat", "-E": "read", "-r": "removal"}


def main() -> None:
    tasks, each = int(os.environ["STANDIN_TASKS"]), int(sys.argv[sys.argv.index("-n") + 1])
    kind = "files" if "-F" in sys.argv else "directories" if "-D" in sys.argv else "files/directories"
    (Path(sys.argv[sys.argv.index("-d") + 1]) / "test-dir.0-0").mkdir(exist_ok=True)
    recorded = "plain_10000" if kind == "files" else "mpi2_i3"
    text = (RECORDED / f"{recorded}.stdout").read_text()
    text = re.sub(r"launched with \d+ total", f"launched with {tasks} total", text)
    text = re.sub(r"^\d+ tasks, \d+ .*$", f"{tasks} tasks, {tasks * each} {kind}", text, flags=re.MULTILINE)
    text = text.replace("of 3 iterations", "of 1 iterations")
    chosen = next(row for flag, row in ROWS.items() if flag in sys.argv)
    for row, mean in re.findall(r"^   (\w+ \w+) +[\d.]+ +[\d.]+ +([\d.]+) +[\d.]+$", text, re.MULTILINE):
        rate = float(mean) if row.endswith(chosen) else 0.0
        cells = f"   {row:22}{rate:>18.3f} {rate:>14.3f} {rate:>14.3f} {0:>14.3f}"
        text = re.sub(rf"^   {row} .*$", cells, text, flags=re.MULTILINE)
    sys.stdout.write(text)


if sys.argv[1] == "-h":
    print("Synopsis mdtest")  # noqa: T201 - a program that prints
else:
    main()
