"""Fuzzing of every parser of foreign text, guided by coverage (atheris, libFuzzer).

Each parser runs in its own process, since libFuzzer ends it. Exceptions that a parser does not promise are printed,
minimised, and kept below tests/data/fuzz/findings. Inputs that reach new code are kept below tests/data/fuzz/corpus.
`./dev test` reads both again.
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from fuzzing.harness import DATA, Finding, keep, kept, limit_memory, shrink, try_input
from fuzzing.hostile import hostile
from fuzzing.target import Target

MOST_KEPT: Final = 40
LARGEST_KEPT_BYTES: Final = 4096
LARGEST_SEED_BYTES: Final = 65_536
_SPARE_SECONDS: Final = 120.0
"""Time for a process to start and, at the end, to minimise its findings."""
_REDUCE_SECONDS: Final = 120.0
_LEAST_SHARE: Final = 0.125
"""Share of a CPU that each process gets at least, also where other programs use the machine."""
_TRACED: Final = 20
"""Slowdown per input under libFuzzer: measured with plans in YAML, 48 ms instead of some 3."""
_EXECUTED: Final = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_BLIND: Final = "Is the code instrumented"
"""libFuzzer's message if no input reached new code."""
_FOUND: Final = re.compile(r"^finding: (.*)$", re.MULTILINE)


def main() -> int:
    """Run the bench; return 1 if a parser broke its promise."""
    asked = _asked()
    if asked.limit:
        # Time on a CPU: an endless loop uses all of it, a process that waits for other programs does not.
        resource.setrlimit(resource.RLIMIT_CPU, (asked.limit, asked.limit))
    if asked.child:
        _feed(asked.child, asked.seconds, asked.seed, Path(asked.work))
        return 0
    if asked.reduce:
        _reduce(asked.reduce, Path(asked.work))
        return 0
    names = _names()
    if unknown := set(asked.parser) - set(names):
        print(f"unknown parser {', '.join(sorted(unknown))}; known: {' '.join(names)}", file=sys.stderr)
        return 2
    chosen = asked.parser or names
    seconds = asked.minutes * 60 if asked.minutes else asked.seconds
    inputs = uncaught = 0
    with ThreadPoolExecutor(asked.at_once) as pool:
        outcomes = pool.map(lambda name: _fuzz(name, seconds, asked.seed, keeps=asked.keep), chosen)
        for name, (fed, found) in zip(chosen, outcomes, strict=True):
            inputs += fed
            uncaught += len(found)
            print(f"{name}: inputs={fed} uncaught={len(found)}" + "".join(f"\n  {line}" for line in found), flush=True)
    print(f"fuzz: parsers={len(chosen)} inputs={inputs} uncaught={uncaught}")
    return 1 if uncaught else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each parser")
    parser.add_argument("--minutes", type=int, help="for each parser, instead of --seconds")
    parser.add_argument(
        "--parser", action="append", default=[], metavar="NAME", help="only this parser; may be repeated"
    )
    parser.add_argument(
        "--at-once", type=int, choices=range(1, 257), metavar="N", default=os.cpu_count(), help="parsers fed at a time"
    )
    parser.add_argument("--seed", type=int, default=0, help="of libFuzzer; 0: random")
    parser.add_argument("--keep", action=argparse.BooleanOptionalAction, default=True, help="renew the kept corpus")
    parser.add_argument("--limit", type=int, help=argparse.SUPPRESS)
    for hidden in ("--child", "--reduce", "--work"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    return parser.parse_args()


def _names() -> list[str]:
    from fuzzing.targets import all_targets  # noqa: PLC0415 - in a child these are imported under instrumentation

    return list(all_targets())


def _fuzz(name: str, seconds: int, seed: int, *, keeps: bool) -> tuple[int, list[str]]:
    """Return how many inputs were used, and each finding in a line."""
    with tempfile.TemporaryDirectory(prefix="iotide-fuzz-") as work:
        arguments = ("--child", name, "--seconds", str(seconds), "--seed", str(seed), "--work", work)
        status, said = _run(arguments, seconds + _SPARE_SECONDS)
        executed = _EXECUTED.search(said)
        found = _FOUND.findall(said)
        if status != 0 or executed is None or _BLIND in said:
            found.append(f"{name}: its process ended with {status}; its last output: {said[-2000:]}")
        if keeps:
            # A process of its own as well: an input that ends one must not end the bench.
            status, said = _run(("--reduce", name, "--work", work), _SPARE_SECONDS * 5)
            found += [] if status == 0 else [f"{name}: its corpus could not be reduced: {said[-2000:]}"]
        return int(executed[1]) if executed else 0, found


def _run(arguments: tuple[str, ...], limit_seconds: float) -> tuple[int | str, str]:
    command = [sys.executable, __file__, *arguments, "--limit", str(round(limit_seconds))]
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit_seconds / _LEAST_SHARE,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        return "no end in time", (error.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout


def _feed(name: str, seconds: int, seed: int, work: Path) -> None:
    """Let libFuzzer feed one parser; it ends the process."""
    import atheris  # noqa: PLC0415 - only the bench's children need it

    with atheris.instrument_imports(include=["iotide_agent", "iotide_wire", "iotide_server.schedules", "cronsim"]):
        from fuzzing.targets import FileParser, all_targets  # noqa: PLC0415 - instrumented

    FileParser.directory = work
    target = all_targets()[name]
    corpus = work / "corpus"
    seeds = list(target.seeds())
    seeds += (path.read_bytes() for kind in ("corpus", "findings") for path in kept(kind, name))
    seeds = [data for data in seeds if len(data) <= LARGEST_SEED_BYTES]
    bad = [data for data in hostile(seeds, target.choices) if len(data) <= LARGEST_SEED_BYTES]
    most = min(len(bad), _affordable(target, seeds, seconds))
    for data in (*seeds, *random.Random(seed).sample(bad, most)):  # noqa: S311 - no secret
        keep(corpus, data)
    known: dict[str, Finding] = {}

    def feed(data: bytes) -> None:
        finding = try_input(target, data)
        if finding is not None and finding.signature not in known:
            known[finding.signature] = finding
            file = keep(DATA / "findings" / name, shrink(target, data, finding))
            print(f"finding: {finding.signature}, {file}\n{finding.words}", flush=True)

    limit_memory()
    limits = [f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={LARGEST_SEED_BYTES}"]
    # Its own limit of an input counts the time of other programs; `try_input` and --limit count time on a CPU.
    limits += ["-timeout=86400"]
    atheris.Setup(
        [name, *limits, "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={work}/", str(corpus)], feed
    )
    atheris.Fuzz()


def _affordable(target: Target, seeds: Sequence[bytes], seconds: float) -> int:
    """Return how many such inputs take a fifth of the time: libFuzzer reads its initial corpus regardless of its
    limit.
    """
    began = time.perf_counter()
    for data in seeds:
        try_input(target, data)
    return round(seconds / 5 / _TRACED / (time.perf_counter() - began) * max(1, len(seeds)))


def _reduce(name: str, work: Path) -> None:
    """Keep the inputs that reach code beyond the recorded ones, and drop the others.

    A YAML parser takes a tenth of a second per traced input, and libFuzzer finds thousands. Known inputs that it did
    not reach in time stay.
    """
    from fuzzing.coverage import distinguishing  # noqa: PLC0415 - see _names
    from fuzzing.targets import FileParser, all_targets  # noqa: PLC0415 - see _names

    FileParser.directory = work
    target = all_targets()[name]
    files = [path for path in (*kept("corpus", name), *(work / "corpus").glob("*")) if path.is_file()]
    small = {path.read_bytes() for path in files if path.stat().st_size <= LARGEST_KEPT_BYTES}
    found, left = distinguishing(target, target.seeds(), small, MOST_KEPT, _REDUCE_SECONDS)
    unknown = set(left) if len(found) < MOST_KEPT else set()
    for path in kept("corpus", name):
        if path.read_bytes() not in unknown:
            path.unlink()
    for data in found:
        keep(DATA / "corpus" / name, data)


if __name__ == "__main__":
    sys.exit(main())
