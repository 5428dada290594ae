#!/usr/bin/env python3
"""Replaces the IO500 if it is not installed: replays a recorded run of one task with its options.

The paths of the run are not the recorded ones, so config.ini gets them and the result their checksum.
"""

import re
import sys
from pathlib import Path

from iotide_agent.workloads.io500_score import checksum

RECORDED = Path(__file__).parents[1] / "data/mpi/io500-one"
PAIR = re.compile(r"^(\S+) = ?(.*)$", re.MULTILINE)
ALWAYS_HASHED = {"external-mpi-args", "external-extra-args"}


def main(ini: str) -> None:
    wanted = dict(PAIR.findall(ini))
    recorded = dict(PAIR.findall((RECORDED / "config-orig.ini").read_text()))
    paths = {recorded[key]: wanted[key] for key in ("datadir", "resultdir")}
    if {**recorded, "datadir": "", "resultdir": ""} != {**wanted, "datadir": "", "resultdir": ""}:
        raise SystemExit("FATAL other options than the recorded ones")
    directory = Path(wanted["resultdir"])
    directory.mkdir()
    texts = {file.name: with_paths(file.read_text(), paths) for file in RECORDED.iterdir()}
    pairs = PAIR.findall(texts["config.ini"])
    found = checksum((key, value) for key, value in pairs if value or key in ALWAYS_HASHED)
    texts["result.txt"] = re.sub(r"(?<=config-hash     = )\S+", f"{found:X}", texts["result.txt"])
    sys.stdout.write(texts.pop("io500.stdout"))
    for name, text in texts.items():
        (directory / name).write_text(text)


def with_paths(text: str, paths: dict[str, str]) -> str:
    for recorded, own in paths.items():
        text = text.replace(recorded, own)
    return text


if sys.argv[1] == "-h":
    print("Synopsis: io500 <INI file> [options]")  # noqa: T201 - a program that prints
else:
    main(Path(sys.argv[1]).read_text())
