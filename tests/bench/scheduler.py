"""Cost of a scheduler pass with many nodes and a long queue, on a private PostgreSQL with durable commits.

Nodes, targets and runs are rows, and ends of runs are reported as agents do it; no load is started. Steady: 2 % of
the active runs have ended since the previous pass. Blocked: every node is idle, and all runs wait for one exclusively
used target. A pass covers everything up to the decision (`decide`); starting the runs is timed separately. Growth
compares two queues, pass by pass in turn. The longer begins with the shorter, so that the same nodes are idle.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median, quantiles
from typing import Final

from crowd import Counts, Crowd
from private_database import private_postgres, vacuum
from rich.console import Console
from rich.table import Table

from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate
from iotide_server.scheduling import starting

BEGAN_AT: Final = datetime(2026, 11, 21, 10, tzinfo=UTC)
ENDED_SHARE: Final = 0.02
BETWEEN_PASSES_SECONDS: Final = 10.0
ROUNDS: Final = 25
WARM_UP_ROUNDS: Final = 3
MOST_FILLING_PASSES: Final = 30

MOST_STEADY_1000_MS: Final = 50.0
MOST_STEADY_10000_MS: Final = 250.0
MOST_BLOCKED_MS: Final = 300.0
MOST_GROWTH: Final = 1.3
"""From 10,000 to 100,000 waiting runs on 1,000 nodes."""
MOST_IDLE_APART: Final = 0.05
"""Maximum difference in idle nodes between compared passes: idle nodes cause the cost."""

_say = Console(stderr=True)


@dataclass
class Measured:
    """The passes of one case, in milliseconds.

    Attributes:
        cold: the first pass, on an idle cluster.
        before: the state of the cluster before each of them.
    """

    name: str
    cold: float | None = None
    before: list[Counts] = field(default_factory=list)
    decided: list[float] = field(default_factory=list)
    started: list[float] = field(default_factory=list)
    runs_started: list[int] = field(default_factory=list)

    @property
    def p50_ms(self) -> float:
        """Median of the decisions."""
        return median(self.decided)

    @property
    def waiting(self) -> float:
        """Waiting runs before the median pass."""
        return median(counts.waiting for counts in self.before)

    @property
    def idle_nodes(self) -> float:
        """Idle nodes before the median pass."""
        return median(counts.idle_nodes for counts in self.before)


class Bench:
    """One PostgreSQL with a database for each case."""

    def __init__(self, postgres: PrivatePostgres, rounds: int) -> None:
        self._postgres = postgres
        self._rounds = rounds
        self._crowds = 0

    def steady(self, nodes: int, *queues: int) -> list[Measured]:
        """Measure a full cluster for each queue length, on which some runs end before each pass; passes alternate."""
        with ExitStack() as crowds:
            cases = [self._full(crowds, nodes, runs) for runs in queues]
            for number in range(WARM_UP_ROUNDS + self._rounds):
                for crowd, measured in cases:
                    crowd.go_on(BETWEEN_PASSES_SECONDS)
                    crowd.end(ENDED_SHARE)
                    _pass(crowd, measured if number >= WARM_UP_ROUNDS else None)
        return [measured for _, measured in cases]

    def _full(self, crowds: ExitStack, nodes: int, runs: int) -> tuple[Crowd, Measured]:
        measured = Measured(f"steady, {nodes:,} nodes, {runs:,} runs")
        crowd = crowds.enter_context(self._crowd(measured.name, nodes))
        crowd.queue(runs)
        vacuum(crowd.database)
        measured.cold = _fill(crowd)
        vacuum(crowd.database)
        return crowd, measured

    def blocked(self, nodes: int, runs: int) -> Measured:
        """Measure passes in which all runs wait for one target that another run uses exclusively."""
        measured = Measured(f"blocked, {nodes:,} nodes, {runs:,} runs")
        with self._crowd(measured.name, nodes) as crowd:
            target_id = crowd.target_ids[0]
            crowd.block(target_id)
            _fill(crowd)
            crowd.queue(runs, target_id)
            vacuum(crowd.database)
            for number in range(WARM_UP_ROUNDS + self._rounds):
                crowd.go_on(BETWEEN_PASSES_SECONDS)
                _pass(crowd, measured if number >= WARM_UP_ROUNDS else None)
        if any(measured.runs_started):
            raise SystemExit("scheduler: a run started on a target that another uses exclusively")
        return measured

    @contextmanager
    def _crowd(self, name: str, nodes: int) -> Iterator[Crowd]:
        _say.print(name, style="dim")
        self._crowds += 1
        database = f"crowd{self._crowds}"
        self._postgres.create_database(database)
        engine = open_engine(self._postgres.url_of(database))
        migrate(engine)
        yield Crowd(Database(engine), nodes, BEGAN_AT)
        engine.dispose()
        self._postgres.drop_database(database)


def _fill(crowd: Crowd) -> float:
    """Start all runs that can start; return the duration of the first decision."""
    cold = 0.0
    for number in range(MOST_FILLING_PASSES):
        crowd.go_on(1.0)
        measured = Measured("")
        _pass(crowd, measured)
        cold = cold if number else measured.p50_ms
        if not any(measured.runs_started):
            break
    return cold


def _pass(crowd: Crowd, measured: Measured | None) -> None:
    """Do one scheduler pass without the wake-ups."""
    before = crowd.counts()
    began = time.perf_counter()
    runs = starting.decide(crowd.database, crowd.lines, crowd.now)
    decided = time.perf_counter()
    for _ in starting.start(crowd.database, runs, crowd.now):
        pass
    ended = time.perf_counter()
    if measured is not None:
        measured.before.append(before)
        measured.decided.append((decided - began) * 1000)
        measured.started.append((ended - decided) * 1000)
        measured.runs_started.append(len(runs))


def report(cases: list[Measured]) -> None:
    """Print the table."""
    table = Table(title="Passes of the scheduler, in milliseconds")
    headings = ("case", "waiting", "idle nodes", "cold", "p50", "p95", "highest", "started a pass", "start p50")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for case in cases:
        p95 = quantiles(case.decided, n=20, method="inclusive")[-1]
        table.add_row(
            case.name,
            f"{case.waiting:,.0f}",
            f"{case.idle_nodes:,.0f}",
            "" if case.cold is None else f"{case.cold:.1f}",
            *(f"{number:.1f}" for number in (case.p50_ms, p95, max(case.decided))),
            f"{median(case.runs_started):.0f}",
            f"{median(case.started):.1f}",
        )
    Console().print(table)


def judge(small: Measured, steady: Measured, large: Measured, blocked: Measured) -> bool:
    """Print exceeded limits and the last line; return whether all limits hold."""
    growth = steady.p50_ms / small.p50_ms
    limits = (
        ("the steady pass with 1,000 nodes and 100,000 runs took", steady.p50_ms, MOST_STEADY_1000_MS, "ms"),
        ("the steady pass with 10,000 nodes and 100,000 runs took", large.p50_ms, MOST_STEADY_10000_MS, "ms"),
        ("the pass with 100,000 runs that wait for one target took", blocked.p50_ms, MOST_BLOCKED_MS, "ms"),
        ("from 10,000 to 100,000 runs on 1,000 nodes the steady pass grew to", growth, MOST_GROWTH, "times"),
    )
    passed = [limit for limit in limits if limit[1] > limit[2]]
    is_alike = abs(steady.idle_nodes - small.idle_nodes) <= MOST_IDLE_APART * small.idle_nodes
    if not is_alike:
        idle = f"{steady.idle_nodes:.0f} idle nodes and {small.idle_nodes:.0f}"
        print(f"scheduler: growth compares passes with {idle}, so it means nothing")
    for what, value, most, unit in passed:
        print(f"scheduler: {what} {value:.2f} {unit}, at most {most:g}")
    print(
        f"scheduler: steady_p50_ms_1000_100000={steady.p50_ms:.1f} steady_p50_ms_10000_100000={large.p50_ms:.1f}"
        f" blocked_p50_ms={blocked.p50_ms:.1f} growth={growth:.2f}"
    )
    return is_alike and not passed


def main() -> int:
    """Run the bench; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="./dev bench scheduler", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="passes of each case; default: %(default)s")
    asked = parser.parse_args()
    with private_postgres() as postgres:
        bench = Bench(postgres, asked.rounds)
        small, steady = bench.steady(1000, 10_000, 100_000)
        (large,) = bench.steady(10_000, 100_000)
        blocked = bench.blocked(10_000, 100_000)
    report([small, steady, large, blocked])
    return 0 if judge(small, steady, large, blocked) else 1


if __name__ == "__main__":
    sys.exit(main())
