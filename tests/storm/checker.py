"""What the loads' own log says of a storm, held against what was asked for and against the server's last word."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ENDED = frozenset({"finished", "failed", "cancelled"})
_RUN = re.compile(r"^run (\d+)")


@dataclass(frozen=True)
class AskedRun:
    """A run as it was submitted, and what became of it by the server.

    Attributes:
        state: the server's last word.
        result_count: nodes of its last attempt whose numbers the server has.
        is_cancelled: by the storm, so it may end anywhere.
        frozen: its nodes that stood still past its time limit, so that their loads need not start or come to their end.
    """

    id: int
    nodes: frozenset[str]
    state: str
    reason: str | None
    result_count: int
    is_cancelled: bool = False
    frozen: frozenset[str] = frozenset()

    @property
    def is_disturbed(self) -> bool:
        """It need not finish."""
        return self.is_cancelled or bool(self.frozen)


@dataclass(frozen=True)
class Verdict:
    """Counts of what must not be; each has its sentences in `found`."""

    runs: int
    loads: int
    finished: int
    failed: int
    cancelled: int
    overlaps: int
    target_violations: int
    double_attempts: int
    partial_gangs: int
    lost: int
    unended: int
    found: Sequence[str] = field(default_factory=tuple)

    @property
    def is_clean(self) -> bool:
        """Nothing was found."""
        return not self.found

    @property
    def runs_found(self) -> list[int]:
        """The runs of which something was."""
        return sorted({int(number) for sentence in self.found for number in _RUN.findall(sentence)})


def read_log(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The events of the loads, in the order in which they were written."""
    return [json.loads(line) for line in lines]


def judge(asked: Sequence[AskedRun], events: Sequence[Mapping[str, Any]]) -> Verdict:
    """Hold every rule against the log."""
    runs = {run.id: run for run in asked}
    starts = [event for event in events if event["event"] == "start"]
    ended = {event["order"] for event in events if event["event"] == "end"}
    found = {
        "overlaps": [f"{_name(one)} ran beside another load of its node" for one in starts if not one["is_node_free"]],
        "target_violations": [
            f"{_name(one)} found target {one['target']} taken, which it wanted {one['mode']}"
            for one in starts
            if not one["is_target_free"]
        ],
        "double_attempts": _started_twice(runs, starts, ended),
        "partial_gangs": _partial(runs, starts, ended),
        "lost": _lost(runs, starts, ended),
        "unended": [f"run {run.id} is {run.state}: {run.reason}" for run in asked if run.state not in ENDED],
    }
    states = Counter(run.state for run in asked)
    return Verdict(
        runs=len(asked),
        loads=len(starts),
        finished=states["finished"],
        failed=states["failed"],
        cancelled=states["cancelled"],
        found=tuple(sentence for sentences in found.values() for sentence in sentences),
        **{name: len(sentences) for name, sentences in found.items()},
    )


def _started_twice(
    runs: Mapping[int, AskedRun], starts: Sequence[Mapping[str, Any]], ended: frozenset[int] | set[int]
) -> list[str]:
    """An order that was started twice, and a run that was tried again though all its loads had come to their end.

    Where one node of a gang was kept from its end, the others' loads are done, and the run is rightly tried again.
    """
    orders = Counter(start["order"] for start in starts)
    twice = [f"order {order} was started {count} times" for order, count in orders.items() if count > 1]
    attempts: dict[int, set[int]] = defaultdict(set)
    for start in starts:
        attempts[start["run"]].add(start["attempt"])
    again = [
        f"run {run} was started again after attempt {attempt} had come to its end"
        for (run, attempt), nodes in sorted(_came_through(starts, ended).items())
        if nodes == runs[run].nodes and not runs[run].is_disturbed and max(attempts[run]) > attempt
    ]
    return twice + again


def _came_through(
    starts: Sequence[Mapping[str, Any]], ended: frozenset[int] | set[int]
) -> Mapping[tuple[int, int], set[str]]:
    """The nodes on which loads came to their end, by run and attempt."""
    through: dict[tuple[int, int], set[str]] = defaultdict(set)
    for start in starts:
        if start["order"] in ended:
            through[start["run"], start["attempt"]].add(start["node"])
    return through


def _partial(
    runs: Mapping[int, AskedRun], starts: Sequence[Mapping[str, Any]], ended: frozenset[int] | set[int]
) -> list[str]:
    """Attempts of which a load came to its end while a node never started that did not stand still."""
    nodes: dict[tuple[int, int], set[str]] = defaultdict(set)
    came_through: set[tuple[int, int]] = set()
    for start in starts:
        nodes[start["run"], start["attempt"]].add(start["node"])
        if start["order"] in ended:
            came_through.add((start["run"], start["attempt"]))
    return [
        f"run {run}, attempt {attempt}: {sorted(runs[run].nodes - nodes[run, attempt])} never started"
        for run, attempt in sorted(came_through)
        if not runs[run].is_cancelled and runs[run].nodes - nodes[run, attempt] - runs[run].frozen
    ]


def _lost(
    runs: Mapping[int, AskedRun], starts: Sequence[Mapping[str, Any]], ended: frozenset[int] | set[int]
) -> list[str]:
    """Loads that came to their end on all nodes and of which the server has no numbers, and numbers without a load."""
    whole = {run for (run, _), nodes in _came_through(starts, ended).items() if nodes == runs[run].nodes}
    lost = []
    for run in runs.values():
        if run.id in whole and not run.is_disturbed and run.state != "finished":
            lost.append(f"run {run.id} came to its end on all nodes and is {run.state}: {run.reason}")
        if run.state == "finished" and run.id not in whole:
            lost.append(f"run {run.id} is finished, and not all of its loads came to their end")
        if run.state == "finished" and run.result_count != len(run.nodes):
            lost.append(f"run {run.id} is finished with numbers of {run.result_count} of {len(run.nodes)} nodes")
    return lost


def _name(start: Mapping[str, Any]) -> str:
    return f"run {start['run']}, attempt {start['attempt']} on {start['node']}"
