"""Storm of faults over eight agents; the loads' own log counts every violation."""

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rig import running_stack
from storm.driver import SERVER_DISK, Aftermath, Weather, weather_the_storm
from storm.faults import FAULTS

NODES: Final = 8
SHARED_TARGETS: Final = 3
RUNS: Final = 300
PAUSE_SECONDS: Final = (3.0, 9.0)
"""A part that is killed repeatedly is restarted with growing delays, and a down part tests nothing."""


def report(aftermath: Aftermath, seed: str) -> None:
    """Print the faults, the findings, and the last line."""
    verdict = aftermath.verdict
    table = Table(title=f"{verdict.runs} runs, {verdict.loads} loads on {NODES} nodes")
    for heading in ("fault", "times"):
        table.add_column(heading)
    for name, times in sorted(aftermath.struck.items()):
        table.add_row(name, str(times))
    Console().print(table)
    for sentence in (*verdict.found, *aftermath.log):
        print(f"chaos: {sentence}")
    print(f"chaos: finished={verdict.finished} failed={verdict.failed} cancelled={verdict.cancelled}")
    print(
        f"chaos: runs={verdict.runs} faults={sum(aftermath.struck.values())} overlaps={verdict.overlaps}"
        f" target_violations={verdict.target_violations} double_attempts={verdict.double_attempts}"
        f" partial_gangs={verdict.partial_gangs} lost={verdict.lost + verdict.unended} seed={seed}"
    )


def main() -> None:
    """Run it; exit 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="./dev bench chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="minimum duration (5)")
    parser.add_argument(
        "--seed", default=str(random.SystemRandom().randrange(10**6)), help="seed of an earlier storm to repeat"
    )
    asked = parser.parse_args()
    weather = Weather(NODES, SHARED_TARGETS, RUNS, list(FAULTS), PAUSE_SECONDS, seconds=asked.minutes * 60)
    console = Console(stderr=True)
    with running_stack(SERVER_DISK) as stack, console.status(f"seed {asked.seed}") as status:
        directory = Path(tempfile.mkdtemp(prefix="storm-", dir=stack.directory)) / "site"
        aftermath = weather_the_storm(
            stack, directory, weather, asked.seed, lambda words: status.update(f"seed {asked.seed}: {words}")
        )
    report(aftermath, asked.seed)
    if not aftermath.verdict.is_clean:
        sys.exit(1)


if __name__ == "__main__":
    main()
